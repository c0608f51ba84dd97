//! Conversion of the engine's results for the catalogue.

use super::service::{Page, StoredContent, StoredThought};
use super::verify::Verification;
use crate::catalogue;
use colibri_proof::chain::{Issue, TaskReport};
use colibri_proof::record::{ThoughtRecord, ThoughtType};

impl From<catalogue::ThoughtType> for ThoughtType {
    fn from(kind: catalogue::ThoughtType) -> Self {
        match kind {
            catalogue::ThoughtType::Plan => Self::Plan,
            catalogue::ThoughtType::Analysis => Self::Analysis,
            catalogue::ThoughtType::Decision => Self::Decision,
            catalogue::ThoughtType::Reflection => Self::Reflection,
        }
    }
}

impl From<ThoughtType> for catalogue::ThoughtType {
    fn from(kind: ThoughtType) -> Self {
        match kind {
            ThoughtType::Plan => Self::Plan,
            ThoughtType::Analysis => Self::Analysis,
            ThoughtType::Decision => Self::Decision,
            ThoughtType::Reflection => Self::Reflection,
        }
    }
}

impl From<ThoughtRecord> for catalogue::ThoughtRecordOutput {
    fn from(record: ThoughtRecord) -> Self {
        Self {
            id: record.id,
            type_: record.kind.into(),
            task_id: record.task_id,
            agent_id: record.agent_id,
            content: record.content,
            timestamp: record.timestamp,
            prev_hash: record.prev_hash.as_str().to_owned(),
            hash: record.hash.as_str().to_owned(),
            session_id: record.session_id,
        }
    }
}

impl From<Page> for catalogue::ThoughtRecordListOutput {
    fn from(page: Page) -> Self {
        let last = page.records.last().map(|record| record.id.clone());
        Self {
            count: page.records.len() as i64,
            has_more: page.has_more,
            next_after: last.filter(|_| page.has_more),
            records: page.records.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<StoredThought> for catalogue::StoredThought {
    fn from(record: StoredThought) -> Self {
        let (content, zone, content_hash) = match record.content {
            StoredContent::Kept(text) => (Some(text), None, None),
            StoredContent::Gone { zone, content_hash } => (None, zone, content_hash),
        };
        Self {
            id: record.id,
            type_: record.kind,
            task_id: record.task_id,
            agent_id: record.agent_id,
            content,
            timestamp: record.timestamp,
            prev_hash: record.prev_hash,
            hash: record.hash,
            session_id: record.session_id,
            zone,
            content_hash,
        }
    }
}

/// Builds the reply of a verification, chain by chain if `by_task`, with the requested session. Omits fields that are
/// meaningless for a valid store.
pub fn verdict(
    found: Verification,
    session: Option<catalogue::AuditVerifyChainOutputSession>,
    by_task: bool,
) -> catalogue::AuditVerifyChainOutput {
    let valid = found.valid();
    let unverifiable = found.chains.total.unverifiable_count;
    let chains = found.chains.by_task.into_iter().map(Into::into).collect();
    let issues = found.issues.into_iter().map(Into::into).collect();
    catalogue::AuditVerifyChainOutput {
        valid,
        broken_count: found.broken_count,
        first_broken_at: found.first_broken_at,
        record_count: found.chains.total.record_count,
        by_task: by_task.then_some(chains),
        issues: (!valid).then_some(issues),
        issues_truncated: found.issues_truncated.then_some(true),
        unverifiable_count: (unverifiable > 0).then_some(unverifiable),
        session,
    }
}

impl From<TaskReport> for catalogue::ChainVerdict {
    fn from(TaskReport { task_id, chain }: TaskReport) -> Self {
        Self {
            task_id,
            valid: chain.valid(),
            broken_count: chain.broken_count,
            record_count: chain.record_count,
            first_broken_at: chain.first_broken_at,
        }
    }
}

impl From<Issue> for catalogue::ChainIssue {
    fn from(issue: Issue) -> Self {
        Self {
            code: issue.code.as_str().to_owned(),
            task_id: issue.task_id,
            session_id: issue.session_id,
            record_id: issue.record_id,
            index: issue.index,
            expected: issue.expected,
            actual: issue.actual,
        }
    }
}
