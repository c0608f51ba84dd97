//! The decision trail: what was thought on the way, hash-chained per task (zeta).
//!
//! ```text
//! tool (typed input) -> service (append, list) -> store (SQL)
//!                    -> verify (all chains, one, a session's) -> chain (the walk)
//!                         |- record   what a hash covers
//!                         |- content  where a content is: in the row, packed, dropped
//!                         '- proof    whether a session is open, and what its seal says
//! retention: moves content between the zones; no tool leads there
//! ```
//!
//! Other domains see the trail through the functions exported here, never through its tables.

mod content;
pub mod errors;
mod output;
pub mod retention;
pub mod service;
mod store;
pub mod ties;
pub mod verify;

#[cfg(test)]
mod tests;

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Outcome;

pub use self::content::{MAX_CONTENT_BYTES, Unpacker, content_digest, content_of, is_where_zone_says};
pub use self::store::{
    TrailRow, agents_of_session, count_records_of_session, count_thoughts, each_bare_head,
    each_hash_of_session_ascending, each_row_by_chain, each_row_in_order, each_row_of_session,
    each_row_of_task, first_author, has_more_chains_than, latest_reflection_not_by, sequence_no_of,
    tasks_of_session, tip,
};

use self::errors::{answered, unlisted};
use self::service::{ListFilter, NewThought, Stamp};
use crate::catalogue::{
    AuditVerifyChainError, AuditVerifyChainInput, AuditVerifyChainOutput, ThoughtRecordError,
    ThoughtRecordInput, ThoughtRecordListError, ThoughtRecordListInput, ThoughtRecordListOutput,
    ThoughtRecordOutput, TrailTools,
};
use crate::context::{Cx, ScanCx};
use crate::domains::Domains;

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
