//! `colibri timeline`: what was done and who did it, in the order of the calls.

mod teller;

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};

use colibri_runtime::handler::Fault;
use colibri_suggest::closest;
use colibri_visible::{counted, printable};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use self::teller::{Call, Teller};
use super::Look;
use super::table::{Line, Style, line};
use crate::cli::Failure;
use crate::cli::arguments::views::Timeline;
use crate::cli::call_end::CallEnd;
use crate::cli::ids::{Kind, resolve};
use crate::cli::moments::not_after;
use crate::cli::output::print_json;
use crate::cli::who::{Shared, UNCHECKED, Who};
use crate::domains::{tasks::history, trail};
use colibri_store::db::Db;
use colibri_store::log::log_query::{LogFilter, each_call, first_since};

/// What a call was, for the choice of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// It changed something, failed or was refused.
    Shown,
    Read,
    Renewal,
    /// The server stored a new caller.
    Caller,
}

/// A call in words.
#[derive(Debug, Serialize)]
struct Event {
    call: i64,
    at: String,
    tool: String,
    outcome: String,
    error_code: Option<String>,
    /// The agent and the caller, as text.
    who: String,
    actor: Option<String>,
    client: Option<String>,
    caller_no: Option<i64>,
    /// The server that `colibri wrap` passed the call on to.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    agent_id: Option<String>,
    /// The number of the claim by which the agent is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<i64>,
    task_id: Option<String>,
    subject: Option<String>,
    /// What happened, with short ids.
    says: String,
    #[serde(skip)]
    whom: Who,
}

/// How many calls there are. A call is a row of the log, here as in the overview and in `colibri verify`.
#[derive(Debug, Default)]
struct Counts {
    calls: u64,
    shown: u64,
    reads: u64,
    renewals: u64,
    callers: u64,
}

pub(super) fn run(arguments: &Timeline, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let since = look.clock.parse(&arguments.since).map_err(Failure::Usage)?;
    let until = arguments
        .until
        .as_deref()
        .map(|until| look.clock.parse(until))
        .transpose()
        .map_err(Failure::Usage)?;
    if until.as_ref().is_some_and(|until| *until <= since) {
        return Err(not_after(&arguments.since, arguments.until.as_deref().unwrap_or_default()));
    }
    let task = match &arguments.task {
        Some(fragment) => Some(resolve(&look.db, Kind::About, fragment)?),
        None => None,
    };
    let wanted = match &arguments.who {
        Some(name) => Some(Wanted::of(name, &look.db)?),
        None => None,
    };
    let from = first_since(&look.db, &since)?;
    let mut teller = Teller::new(&look.db);
    let (mut counts, mut events, mut names) = (Counts::default(), Vec::new(), BTreeSet::new());
    for call in calls(&look.db, from, since, until)? {
        let (event, weight) = teller.tell(call)?;
        let is_wanted = task.as_ref().is_none_or(|task| event.task_id.as_ref() == Some(task))
            && wanted.as_ref().is_none_or(|wanted| wanted.has(&event));
        if !is_wanted {
            names.extend(event.whom.names().chain(event.server));
            continue;
        }
        counts.calls += 1;
        counts.reads += u64::from(weight == Weight::Read);
        counts.renewals += u64::from(weight == Weight::Renewal);
        counts.callers += u64::from(weight == Weight::Caller);
        if arguments.all || weight == Weight::Shown {
            counts.shown += 1;
            events.push(event);
        }
    }
    if look.json {
        let document = serde_json::json!({
            "events": events, "calls": counts.calls, "reads": counts.reads, "renewals": counts.renewals,
            "new_callers": counts.callers,
        });
        return Ok(print_json(out, &document)?);
    }
    if counts.calls == 0 {
        return Ok(line(out, look.screen, &nothing(arguments, &names, look)?, Style::Dim)?);
    }
    Ok(print(&events, &counts, arguments.all, look, out)?)
}

/// Whose calls are wanted.
struct Wanted<'a> {
    name: &'a str,
    /// The callers that acted for the agent of that name.
    callers: HashSet<i64>,
}

impl<'a> Wanted<'a> {
    fn of(name: &'a str, db: &Db) -> Result<Self, Fault> {
        let mut callers: HashSet<i64> = history::callers_of(db, name)?.into_iter().collect();
        callers.extend(trail::shown::callers_of(db, name)?);
        Ok(Self { name, callers })
    }

    /// A call that names no agent belongs to each agent that its caller acted for too: no work is left out.
    fn has(&self, event: &Event) -> bool {
        event.whom.has(self.name)
            || event.server.as_deref() == Some(self.name)
            || event.agent_id.is_none()
                && event.caller_no.is_some_and(|number| self.callers.contains(&number))
    }
}

/// Says why no call is told of, and what may help. `names` are those of the other calls of the period.
fn nothing(arguments: &Timeline, names: &BTreeSet<String>, look: &Look) -> Result<String, Fault> {
    if first_since(&look.db, "")?.is_none() {
        return Ok("No call yet: no server has worked on this database.".to_owned());
    }
    let of = |what: &str, value: &Option<String>| {
        value.as_ref().map_or(String::new(), |value| format!(" {what} {}", printable(value)))
    };
    let (about, by) = (of("about", &arguments.task), of("by", &arguments.who));
    let meant = arguments.who.as_deref().and_then(|who| closest(who, names.iter().map(String::as_str)));
    let hint = match meant {
        Some(name) => format!("did you mean {}?", printable(name)),
        None => "--since looks further back.".to_owned(),
    };
    Ok(format!("No call{about}{by} in this time; {hint}"))
}

/// Reads the calls of the period. The statements that tell of each run afterwards, on the same snapshot.
fn calls(db: &Db, from: Option<i64>, since: String, until: Option<String>) -> Result<Vec<Call>, Fault> {
    let mut calls = Vec::new();
    if from.is_none() {
        return Ok(calls);
    }
    let filter = LogFilter { since: Some(since), until, from, ..LogFilter::default() };
    each_call(db, &filter, |row| {
        let call = Call::of(row, calls.last());
        calls.push(call);
        true
    })?;
    Ok(calls)
}

/// A line of the timeline: a call, or several in a row that did the same.
struct Told<'a> {
    event: &'a Event,
    times: u64,
}

fn folded(events: &[Event]) -> Vec<Told<'_>> {
    let mut lines: Vec<Told<'_>> = Vec::new();
    for event in events {
        match lines.last_mut() {
            Some(last) if (&last.event.who, &last.event.says) == (&event.who, &event.says) => last.times += 1,
            _ => lines.push(Told { event, times: 1 }),
        }
    }
    lines
}

fn print(events: &[Event], counts: &Counts, all: bool, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let lines = folded(events);
    let width = lines.iter().map(|told| told.event.who.width()).max().unwrap_or_default();
    let times: Vec<String> = lines.iter().map(|told| look.clock.show(&told.event.at)).collect();
    let time_width = times.iter().map(String::len).max().unwrap_or_default();
    let mut shared = Shared::default();
    for (Told { event, times }, time) in lines.iter().zip(&times) {
        let end = CallEnd::of(&event.outcome, event.error_code.as_deref());
        let style = if end.is_error() { Style::Red } else { Style::Plain };
        let mut line = Line::new(look.screen);
        line.push(&format!("{time:time_width$}  "), Style::Dim);
        let blank = " ".repeat(width - event.who.width() + 2);
        line.push(&format!("{}{blank}", event.who), Style::Plain);
        if *times > 1 {
            line.push(&format!("×{times} "), Style::Bold);
        }
        line.push(&event.says, style);
        line.print(out)?;
    }
    events.iter().for_each(|event| shared.take(&event.whom));
    for note in shared.notes() {
        line(out, look.screen, &note, Style::Yellow)?;
    }
    line(out, look.screen, &summary(counts, all), Style::Dim)?;
    if events.iter().any(|event| event.whom.is_known()) {
        line(out, look.screen, UNCHECKED, Style::Dim)?;
    }
    Ok(())
}

fn summary(counts: &Counts, all: bool) -> String {
    let Counts { calls, shown, reads, renewals, callers } = counts;
    let total = format!("{}, {shown} shown", counted(*calls, "call"));
    let left_out = reads + renewals + callers;
    if all || left_out == 0 {
        return format!("{total}.");
    }
    let parts: Vec<String> = [(reads, "read"), (renewals, "renewal"), (callers, "new caller")]
        .into_iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, one)| counted(*count, one))
        .collect();
    let parts = match parts.as_slice() {
        [first @ .., second, last] => {
            let first: String = first.iter().map(|part| format!("{part}, ")).collect();
            format!("{first}{second} and {last}")
        }
        parts => parts.concat(),
    };
    let verb = if left_out == 1 { "is" } else { "are" };
    format!("{total}; {parts} {verb} not (--all).")
}
