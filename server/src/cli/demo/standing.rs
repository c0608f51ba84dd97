//! The demonstration's standing: what finished work was worth, and which record caused each move.

use colibri_visible::counted;
use serde_json::json;

use super::super::Failure;
use super::super::transcript::{Tone, Transcript};
use super::session::Session;
use super::{AGENT, Plan, unexpected};
use crate::catalogue::{MerkleFinalizeOutput, ReputationGetOutput, ReputationHistoryOutput, ToolId};
use crate::domains::reputation::automatic::{session_sealed_id, task_done_id};
use crate::domains::reputation::domain::Domain;

/// The domain of a finished task and a sealed session.
const DOMAIN: Domain = Domain::Execution;

/// Shows what the work has earned.
pub fn show(
    page: &mut Transcript<'_>,
    session: &mut Session,
    plan: &Plan,
    seal: &MerkleFinalizeOutput,
) -> Result<(), Failure> {
    page.heading("Finished work raises a standing, and each change names the record that caused it")?;
    let tool = ToolId::ReputationHistory;
    let asked = json!({ "node_id": AGENT, "domain": DOMAIN.as_str() });
    let history: ReputationHistoryOutput = session.accepted(tool, &asked)?;
    let newest = history.events.first().ok_or_else(|| unexpected("the work changed no standing"))?;
    let count = history.events.len();
    page.call(tool.name(), &format!("{count} events of {AGENT} in {DOMAIN}, newest first"))?;
    let epoch = newest.epoch;
    for event in &history.events {
        let record = proof(&event.event_id, plan, seal).ok_or_else(|| {
            unexpected(format!("event {} matches no work of this demonstration", event.event_id))
        })?;
        let moved = page.paint(Tone::Good, &format!("{:+}", event.delta));
        page.more(&format!("{moved} {:14}  from {record}", event.reason))?;
    }
    let tool = ToolId::ReputationGet;
    let asked = json!({ "node_id": AGENT, "domain": DOMAIN.as_str(), "current_epoch": epoch });
    let found: ReputationGetOutput = session.accepted(tool, &asked)?;
    let row = found.row.flatten().ok_or_else(|| unexpected("the agent has no standing"))?;
    page.call(
        tool.name(),
        &format!("{AGENT} stands at {} of 10000 in epoch {epoch}; the score decays without work", row.score),
    )?;
    Ok(())
}

/// Returns the record that an event follows from, as a reader knows it.
fn proof(event_id: &str, plan: &Plan, seal: &MerkleFinalizeOutput) -> Option<String> {
    let task = &plan.migration;
    if event_id == task_done_id(&task.id) {
        return Some(format!("the task \"{}\", done", task.title));
    }
    let sealed = event_id == session_sealed_id(&seal.session_id, AGENT);
    sealed.then(|| format!("the seal of the session, {}", counted(seal.record_count, "record")))
}
