//! `colibri sessions`: audit sessions and their seals, the newest first.

use std::io::Write;

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Failure as DomainFailure;
use colibri_runtime::progress::Progress;
use serde::Serialize;

use super::Look;
use super::table::{Cell, Column, Style, Table, line};
use crate::catalogue::AuditSessionListError;
use crate::cli::Failure;
use crate::cli::arguments::views::Sessions;
use crate::cli::ids::{Kind, resolve, short};
use crate::cli::output::print_json;
use crate::domains::proof::SessionState;
use crate::domains::proof::listing::{self, Filter, Listed};

/// A session of the list.
#[derive(Debug, Serialize)]
pub(super) struct Shown<'a> {
    session_id: &'a str,
    state: &'static str,
    intent: &'a str,
    task_id: Option<&'a str>,
    started_at: &'a str,
    record_count: i64,
    last_record_at: Option<&'a str>,
    last_agent_id: Option<&'a str>,
    finalized_at: Option<&'a str>,
    head_hash: Option<&'a str>,
}

pub(super) fn run(arguments: &Sessions, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let task_id = match &arguments.task {
        Some(fragment) => Some(resolve(&look.db, Kind::About, fragment)?),
        None => None,
    };
    let state = match (arguments.open, arguments.sealed) {
        (true, _) => Some(SessionState::Open),
        (_, true) => Some(SessionState::Finalized),
        _ => None,
    };
    let filter = Filter { state, task_id, limit: arguments.limit as usize, before: None };
    let page =
        listing::list(&look.db, &filter, look.clock.now_ms(), &Interrupt::default(), &Progress::default())
            .map_err(explain)?;
    if look.json {
        let sessions: Vec<Shown<'_>> = page.sessions.iter().map(shown).collect();
        let document = serde_json::json!({ "sessions": sessions, "open_count": page.open_count });
        return Ok(print_json(out, &document)?);
    }
    print(&page, look, out)
}

/// Returns why the list cannot be read. No place in it was asked for, so none can be missing.
pub(super) fn explain(failure: DomainFailure<AuditSessionListError>) -> Failure {
    match failure {
        DomainFailure::Fault(fault) => Failure::from(fault),
        DomainFailure::Domain(error) => Failure::Failed(format!("the sessions cannot be read: {error}")),
    }
}

pub(super) fn shown(listed: &Listed) -> Shown<'_> {
    let last = listed.last_record.as_ref();
    Shown {
        session_id: &listed.session.session_id,
        state: word(listed.state),
        intent: &listed.session.intent,
        task_id: listed.session.task_id.as_deref(),
        started_at: &listed.session.started_at,
        record_count: listed.record_count,
        last_record_at: last.map(|(at, _)| at.as_str()),
        last_agent_id: last.map(|(_, agent)| agent.as_str()),
        finalized_at: listed.finalized_at.as_deref(),
        head_hash: listed.head_hash.as_deref(),
    }
}

pub(super) fn word(state: SessionState) -> &'static str {
    match state {
        SessionState::Open => "open",
        SessionState::Finalized => "sealed",
    }
}

fn print(page: &listing::Page, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::giving("ID", 8),
        Column::whole("STATE"),
        Column::number("RECORDS"),
        Column::giving("STARTED", 5),
        Column::giving("INTENT", 8),
        Column::whole("TASK"),
        Column::giving("SEAL", 8),
    ]);
    for listed in &page.sessions {
        let session = &listed.session;
        let style = if listed.state == SessionState::Open { Style::Yellow } else { Style::Green };
        table.push([
            short(&session.session_id).into(),
            Cell::styled(word(listed.state), style),
            count(listed.record_count).into(),
            look.clock.show(&session.started_at).into(),
            session.intent.as_str().into(),
            session.task_id.as_deref().map_or("-".to_owned(), short).into(),
            seal(listed).into(),
        ]);
    }
    table.print(out, look.screen)?;
    let more = if page.next_before.is_some() { " --limit shows more." } else { "" };
    let summary = match page.sessions.len() {
        0 => "No session matches.".to_owned(),
        _ => format!("{} open.{more}", page.open_count),
    };
    Ok(line(out, look.screen, &summary, Style::Dim)?)
}

/// Says how many records a session has, as far as they are counted.
pub(super) fn count(records: i64) -> String {
    let more = if records >= listing::MOST_COUNTED { "+" } else { "" };
    format!("{records}{more}")
}

/// Says what seals a session.
pub(super) fn seal(listed: &Listed) -> String {
    match (&listed.head_hash, &listed.finalized_at) {
        (Some(head), _) => format!("head {}", head.get(..8).unwrap_or(head)),
        (None, Some(_)) => "sealed without a head".to_owned(),
        (None, None) => "-".to_owned(),
    }
}
