//! The tools of the decision trail.

use super::Domains;
use super::cx::{Cx, ScanCx};
use crate::catalogue::{
    AuditVerifyChainError, AuditVerifyChainInput, AuditVerifyChainOutput, ThoughtRecordError,
    ThoughtRecordInput, ThoughtRecordListError, ThoughtRecordListInput, ThoughtRecordListOutput,
    ThoughtRecordOutput, TrailTools,
};
use crate::domains::trail::errors::{self, answered, unlisted};
use crate::domains::trail::service::{ListFilter, NewThought, Stamp};
use crate::domains::trail::{output, service, verify};
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Outcome;

impl TrailTools<Cx> for Domains {
    fn thought_record(
        &mut self,
        cx: &mut Cx,
        input: ThoughtRecordInput,
    ) -> Outcome<ThoughtRecordOutput, ThoughtRecordError> {
        let stamp = Stamp { id: cx.new_id(), now: cx.now(), sequence_no: cx.sequence_no() };
        let record = service::create_thought_record(cx.db()?, stamp, input.into()).map_err(answered)?;
        cx.set_subject(&record.id);
        Ok(record.into())
    }

    fn thought_record_list(
        &mut self,
        cx: &mut Cx,
        input: ThoughtRecordListInput,
    ) -> Outcome<ThoughtRecordListOutput, ThoughtRecordListError> {
        let page = service::list_thought_records(cx.db()?, &input.into()).map_err(unlisted)?;
        Ok(page.into())
    }

    fn audit_verify_chain(
        cx: &mut ScanCx,
        interrupt: &Interrupt,
        input: AuditVerifyChainInput,
    ) -> Outcome<AuditVerifyChainOutput, AuditVerifyChainError> {
        let AuditVerifyChainInput { task_id, session_id } = input;
        let found = match (&session_id, &task_id) {
            (Some(session_id), _) => {
                verify::verify_session(cx.db(), session_id, task_id.as_deref(), cx.trusted_keys(), interrupt)
                    .map_err(errors::unverified)?
            }
            (None, Some(task_id)) => verify::verify_task(cx.db(), task_id, interrupt)?,
            (None, None) => verify::verify_all(cx.db(), interrupt)?,
        };
        Ok(output::verdict(found, task_id.is_none()))
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
