//! Puts the calls of the log into words, each as things were when it ended.

use std::collections::HashMap;
use std::sync::Arc;

use colibri_runtime::handler::Fault;
use colibri_visible::printable;

use super::{Event, Weight};
use crate::catalogue::{TaskEvent, TaskEventKind, TaskStatus, ToolId};
use crate::cli::call_end::CallEnd;
use crate::cli::ids::short;
use crate::cli::views::events::{created, fields, first_line, held_by, named};
use crate::cli::views::wrapped;
use crate::cli::who::Who;
use crate::domains::proof::session;
use crate::domains::tasks::history::{born_in, claim_of_change, event_of_call, title_after};
use crate::domains::tasks::shown::title;
use crate::domains::trail::service::{StoredContent, get_thought_record};
use crate::domains::wrap::store::noted_again;
use colibri_store::callers::{CallerRow, caller};
use colibri_store::db::Db;
use colibri_store::log::log_query::LogRow;

/// A call as the log has it.
pub(super) struct Call {
    sequence_no: i64,
    at: String,
    tool: String,
    outcome: String,
    error: Option<(String, String)>,
    subject: Option<String>,
    caller: Option<Arc<CallerRow>>,
}

impl Call {
    /// `before` is the call before it, which mostly has the same caller.
    pub(super) fn of(row: &LogRow<'_>, before: Option<&Self>) -> Self {
        let same = before.and_then(|call| call.caller.clone()).filter(|caller| Some(&**caller) == row.caller);
        Self {
            sequence_no: row.sequence_no,
            at: row.entered_at.to_owned(),
            tool: row.tool.to_owned(),
            outcome: row.outcome.to_owned(),
            error: row
                .error_code
                .map(|code| (code.to_owned(), row.error_message.unwrap_or_default().to_owned())),
            subject: row.subject.map(str::to_owned),
            caller: same.or_else(|| row.caller.cloned().map(Arc::new)),
        }
    }
}

/// Puts calls into words.
pub(super) struct Teller<'a> {
    db: &'a Db,
    /// Which ids are tasks.
    tasks: HashMap<String, bool>,
}

/// What a call did.
#[derive(Default)]
struct Told {
    says: String,
    task_id: Option<String>,
    /// Who did it, and by which claim.
    agent: Option<(String, Option<i64>)>,
    is_renewal: bool,
}

impl<'a> Teller<'a> {
    pub(super) fn new(db: &'a Db) -> Self {
        Self { db, tasks: HashMap::new() }
    }

    pub(super) fn tell(&mut self, call: Call) -> Result<(Event, Weight), Fault> {
        let tool = ToolId::from_name(&call.tool);
        let is_noted_again = tool == Some(ToolId::PinsNote)
            && call.error.as_ref().is_some_and(|(code, _)| code == noted_again());
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
            _ if tool == Some(ToolId::CallerBegin) && call.error.is_none() => Weight::Caller,
            false => Weight::Read,
            true if told.is_renewal => Weight::Renewal,
            true => Weight::Shown,
        };
        Ok((event(call, told), weight))
    }

    fn refusal(&mut self, call: &Call, code: &str, message: &str) -> Result<Told, Fault> {
        let task_id =
            match message.split(|c: char| !c.is_ascii_hexdigit() && c != '-').find(|word| word.len() == 36) {
                Some(word) => self.is_task(word)?.then(|| word.to_owned()),
                None => None,
            };
        let of = task_id.as_deref().map_or(String::new(), |id| format!(" of {}", short(id)));
        let verb = match CallEnd::of(&call.outcome, Some(code)) {
            CallEnd::Failed => "failed at",
            CallEnd::Unfinished => "did not finish",
            CallEnd::Done | CallEnd::Refused => "was refused",
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
            ToolId::TaskCreate => self.creation(subject),
            ToolId::TaskUpdate | ToolId::TaskClaim | ToolId::TaskRelease => self.change(call, subject),
            ToolId::ThoughtRecord => self.thought(subject),
            ToolId::AuditSessionStart => self.session(subject, "opened session"),
            ToolId::MerkleFinalize => self.session(subject, "sealed session"),
            ToolId::CallerBegin => self.caller(subject),
            ToolId::WrapBegin | ToolId::PinsNote | ToolId::PinsAccept | ToolId::CallNote => {
                let says = wrapped::says(self.db, tool, subject)?;
                Ok(Told { says, ..Told::default() })
            }
            other => {
                let task_id = self.is_task(subject)?.then(|| subject.to_owned());
                Ok(Told {
                    says: format!("called {} of {}", other.name(), short(subject)),
                    task_id,
                    ..Told::default()
                })
            }
        }
    }

    fn is_task(&mut self, id: &str) -> Result<bool, Fault> {
        if let Some(known) = self.tasks.get(id) {
            return Ok(*known);
        }
        let is_task = title(self.db, id)?.is_some();
        self.tasks.insert(id.to_owned(), is_task);
        Ok(is_task)
    }

    /// A task under the title that it had at first, and the state in which it was created if that is not the first one.
    fn creation(&self, id: &str) -> Result<Told, Fault> {
        let task = named(id, title_after(self.db, id, 0)?.as_deref());
        let says = match born_in(self.db, id)? {
            Some(state) if state != TaskStatus::Init => format!("{} {task}", created(state)),
            _ => format!("created {task}"),
        };
        Ok(Told { says, task_id: Some(id.to_owned()), ..Told::default() })
    }

    fn change(&self, call: &Call, id: &str) -> Result<Told, Fault> {
        let task_id = Some(id.to_owned());
        let Some(event) = event_of_call(self.db, id, call.sequence_no)? else {
            // A server of before histories made it.
            let says = format!("changed {}", named(id, title(self.db, id)?.as_deref()));
            return Ok(Told { says, task_id, ..Told::default() });
        };
        let task = named(id, title_after(self.db, id, event.event_no)?.as_deref());
        Ok(Told {
            says: changed(&event, &task),
            task_id,
            is_renewal: event.kind == TaskEventKind::Renewed,
            agent: match event.agent_id.clone() {
                Some(agent) => Some((agent, event.claim)),
                None => claim_of_change(self.db, id, &event)?.map(|(agent, claim)| (agent, Some(claim))),
            },
        })
    }

    fn thought(&self, id: &str) -> Result<Told, Fault> {
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
        let agent = Some((thought.agent_id, None));
        Ok(Told { says, task_id: Some(thought.task_id), agent, is_renewal: false })
    }

    fn session(&self, id: &str, verb: &str) -> Result<Told, Fault> {
        let session = session(self.db, id)?;
        let intent =
            session.as_ref().map_or(String::new(), |session| format!(": {}", first_line(&session.intent)));
        let task_id = session.and_then(|session| session.task_id);
        Ok(Told { says: format!("{verb} {}{intent}", short(id)), task_id, ..Told::default() })
    }

    fn caller(&self, number: &str) -> Result<Told, Fault> {
        let row = caller(self.db, number.parse().unwrap_or_default())?;
        let says = format!("caller {}: {}", printable(number), Who::caller(row.as_ref()));
        Ok(Told { says, ..Told::default() })
    }
}

fn event(call: Call, told: Told) -> Event {
    let (agent_id, claim) = told.agent.unzip();
    let whom = Who::new(agent_id.clone(), call.caller);
    let caller = whom.row();
    let (actor, client) = (
        caller.and_then(|caller| caller.actor.clone()),
        caller.and_then(|caller| caller.client_title.clone().or_else(|| caller.client_name.clone())),
    );
    Event {
        call: call.sequence_no,
        at: call.at,
        server: call.tool.split_once('/').map(|(server, _)| server.to_owned()),
        tool: call.tool,
        outcome: call.outcome,
        error_code: call.error.map(|(code, _)| code),
        who: whom.to_string(),
        actor,
        client,
        caller_no: caller.map(|caller| caller.caller_no),
        agent_id,
        claim: claim.flatten(),
        task_id: told.task_id,
        subject: call.subject,
        says: told.says,
        whom,
    }
}

/// Says what an event did to a task, which has the name that it left.
fn changed(event: &TaskEvent, task: &str) -> String {
    match event.kind {
        TaskEventKind::Claimed => format!("claimed {task}"),
        TaskEventKind::Renewed => format!("renewed the claim of {task}"),
        TaskEventKind::TakenOver => format!("took over {task} from {}", held_by(event)),
        TaskEventKind::Released => format!("gave back {task}"),
        _ => {
            let step = event.from.filter(|from| *from != event.to);
            let step = step.map(|from| format!("{} > {}", from.as_str(), event.to.as_str()));
            match (step, fields(event)) {
                (Some(step), None) => format!("moved {task}: {step}"),
                (Some(step), Some(fields)) => format!("moved {task}: {step}, {fields}"),
                (None, Some(fields)) => format!("changed {task}: {fields}"),
                (None, None) => format!("changed nothing of {task}"),
            }
        }
    }
}
