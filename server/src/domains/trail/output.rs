//! Conversion of the engine's results for the catalogue.

use super::content::{Unpacker, content_of};
use super::service::{Listed, Page, StoredContent, StoredThought};
use super::store::TrailRow;
use super::verify::Verification;
use crate::catalogue::{self, AuditVerifyChainOutputNotCoveredItem as NotCovered};
use colibri_proof::chain::{Content, Issue, TaskReport};
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
            warnings: None,
        }
    }
}

/// Warns that no task has the id of a trail.
pub fn warned(message: String) -> catalogue::Warning {
    catalogue::Warning { code: catalogue::WarningCode::TaskUnknown, message }
}

/// Returns the warning's text for a reader of a trail that nothing was ever added to.
pub fn no_trail(task_id: &str) -> String {
    format!("No task has the id {task_id}, and no thought was recorded under it.")
}

/// Returns the warning's text for a new thought, which `colibri verify` rebuilds: it is part of the format.
pub fn unknown_task(task_id: &str) -> String {
    format!("No task has the id {task_id}; the trail is kept under that name all the same.")
}

impl From<Page<StoredThought>> for catalogue::ThoughtRecordListOutput {
    fn from(page: Page<StoredThought>) -> Self {
        let last = page.records.last().map(|record| record.id.clone());
        Self {
            count: page.records.len() as i64,
            has_more: page.has_more,
            next_after: last.filter(|_| page.has_more),
            records: page.records.into_iter().map(Into::into).collect(),
            brief: None,
        }
    }
}

impl From<Page<catalogue::BriefThought>> for catalogue::ThoughtRecordListOutput {
    fn from(page: Page<catalogue::BriefThought>) -> Self {
        let last = page.records.last().map(|record| record.id.clone());
        Self {
            records: Vec::new(),
            count: page.records.len() as i64,
            has_more: page.has_more,
            next_after: last.filter(|_| page.has_more),
            brief: Some(page.records),
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

/// Characters of a content that a brief list shows.
const BRIEF_CHARS: usize = 160;

impl Listed for catalogue::BriefThought {
    fn read(row: &TrailRow<'_>, unpacker: &mut Unpacker) -> Self {
        let content = match content_of(row, unpacker) {
            Content::Kept(text) => Some(text),
            Content::Lost | Content::Dropped => None,
        };
        Self {
            id: row.id.to_owned(),
            type_: row.kind.to_owned(),
            task_id: row.task_id.to_owned(),
            agent_id: row.agent_id.to_owned(),
            timestamp: row.timestamp.to_owned(),
            session_id: row.session_id.map(str::to_owned),
            content: content.map(|text| text.chars().take(BRIEF_CHARS).collect()),
            content_bytes: content.map(|text| text.len() as i64),
        }
    }

    fn shown_bytes(&self) -> usize {
        self.content.as_ref().map_or(0, String::len)
    }
}

/// The most broken chains that a brief verdict names.
const MOST_BROKEN: usize = 20;

/// What a verdict says of single chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByTask {
    /// Nothing: one task was asked for.
    Nothing,
    /// All of them.
    All,
    /// Their number, and the first broken ones.
    Broken,
}

/// Builds the reply of a verification with the requested session. Omits fields that are meaningless for a valid
/// store.
pub fn verdict(
    found: Verification,
    session: Option<catalogue::AuditVerifyChainOutputSession>,
    by_task: ByTask,
) -> catalogue::AuditVerifyChainOutput {
    let valid = found.valid();
    let unverifiable = found.chains.total.unverifiable_count;
    let chains = found.chains.by_task;
    let chain_count = (by_task == ByTask::Broken).then_some(chains.len() as i64);
    let shown: Vec<catalogue::ChainVerdict> = match by_task {
        ByTask::Nothing => Vec::new(),
        ByTask::All => chains.into_iter().map(Into::into).collect(),
        ByTask::Broken => {
            let broken = chains.into_iter().filter(|report| !report.chain.valid());
            broken.take(MOST_BROKEN).map(Into::into).collect()
        }
    };
    let (all, broken) = match by_task {
        ByTask::Nothing => (None, None),
        ByTask::All => (Some(shown), None),
        ByTask::Broken => (None, Some(shown)),
    };
    let issues = found.issues.into_iter().map(Into::into).collect();
    let records = found.chains.total.record_count;
    let sealed = session
        .as_ref()
        .filter(|session| session.state == catalogue::AuditVerifyChainOutputSessionState::Finalized);
    // The leaves of a seal cover all fields, and the chains alone do not: their preimage leaves out author and session.
    let is_covered = records == 0 || sealed.is_some_and(|session| session.record_count == records);
    catalogue::AuditVerifyChainOutput {
        valid,
        broken_count: found.broken_count,
        first_broken_at: found.first_broken_at,
        record_count: found.chains.total.record_count,
        by_task: all,
        issues: (!valid).then_some(issues),
        issues_truncated: found.issues_truncated.then_some(true),
        unverifiable_count: (unverifiable > 0).then_some(unverifiable),
        session,
        chain_count,
        broken_tasks: broken,
        not_covered: (!is_covered).then(|| vec![NotCovered::AgentId, NotCovered::SessionId]),
        warnings: None,
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
