//! What must hold, worked out from what clients asked for and were told, and from nothing of the server's code.
//!
//! Calls are played in the order in which the log says they took effect. Of each the model knows beforehand whether it
//! succeeds or with which of its tool's own errors it is refused, and what a success shows and changes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::history::Record;
use crate::rows::{Entry, Task};

const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A thought as far as it is known: the reply of one whose process died never came.
#[derive(Debug, Clone)]
pub struct Thought {
    pub id: String,
    pub agent_id: String,
    pub kind: String,
    pub content: String,
    pub session_id: String,
    pub sequence_no: i64,
    pub hash: Option<String>,
}

/// A session: the call that began it, and the size of its seal.
#[derive(Debug, Clone, Copy)]
pub struct Session {
    pub sequence_no: i64,
    pub sealed: Option<i64>,
}

/// The state of all that clients have made.
#[derive(Debug, Default)]
pub struct Model {
    pub tasks: BTreeMap<String, Task>,
    /// Tasks that were born in a later state than INIT: they earn nothing.
    late: BTreeSet<String>,
    pub trails: BTreeMap<String, Vec<Thought>>,
    pub sessions: BTreeMap<String, Session>,
    seals: i64,
    last_head: Option<String>,
    /// What reputation must have been told, once each: the event and the node.
    pub reputation: Vec<String>,
}

/// How the log says a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Done,
    Refused(String),
}

/// A success that the model agrees with shows this; otherwise the tool's own error.
type Expected = Result<(), &'static str>;

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn ids(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

/// Fails with what was expected and what came.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    match expected == found {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected:?}, found {found:?}")),
    }
}

impl Model {
    /// Plays a call that ended well or with an error of its own tool. `data` is what the client was told, if it was.
    pub fn play(
        &mut self,
        call: &Record,
        entry: &Entry,
        ended: &Ended,
        data: Option<&Value>,
    ) -> Result<(), String> {
        let asked = &call.arguments;
        let expected = match call.tool.as_str() {
            "task_create" => self.may_create(asked),
            "task_update" => self.may_update(asked),
            "task_get" => self.must_know(asked),
            "thought_record" => self.may_think(asked),
            "audit_session_start" => self.may_start(asked),
            "merkle_finalize" => self.may_seal(asked),
            "merkle_root" => self.may_read_seal(asked),
            "task_list" | "task_next_actions" | "thought_record_list" | "server_ping" => Ok(()),
            "reputation_get" | "reputation_history" | "reputation_check_gates" => Ok(()),
            "reputation_leaderboard" | "reputation_import" | "router_call" => Ok(()),
            // Beside the model; verification looks at their rows. A session may be sealed while it is being verified.
            _ => return self.beside(call, ended, data),
        };
        match (expected, ended) {
            (Ok(()), Ended::Done) => {}
            (Err(code), Ended::Refused(found)) if code == found => return Ok(()),
            (expected, ended) => return Err(format!("expected {expected:?}, found {ended:?}")),
        }
        let id = entry.subject.as_deref().unwrap_or_default();
        match call.tool.as_str() {
            "task_create" => self.create(id, asked, entry.sequence_no),
            "task_update" => self.update(asked, entry.sequence_no),
            "thought_record" => self.think(id, asked, entry.sequence_no, data)?,
            "audit_session_start" => self.start(id, asked, entry.sequence_no),
            "merkle_finalize" => self.seal(asked, data)?,
            "reputation_import" => self.import(asked, data)?,
            _ => {}
        }
        data.map_or(Ok(()), |data| self.shows(call, id, data))
    }

    fn beside(&self, call: &Record, ended: &Ended, data: Option<&Value>) -> Result<(), String> {
        if call.tool != "audit_verify_chain" {
            return Ok(());
        }
        match (ended, data) {
            (Ended::Refused(code), _) => same("a verification", &"ERR_SESSION_NOT_FOUND", &code.as_str()),
            (Ended::Done, Some(data)) => same("valid", &true, &(data["valid"] == true)),
            (Ended::Done, None) => Ok(()),
        }
    }

    fn may_create(&self, asked: &Value) -> Expected {
        if ids(&asked["depends_on"]).iter().any(|id| !self.tasks.contains_key(id)) {
            return Err("ERR_DEPENDENCY_NOT_FOUND");
        }
        if asked["status"] == "DONE" { Err("ERR_WRITEBACK_REQUIRED") } else { Ok(()) }
    }

    fn create(&mut self, id: &str, asked: &Value, sequence_no: i64) {
        let task = Task {
            id: id.to_owned(),
            title: text(&asked["title"]).unwrap_or_default(),
            status: text(&asked["status"]).unwrap_or_else(|| "INIT".to_owned()),
            project_id: text(&asked["project"]),
            description: text(&asked["description"]),
            priority: text(&asked["priority"]),
            assignee: text(&asked["assignee"]),
            sequence_no,
            depends_on: ids(&asked["depends_on"]),
        };
        if task.status != "INIT" {
            self.late.insert(id.to_owned());
        }
        self.tasks.insert(id.to_owned(), task);
    }

    fn must_know(&self, asked: &Value) -> Expected {
        let id = asked["id"].as_str().unwrap_or_default();
        if self.tasks.contains_key(id) { Ok(()) } else { Err("ERR_NOT_FOUND") }
    }

    fn may_update(&self, asked: &Value) -> Expected {
        self.must_know(asked)?;
        let patch = patch_of(asked);
        let task = &self.tasks[asked["id"].as_str().unwrap_or_default()];
        if let Some(to) = patch["status"].as_str() {
            if !is_step(&task.status, to) {
                return Err("ERR_INVALID_TRANSITION");
            }
            if to == "DONE" && self.trails.get(&task.id).is_none_or(Vec::is_empty) {
                return Err("ERR_WRITEBACK_REQUIRED");
            }
        }
        let wanted = ids(&patch["depends_on"]);
        if wanted.iter().any(|id| !self.tasks.contains_key(id)) {
            return Err("ERR_DEPENDENCY_NOT_FOUND");
        }
        let closes = wanted.iter().any(|id| self.leads_to(id, &task.id));
        if closes { Err("ERR_DEPENDENCY_CYCLE") } else { Ok(()) }
    }

    fn leads_to(&self, from: &str, to: &str) -> bool {
        from == to || self.tasks[from].depends_on.iter().any(|next| self.leads_to(next, to))
    }

    fn update(&mut self, asked: &Value, sequence_no: i64) {
        let patch = patch_of(asked);
        let Some(task) = self.tasks.get_mut(asked["id"].as_str().unwrap_or_default()) else { return };
        let fields = patch.as_object().map_or(0, serde_json::Map::len);
        if fields == usize::from(patch.get("id").is_some()) {
            return;
        }
        task.sequence_no = sequence_no;
        let optional = [("assignee", &mut task.assignee)];
        for (name, field) in optional {
            if let Some(value) = patch.get(name) {
                *field = text(value);
            }
        }
        if let Some(title) = text(&patch["title"]) {
            task.title = title;
        }
        if patch.get("depends_on").is_some() {
            let wanted = ids(&patch["depends_on"]);
            task.depends_on.retain(|id| wanted.contains(id));
            let new: Vec<_> = wanted.into_iter().filter(|id| !task.depends_on.contains(id)).collect();
            task.depends_on.extend(new);
        }
        let Some(status) = text(&patch["status"]) else { return };
        task.status = status;
        if task.status == "DONE" && !self.late.contains(&task.id) {
            let first = self.trails[&task.id].first().map(|thought| thought.agent_id.clone());
            let executor = task.assignee.clone().or(first).unwrap_or_default();
            self.reputation.push(format!("task:{}:done {executor}", task.id));
        }
    }

    fn may_think(&self, asked: &Value) -> Expected {
        match self.sessions.get(asked["session_id"].as_str().unwrap_or_default()) {
            None => Err("ERR_SESSION_NOT_FOUND"),
            Some(session) if session.sealed.is_some() => Err("ERR_ALREADY_FINALIZED"),
            Some(_) => Ok(()),
        }
    }

    fn think(
        &mut self,
        id: &str,
        asked: &Value,
        sequence_no: i64,
        data: Option<&Value>,
    ) -> Result<(), String> {
        let field = |name: &str| text(&asked[name]).unwrap_or_default();
        let trail = self.trails.entry(field("task_id")).or_default();
        let last = trail.last().map_or(Some(ZEROS.to_owned()), |last| last.hash.clone());
        if let (Some(last), Some(data)) = (last, data) {
            same("prev_hash", &Some(last.as_str()), &data["prev_hash"].as_str())?;
        }
        trail.push(Thought {
            id: id.to_owned(),
            agent_id: field("agent_id"),
            kind: field("type"),
            content: field("content"),
            session_id: field("session_id"),
            sequence_no,
            hash: data.and_then(|data| text(&data["hash"])),
        });
        Ok(())
    }

    fn may_start(&self, asked: &Value) -> Expected {
        let taken = asked["session_id"].as_str().is_some_and(|id| self.sessions.contains_key(id));
        if taken { Err("ERR_SESSION_EXISTS") } else { Ok(()) }
    }

    fn start(&mut self, id: &str, asked: &Value, sequence_no: i64) {
        let id = text(&asked["session_id"]).unwrap_or_else(|| id.to_owned());
        self.sessions.insert(id, Session { sequence_no, sealed: None });
    }

    fn bound(&self, session_id: &str) -> impl Iterator<Item = &Thought> {
        self.trails.values().flatten().filter(move |thought| thought.session_id == session_id)
    }

    fn may_seal(&self, asked: &Value) -> Expected {
        let id = asked["session_id"].as_str().unwrap_or_default();
        match self.sessions.get(id) {
            None => Err("ERR_SESSION_NOT_FOUND"),
            Some(session) if session.sealed.is_some() => Err("ERR_ALREADY_FINALIZED"),
            Some(_) if self.bound(id).next().is_none() => Err("ERR_NO_RECORDS"),
            Some(_) => Ok(()),
        }
    }

    fn seal(&mut self, asked: &Value, data: Option<&Value>) -> Result<(), String> {
        let id = asked["session_id"].as_str().unwrap_or_default();
        let mut agents: Vec<&str> = self.bound(id).map(|thought| thought.agent_id.as_str()).collect();
        let count = agents.len() as i64;
        agents.sort_unstable();
        agents.dedup();
        let told: Vec<String> = agents.iter().map(|agent| format!("session:{id}:{agent} {agent}")).collect();
        self.reputation.extend(told);
        if let Some(session) = self.sessions.get_mut(id) {
            session.sealed = Some(count);
        }
        self.seals += 1;
        let before = match self.seals {
            1 => Some(ZEROS.to_owned()),
            _ => self.last_head.take(),
        };
        let Some(data) = data else { return Ok(()) };
        let head = &data["tree_head"];
        self.last_head = text(&head["head_hash"]);
        same("record_count", &Some(count), &data["record_count"].as_i64())?;
        same("head_index", &Some(self.seals - 1), &head["head_index"].as_i64())?;
        before.map_or(Ok(()), |before| {
            same("prev_head_hash", &Some(before.as_str()), &head["prev_head_hash"].as_str())
        })
    }

    /// An event counts once, and a rehearsal for nothing.
    fn import(&mut self, asked: &Value, data: Option<&Value>) -> Result<(), String> {
        let line = &asked["lines"][0];
        let field = |name: &str| line[name].as_str().unwrap_or_default();
        let event = format!("{} {}", field("event_id"), field("node_id"));
        let new = !self.reputation.contains(&event);
        if new && asked["dry_run"] == false {
            self.reputation.push(event);
        }
        data.map_or(Ok(()), |data| {
            same("applied", &Some(u64::from(new)), &data["applied"].as_u64())?;
            same("duplicates", &Some(u64::from(!new)), &data["duplicates"].as_u64())
        })
    }

    fn may_read_seal(&self, asked: &Value) -> Expected {
        match self.sessions.get(asked["session_id"].as_str().unwrap_or_default()) {
            None => Err("ERR_SESSION_NOT_FOUND"),
            Some(session) if session.sealed.is_none() => Err("ERR_NOT_FINALIZED"),
            Some(_) => Ok(()),
        }
    }

    /// What a success tells.
    fn shows(&self, call: &Record, id: &str, data: &Value) -> Result<(), String> {
        let asked = &call.arguments;
        match call.tool.as_str() {
            "task_create" => self.shows_task(id, data),
            "task_update" | "task_get" => self.shows_task(asked["id"].as_str().unwrap_or_default(), data),
            "task_list" => self.shows_list(asked, data),
            "task_next_actions" => self.shows_queue(data),
            "thought_record" => {
                same("content", &asked["content"], &data["content"])?;
                same("session_id", &asked["session_id"], &data["session_id"])?;
                same("id", &Some(id), &data["id"].as_str())
            }
            "thought_record_list" => {
                let task_id = asked["task_id"].as_str().unwrap_or_default();
                let trail = self.trails.get(task_id).map_or(0, Vec::len);
                same("count", &Some(trail as u64), &data["count"].as_u64())
            }
            "merkle_root" => {
                let sealed = self.sessions[asked["session_id"].as_str().unwrap_or_default()].sealed;
                same("record_count", &sealed, &data["record_count"].as_i64())
            }
            _ => Ok(()),
        }
    }

    fn shows_task(&self, id: &str, data: &Value) -> Result<(), String> {
        let Some(task) = self.tasks.get(id) else { return Err(format!("there is no task {id:?}")) };
        let shown = Task {
            id: text(&data["id"]).unwrap_or_default(),
            title: text(&data["title"]).unwrap_or_default(),
            status: text(&data["status"]).unwrap_or_default(),
            project_id: text(&data["project_id"]),
            description: text(&data["description"]),
            priority: text(&data["priority"]),
            assignee: text(&data["assignee"]),
            // No reply tells it.
            sequence_no: task.sequence_no,
            depends_on: ids(&data["depends_on"]),
        };
        same("the task", task, &shown)
    }

    fn shows_list(&self, asked: &Value, data: &Value) -> Result<(), String> {
        let matching = self.tasks.values().filter(|task| {
            asked["status"].as_str().is_none_or(|status| task.status == status)
                && asked["project_id"].as_str().is_none_or(|id| task.project_id.as_deref() == Some(id))
        });
        same("total_count", &Some(matching.count() as u64), &data["total_count"].as_u64())?;
        let shown = data["tasks"].as_array().into_iter().flatten();
        let mut shown = shown.map(|task| self.shows_task(task["id"].as_str().unwrap_or_default(), task));
        shown.find(Result::is_err).unwrap_or(Ok(()))
    }

    fn shows_queue(&self, data: &Value) -> Result<(), String> {
        let open = self.tasks.values().filter(|task| !["DONE", "CANCELLED"].contains(&task.status.as_str()));
        let (blocked, free): (Vec<&Task>, Vec<&Task>) =
            open.partition(|task| task.depends_on.iter().any(|id| self.tasks[id].status != "DONE"));
        same("total_count", &Some(free.len() as u64), &data["total_count"].as_u64())?;
        same("blocked_count", &Some(blocked.len() as u64), &data["blocked_count"].as_u64())
    }
}

/// The fields to change, wherever they stand.
fn patch_of(asked: &Value) -> &Value {
    asked.get("patch").unwrap_or(asked)
}

/// The pipeline as the seed draws it.
fn is_step(from: &str, to: &str) -> bool {
    let next = match from {
        "INIT" => "GATHER",
        "GATHER" => "ANALYZE",
        "ANALYZE" => "PLAN",
        "PLAN" => "APPLY",
        "APPLY" => "VERIFY",
        "VERIFY" => "DONE",
        _ => return false,
    };
    to == next || to == "CANCELLED" || (from == "VERIFY" && to == "GATHER")
}
