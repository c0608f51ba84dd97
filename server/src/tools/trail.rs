//! The tools of the decision trail.

use super::Domains;
use super::cx::{Cx, ScanCx};
use crate::catalogue::{
    AuditVerifyChainError, AuditVerifyChainInput, AuditVerifyChainInputDetail, AuditVerifyChainOutput,
    AuditVerifyChainOutputSession, AuditVerifyChainOutputSessionSignature,
    AuditVerifyChainOutputSessionState, BriefThought, Detail, ThoughtRecordError, ThoughtRecordInput,
    ThoughtRecordListError, ThoughtRecordListInput, ThoughtRecordListOutput, ThoughtRecordOutput,
    TrailRetentionError, TrailRetentionInput, TrailRetentionOutput, TrailTools,
};
use crate::domains::proof::{self, SealReport, SessionNotFound, SessionState, SessionVerification};
use crate::domains::trail::errors::{answered, unlisted};
use crate::domains::trail::output::ByTask;
use crate::domains::trail::service::{ListFilter, NewThought, Stamp, StoredThought, findable};
use crate::domains::trail::{output, service, verify};
use crate::domains::{retention, tasks};
use colibri_proof::keys::SignatureStatus;
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Failure, Outcome};

impl TrailTools<Cx> for Domains {
    fn thought_record(
        &mut self,
        cx: &mut Cx,
        input: ThoughtRecordInput,
    ) -> Outcome<ThoughtRecordOutput, ThoughtRecordError> {
        let stamp = Stamp { id: cx.new_id(), now: cx.now(), sequence_no: cx.sequence_no() };
        let db = cx.db()?;
        proof::admit_record(db, input.session_id.as_deref()).map_err(answered)?;
        let recorded = service::create_thought_record(db, stamp, input.into());
        let record = recorded.map_err(|failure| answered(proof::explained(db, failure)))?;
        let warned = !tasks::has_row(db, &record.task_id)?;
        let warnings = warned.then(|| vec![output::warned(output::unknown_task(&record.task_id))]);
        cx.set_subject(&record.id);
        Ok(ThoughtRecordOutput { warnings, ..record.into() })
    }

    fn thought_record_list(
        &mut self,
        cx: &mut Cx,
        input: ThoughtRecordListInput,
    ) -> Outcome<ThoughtRecordListOutput, ThoughtRecordListError> {
        let (detail, filter) = (input.detail, input.into());
        let db = cx.db()?;
        Ok(match detail {
            Detail::Full => {
                service::list_thought_records::<StoredThought>(db, &filter).map_err(unlisted)?.into()
            }
            Detail::Brief => {
                service::list_thought_records::<BriefThought>(db, &filter).map_err(unlisted)?.into()
            }
        })
    }

    fn audit_verify_chain(
        cx: &mut ScanCx,
        interrupt: &Interrupt,
        input: AuditVerifyChainInput,
    ) -> Outcome<AuditVerifyChainOutput, AuditVerifyChainError> {
        let AuditVerifyChainInput { task_id, session_id, detail } = input;
        let asked = task_id.as_deref().map(findable);
        let (found, session) = match (&session_id, &asked) {
            (Some(session_id), task_id) => {
                let (task_id, keys) = (task_id.as_deref(), cx.parts.keys.trusted_keys());
                let (asked, progress) = (findable(session_id), cx.progress());
                let verified = proof::verify_session(cx.db(), &asked, task_id, keys, interrupt, progress);
                let SessionVerification { found, seal } =
                    verified.map_err(|failure| unverified(failure, session_id))?;
                (found, Some(seal.into()))
            }
            (None, Some(task_id)) => (verify::verify_task(cx.db(), task_id, interrupt, cx.progress())?, None),
            (None, None) => (verify::verify_all(cx.db(), interrupt, cx.progress())?, None),
        };
        let by_task = match (detail, &task_id) {
            (AuditVerifyChainInputDetail::Brief, _) => ByTask::Broken,
            (AuditVerifyChainInputDetail::Full, None) => ByTask::All,
            (AuditVerifyChainInputDetail::Full, Some(_)) => ByTask::Nothing,
        };
        let unknown = match &asked {
            Some(task_id) => {
                !tasks::has_row(cx.db(), task_id)? && !retention::has_thoughts(cx.db(), task_id)?
            }
            None => false,
        };
        let warnings =
            task_id.filter(|_| unknown).map(|task_id| vec![output::warned(output::no_trail(&task_id))]);
        Ok(AuditVerifyChainOutput { warnings, ..output::verdict(found, session, by_task) })
    }

    fn trail_retention(
        &mut self,
        cx: &mut Cx,
        input: TrailRetentionInput,
    ) -> Outcome<TrailRetentionOutput, TrailRetentionError> {
        let TrailRetentionInput { task_id, after, dry_run } = input;
        let page = retention::apply(cx.db()?, &task_id, after)?;
        if dry_run {
            cx.rehearse();
        } else {
            cx.set_subject(&task_id);
        }
        Ok(page)
    }
}

impl From<ThoughtRecordInput> for NewThought {
    fn from(input: ThoughtRecordInput) -> Self {
        Self {
            kind: input.type_.into(),
            task_id: input.task_id,
            agent_id: input.agent_id,
            content: input.content,
            session_id: input.session_id,
        }
    }
}

impl From<ThoughtRecordListInput> for ListFilter {
    fn from(input: ThoughtRecordListInput) -> Self {
        Self { task_id: input.task_id, session_id: input.session_id, limit: input.limit, after: input.after }
    }
}

/// Converts a refusal for the tool's reply.
fn unverified(failure: Failure<SessionNotFound>, session_id: &str) -> Failure<AuditVerifyChainError> {
    match failure {
        Failure::Domain(SessionNotFound { .. }) => {
            Failure::Domain(AuditVerifyChainError::ErrSessionNotFound { session_id: session_id.to_owned() })
        }
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}

impl From<SealReport> for AuditVerifyChainOutputSession {
    fn from(seal: SealReport) -> Self {
        Self {
            session_id: seal.session_id,
            state: match seal.state {
                SessionState::Open => AuditVerifyChainOutputSessionState::Open,
                SessionState::Finalized => AuditVerifyChainOutputSessionState::Finalized,
            },
            record_count: seal.record_count,
            root_match: seal.root_match,
            tree_head_match: seal.tree_head_match,
            signature: seal.signature.map(|status| match status {
                SignatureStatus::Valid => AuditVerifyChainOutputSessionSignature::Valid,
                SignatureStatus::Invalid => AuditVerifyChainOutputSessionSignature::Invalid,
                SignatureStatus::Unsigned => AuditVerifyChainOutputSessionSignature::Unsigned,
                SignatureStatus::UnknownKey => AuditVerifyChainOutputSessionSignature::UnknownKey,
            }),
        }
    }
}
