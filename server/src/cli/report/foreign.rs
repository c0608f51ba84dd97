//! Gathers a session's calls to other servers, which `colibri wrap` passed on.

use std::collections::BTreeSet;

use colibri_runtime::handler::Fault;

use crate::cli::call_end::CallEnd;
use crate::domains::wrap::store::{calls_of_others, calls_of_session, pinned_names};
use crate::domains::wrap::unlikes;
use crate::report::model::{ForeignCalls, ForeignTool};
use colibri_store::db::Db;

/// Counts the calls of the session's runs, and those of other runs from its start to its seal, if it has one. `sealed_exit` is the
/// number of the last exit in the log that the seal commits to.
pub(super) fn calls(
    db: &Db,
    session_id: &str,
    started_at: &str,
    sealed_exit: Option<i64>,
) -> Result<ForeignCalls, Fault> {
    let last_exit = sealed_exit.unwrap_or(i64::MAX);
    let mut calls = ForeignCalls::default();
    for ended in calls_of_session(db, session_id, last_exit)? {
        let tools = match ended.later && sealed_exit.is_some() {
            true => &mut calls.later,
            false => &mut calls.tools,
        };
        let Some((server, tool)) = ended.tool.split_once('/') else { continue };
        if tools.last().is_none_or(|last| (last.server.as_str(), last.tool.as_str()) != (server, tool)) {
            let (server, tool) = (server.to_owned(), tool.to_owned());
            tools.push(ForeignTool { server, tool, ..ForeignTool::default() });
        }
        let Some(last) = tools.last_mut() else { continue };
        match CallEnd::of(&ended.outcome, ended.code.as_deref()) {
            CallEnd::Done => last.ok += ended.count,
            CallEnd::Failed => last.failed += ended.count,
            CallEnd::Refused => last.refused += ended.count,
            CallEnd::Unfinished => last.unfinished += ended.count,
        }
    }
    let servers: BTreeSet<&str> =
        calls.tools.iter().chain(&calls.later).map(|tool| tool.server.as_str()).collect();
    let pinned = pinned_names(db)?;
    let pins = servers
        .into_iter()
        .map(|name| Ok((name.to_owned(), pin_state(db, name, pinned.iter().any(|one| one == name))?)))
        .collect::<Result<_, Fault>>()?;
    calls.others = calls_of_others(db, session_id, started_at, last_exit)?;
    calls.pins = pins;
    Ok(calls)
}

fn pin_state(db: &Db, name: &str, is_pinned: bool) -> Result<String, Fault> {
    if !is_pinned {
        return Ok("not pinned".to_owned());
    }
    Ok(match unlikes(db, name)?.waiting.last() {
        Some(newest) => format!("another list since {}, which was not accepted", newest.at),
        None => "as pinned".to_owned(),
    })
}
