//! `colibri timeline`: what was done and who did it, in the order of the calls.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use colibri_runtime::handler::Fault;
use colibri_suggest::closest;
use colibri_visible::printable;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::Look;
use super::events::{fields, first_line, held_by, named};
use super::table::{Line, Style, line};
use super::wrapped;
use crate::catalogue::{FOREIGN, TaskEvent, TaskEventKind, ToolId};
use crate::cli::Failure;
use crate::cli::arguments::views::Timeline;
use crate::cli::ids::{Kind, resolve, short};
use crate::cli::moments::not_after;
use crate::cli::output::print_json;
use crate::cli::who::who;
use crate::domains::proof::session;
use crate::domains::tasks::history::event_of_call;
use crate::domains::tasks::shown::title;
use crate::domains::trail::service::{StoredContent, get_thought_record};
use crate::domains::wrap::store::NOTED_AGAIN;
use colibri_store::db::Db;
use colibri_store::log::log_query::{LogFilter, LogRow, each_call, first_since};

/// What a call was, for the choice of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// It changed something, failed or was refused.
    Shown,
    Read,
    Renewal,
}

/// A call in words.
#[derive(Debug, Serialize)]
struct Event {
    call: i64,
    at: String,
    tool: String,
    outcome: String,
    error_code: Option<String>,
    /// The caller, as it names itself.
    who: String,
    actor: Option<String>,
    client: Option<String>,
    /// The actor of a wrapped call's caller: there, `actor` is the other server.
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    agent_id: Option<String>,
    task_id: Option<String>,
    subject: Option<String>,
    /// What happened, with short ids.
    says: String,
}

/// A call as the log has it.
struct Call {
    sequence_no: i64,
    at: String,
    tool: String,
    outcome: String,
    error: Option<(String, String)>,
    subject: Option<String>,
    who: String,
    actor: Option<String>,
    client: Option<String>,
    caller: Option<String>,
}

#[derive(Debug, Default)]
struct Counts {
    calls: u64,
    shown: u64,
    reads: u64,
    renewals: u64,
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
    let from = first_since(&look.db, &since)?;
    let mut teller = Teller { db: &look.db, titles: HashMap::new() };
    let (mut counts, mut events, mut names) = (Counts::default(), Vec::new(), BTreeSet::new());
    for call in calls(&look.db, from, since, until)? {
        let (event, weight) = teller.tell(call)?;
        let is_wanted = task.as_ref().is_none_or(|task| event.task_id.as_ref() == Some(task))
            && arguments.who.as_ref().is_none_or(|name| is_of(&event, name));
        if !is_wanted {
            names.extend([event.actor, event.client, event.caller, event.agent_id].into_iter().flatten());
            continue;
        }
        counts.calls += 1;
        counts.reads += u64::from(weight == Weight::Read);
        counts.renewals += u64::from(weight == Weight::Renewal);
        if arguments.all || weight == Weight::Shown {
            counts.shown += 1;
            events.push(event);
        }
    }
    if look.json {
        let document = serde_json::json!({
            "events": events, "calls": counts.calls, "reads": counts.reads, "renewals": counts.renewals,
        });
        return Ok(print_json(out, &document)?);
    }
    if counts.calls == 0 {
        return Ok(line(out, look.screen, &nothing(arguments, &names, look)?, Style::Dim)?);
    }
    Ok(print(&events, &counts, arguments.all, look, out)?)
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
        let operation = ToolId::OPERATIONS.iter().find(|tool| tool.name() == row.tool);
        if operation.is_none_or(|operation| TOLD.contains(operation)) {
            calls.push(call(row));
        }
        true
    })?;
    Ok(calls)
}

/// The operations that are told of; the others are the server's own affair.
const TOLD: [ToolId; 3] = [ToolId::WrapBegin, ToolId::PinsNote, ToolId::PinsAccept];

fn call(row: &LogRow<'_>) -> Call {
    let caller = row.caller;
    // Another server did what the call asked for.
    let server = row.tool.split_once('/').map(|(server, _)| server.to_owned());
    let actor = caller.and_then(|caller| caller.actor.clone());
    let (actor, caller_actor) = match server.clone() {
        Some(server) => (Some(server), actor),
        None => (actor, None),
    };
    Call {
        sequence_no: row.sequence_no,
        at: row.entered_at.to_owned(),
        tool: row.tool.to_owned(),
        outcome: row.outcome.to_owned(),
        error: row.error_code.map(|code| (code.to_owned(), row.error_message.unwrap_or_default().to_owned())),
        subject: row.subject.map(str::to_owned),
        who: server.unwrap_or_else(|| who(caller)),
        actor,
        caller: caller_actor,
        client: caller.and_then(|caller| caller.client_title.clone().or_else(|| caller.client_name.clone())),
    }
}

fn is_of(event: &Event, name: &str) -> bool {
    [&event.actor, &event.client, &event.caller, &event.agent_id].into_iter().flatten().any(|own| own == name)
}

/// Puts calls into words.
struct Teller<'a> {
    db: &'a Db,
    titles: HashMap<String, Option<String>>,
}

/// What a call did.
#[derive(Default)]
struct Told {
    says: String,
    task_id: Option<String>,
    agent_id: Option<String>,
    is_renewal: bool,
}

impl Teller<'_> {
    fn tell(&mut self, call: Call) -> Result<(Event, Weight), Fault> {
        let tool = ToolId::from_name(&call.tool);
        let is_noted_again = tool == Some(ToolId::PinsNote)
            && call.error.as_ref().is_some_and(|(code, _)| code == NOTED_AGAIN);
        let told = match &call.error {
            Some((_, message)) if is_noted_again => {
                Told { says: format!("saw a list again: {}", printable(message)), ..Told::default() }
            }
            Some((code, message)) => self.refusal(&call, code, message)?,
            None if call.outcome != "ok" => {
                Told { says: format!("runs {}", printable(&call.tool)), ..Told::default() }
            }
            None => self.success(&call, tool)?,
        };
        let mutates = tool.is_none_or(|tool| tool.spec().mutates());
        let weight = match (call.error.is_some() || mutates) && !is_noted_again {
            false => Weight::Read,
            true if told.is_renewal => Weight::Renewal,
            true => Weight::Shown,
        };
        let event = Event {
            call: call.sequence_no,
            at: call.at,
            tool: call.tool,
            outcome: call.outcome,
            error_code: call.error.map(|(code, _)| code),
            who: call.who,
            actor: call.actor,
            client: call.client,
            caller: call.caller,
            agent_id: told.agent_id,
            task_id: told.task_id,
            subject: call.subject,
            says: told.says,
        };
        Ok((event, weight))
    }

    fn refusal(&mut self, call: &Call, code: &str, message: &str) -> Result<Told, Fault> {
        let task_id =
            match message.split(|c: char| !c.is_ascii_hexdigit() && c != '-').find(|word| word.len() == 36) {
                Some(word) => self.title(word)?.is_some().then(|| word.to_owned()),
                None => None,
            };
        let of = task_id.as_deref().map_or(String::new(), |id| format!(" of {}", short(id)));
        let wrapped = call.tool.contains('/');
        let verb = match call.outcome.as_str() {
            "error" => "failed at",
            "domain_error" if wrapped && code == FOREIGN.tool_error.code => "failed at",
            // The server asks for input, or goes on in a task.
            "domain_error" if wrapped => "did not finish",
            "aborted" => "did not finish",
            _ => "was refused",
        };
        Ok(Told {
            says: format!("{verb} {}{of}: {}", printable(&call.tool), printable(code)),
            task_id,
            ..Told::default()
        })
    }

    fn success(&mut self, call: &Call, tool: Option<ToolId>) -> Result<Told, Fault> {
        let Some((tool, subject)) = tool.zip(call.subject.as_deref()) else {
            return Ok(Told { says: format!("called {}", printable(&call.tool)), ..Told::default() });
        };
        match tool {
            ToolId::TaskCreate => self.of_task(subject, None, "created"),
            ToolId::TaskUpdate | ToolId::TaskClaim | ToolId::TaskRelease => {
                let event = event_of_call(self.db, subject, call.sequence_no)?;
                self.of_task(subject, event.as_ref(), "changed")
            }
            ToolId::ThoughtRecord => self.thought(subject),
            ToolId::AuditSessionStart => self.session(subject, "opened session"),
            ToolId::MerkleFinalize => self.session(subject, "sealed session"),
            ToolId::WrapBegin | ToolId::PinsNote | ToolId::PinsAccept => {
                let says = wrapped::says(self.db, tool, subject)?;
                Ok(Told { says, ..Told::default() })
            }
            other => {
                let task_id = self.title(subject)?.is_some().then(|| subject.to_owned());
                Ok(Told {
                    says: format!("called {} of {}", other.name(), short(subject)),
                    task_id,
                    ..Told::default()
                })
            }
        }
    }

    fn title(&mut self, id: &str) -> Result<Option<String>, Fault> {
        if let Some(known) = self.titles.get(id) {
            return Ok(known.clone());
        }
        let title = title(self.db, id)?;
        self.titles.insert(id.to_owned(), title.clone());
        Ok(title)
    }

    fn of_task(&mut self, id: &str, event: Option<&TaskEvent>, verb: &str) -> Result<Told, Fault> {
        let task = named(id, self.title(id)?.as_deref());
        let agent_id = event.and_then(|event| event.agent_id.clone());
        let says = match event {
            None => format!("{verb} {task}"),
            Some(event) => match event.kind {
                TaskEventKind::Claimed => format!("claimed {task}"),
                TaskEventKind::Renewed => format!("renewed the claim of {task}"),
                TaskEventKind::TakenOver => format!("took over {task} from {}", printable(&held_by(event))),
                TaskEventKind::Released => format!("gave back {task}"),
                _ => match (event.from.filter(|from| *from != event.to), fields(event)) {
                    (Some(from), _) => format!("moved {task}: {} > {}", from.as_str(), event.to.as_str()),
                    (None, Some(fields)) => format!("changed {task}: {fields}"),
                    (None, None) => format!("changed nothing of {task}"),
                },
            },
        };
        let is_renewal = event.is_some_and(|event| event.kind == TaskEventKind::Renewed);
        Ok(Told { says, task_id: Some(id.to_owned()), agent_id, is_renewal })
    }

    fn thought(&mut self, id: &str) -> Result<Told, Fault> {
        let Some(thought) = get_thought_record(self.db, id)? else {
            return Ok(Told { says: format!("recorded {}", short(id)), ..Told::default() });
        };
        let verb = match thought.kind.as_str() {
            "decision" => "decided on",
            "plan" => "planned",
            "analysis" => "analysed",
            "reflection" => "reflected on",
            _ => "recorded on",
        };
        let said = match &thought.content {
            StoredContent::Kept(text) => first_line(text),
            StoredContent::Gone { .. } => "(content pruned)".to_owned(),
        };
        let says = format!("{verb} {}: {said}", short(&thought.task_id));
        Ok(Told { says, task_id: Some(thought.task_id), agent_id: Some(thought.agent_id), is_renewal: false })
    }

    fn session(&mut self, id: &str, verb: &str) -> Result<Told, Fault> {
        let session = session(self.db, id)?;
        let intent =
            session.as_ref().map_or(String::new(), |session| format!(": {}", first_line(&session.intent)));
        let task_id = session.and_then(|session| session.task_id);
        Ok(Told { says: format!("{verb} {}{intent}", short(id)), task_id, ..Told::default() })
    }
}

fn print(events: &[Event], counts: &Counts, all: bool, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let whos: Vec<String> = events
        .iter()
        .map(|event| {
            event.agent_id.as_deref().map_or_else(|| event.who.clone(), |agent| printable(agent).into_owned())
        })
        .collect();
    let width = whos.iter().map(|who| who.width()).max().unwrap_or_default();
    let times: Vec<String> = events.iter().map(|event| look.clock.show(&event.at)).collect();
    let time_width = times.iter().map(String::len).max().unwrap_or_default();
    for ((event, who), time) in events.iter().zip(&whos).zip(&times) {
        let style = if event.error_code.is_some() { Style::Red } else { Style::Plain };
        let mut line = Line::new(look.screen);
        line.push(&format!("{time:time_width$}  "), Style::Dim);
        let blank = " ".repeat(width - who.width() + 2);
        line.push(&format!("{who}{blank}"), Style::Plain);
        line.push(&event.says, style);
        line.print(out)?;
    }
    line(out, look.screen, &summary(counts, all), Style::Dim)
}

fn summary(counts: &Counts, all: bool) -> String {
    let Counts { calls, shown, reads, renewals } = counts;
    let plural = |count: &u64, one: &str| format!("{count} {one}{}", if *count == 1 { "" } else { "s" });
    let total = format!("{}, {shown} shown", plural(calls, "call"));
    match (all, reads + renewals) {
        (true, _) | (_, 0) => format!("{total}."),
        _ => {
            let parts: Vec<String> = [(reads, "read"), (renewals, "renewal")]
                .into_iter()
                .filter(|(count, _)| **count > 0)
                .map(|(count, one)| plural(count, one))
                .collect();
            let verb = if reads + renewals == 1 { "is" } else { "are" };
            format!("{total}; {} {verb} not (--all).", parts.join(" and "))
        }
    }
}
