//! What clients ask for.

use std::sync::Arc;

use colibri_runtime::chain::call::{Call, ReplyTo};
use colibri_runtime::chain::client::{Client, Source};
use colibri_runtime::progress::Progress;
use colibri_test_support::dice::Dice;
use serde_json::{Value, json};

use crate::history::Said;

const STATES: [&str; 8] = ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"];
const AGENTS: [&str; 4] = ["alice", "bob", "carol", "é🐦"];
const KINDS: [&str; 4] = ["plan", "analysis", "decision", "reflection"];
const CLIENTS: u64 = 3;
const ROOT: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// What all clients together have seen in replies. They share it, so that they get in each other's way.
#[derive(Default)]
pub struct Known {
    tasks: Vec<(String, String)>,
    sessions: Vec<String>,
    requests: u64,
}

impl Known {
    /// Takes note of a reply.
    pub fn hear(&mut self, tool: &str, said: &Said) {
        let Said::Done(data) = said else { return };
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        match tool {
            "task_create" => self.tasks.push((text("id"), text("status"))),
            "task_update" | "task_get" => {
                let (id, status) = (text("id"), text("status"));
                if let Some(task) = self.tasks.iter_mut().find(|task| task.0 == id) {
                    task.1 = status;
                }
            }
            "audit_session_start" => self.sessions.push(text("session_id")),
            _ => {}
        }
    }

    fn task(&self, dice: &Dice) -> (String, String) {
        // Clients ask for the last few most, so that those make progress.
        let from = if dice.one_in(4) { 0 } else { self.tasks.len().saturating_sub(4) };
        let near = &self.tasks[from..];
        if near.is_empty() || dice.one_in(25) {
            return ("nobody".to_owned(), "INIT".to_owned());
        }
        near[dice.place(near.len())].clone()
    }

    fn session(&self, dice: &Dice) -> String {
        let near = &self.sessions[self.sessions.len().saturating_sub(3)..];
        if near.is_empty() || dice.one_in(15) {
            return format!("s{}", dice.below(6));
        }
        near[dice.place(near.len())].clone()
    }

    /// A call of one of the clients. Now and then two have the same request id.
    pub fn call(&mut self, dice: &Dice) -> Call {
        let (name, arguments) = match dice.below(100) {
            0..=17 => ("task_create", self.new_task(dice)),
            18..=45 => ("task_update", self.changed_task(dice)),
            46..=49 => ("task_get", json!({ "id": self.task(dice).0 })),
            50..=52 => ("task_list", listing(dice)),
            53..=54 => ("task_next_actions", json!({ "limit": 1 + dice.below(100) })),
            55..=72 => ("thought_record", self.thought(dice)),
            73 => ("thought_record_list", json!({ "task_id": self.task(dice).0 })),
            74..=80 => ("audit_session_start", new_session(dice)),
            81..=84 => ("merkle_finalize", json!({ "session_id": self.session(dice) })),
            85 => ("merkle_root", json!({ "session_id": self.session(dice) })),
            86..=87 => reputation(dice),
            88 => consensus(dice),
            89..=90 => ("server_ping", json!({})),
            91..=93 => ("task_create", json!({ "title": *dice.pick(&["", " "]), "size": 1 })),
            94 => {
                ("task_update", json!({ "id": self.task(dice).0, "title": "x", "patch": { "title": "y" } }))
            }
            95 => ("thought_record", json!({ "content": 7 })),
            96..=97 => (*dice.pick(&["task_destroy", "", "reputation_import"]), json!({ "id": 1 })),
            _ => ("task_update", json!({ "id": self.task(dice).0, "patch": {} })),
        };
        self.numbered(dice, name, arguments)
    }

    /// A call that leaves the machine.
    pub fn network_call(&mut self, dice: &Dice) -> Call {
        let call = self.numbered(dice, "router_call", json!({ "prompt": "ping" }));
        // No client repeats its id: it is answered out of order, and the id alone says which call a reply is for.
        self.requests += 1;
        call
    }

    /// A long read.
    pub fn scan_call(&mut self, dice: &Dice) -> Call {
        let (name, arguments) = match dice.below(3) {
            0 => ("audit_verify_chain", json!({ "session_id": self.session(dice) })),
            1 => ("reputation_leaderboard", json!({ "domain": "execution" })),
            _ => ("audit_verify_chain", json!({})),
        };
        self.numbered(dice, name, arguments)
    }

    /// What an operator asks for: an event that counts once, or a rehearsal of it.
    pub fn operation(&mut self, dice: &Dice) -> Call {
        let line = json!({
            "event_id": format!("event {}", dice.below(5)), "node_id": *dice.pick(&AGENTS), "domain": "social",
            "kind": "gain", "delta": 300, "acker_id": "dave", "epoch": 20_000, "reason": "helped",
        });
        self.numbered(dice, "reputation_import", json!({ "lines": [line], "dry_run": dice.one_in(2) }))
    }

    /// The call that a server answers before its start is over.
    pub fn ping(&mut self, dice: &Dice) -> Call {
        self.numbered(dice, "server_ping", json!({}))
    }

    fn numbered(&mut self, dice: &Dice, name: &str, arguments: Value) -> Call {
        if self.requests == 0 || name == "router_call" || !dice.one_in(12) {
            self.requests += 1;
        }
        let id = match self.requests % 3 {
            0 => self.requests.to_string(),
            _ => format!("\"client {} {}\"", self.requests % CLIENTS, self.requests),
        };
        Call {
            reply_to: ReplyTo {
                id: id.into(),
                stateless: dice.one_in(2),
                member: None,
                progress: Progress::default(),
            },
            name: name.to_owned(),
            arguments: arguments.into(),
            args_hash: None,
            trace_context: None,
            client: identity(self.requests / 5 % CLIENTS),
            bytes: 100,
            since_ms: 0.0,
            unreadable: None,
        }
    }

    fn new_task(&self, dice: &Dice) -> Value {
        let mut task = json!({ "title": title(dice) });
        if dice.one_in(3) {
            task["status"] = (*dice.pick(&STATES)).into();
        }
        if dice.one_in(2) {
            task["assignee"] = (*dice.pick(&AGENTS)).into();
        }
        if dice.one_in(3) {
            task["project"] = (*dice.pick(&["colibri", "nest"])).into();
        }
        if dice.one_in(4) {
            task["priority"] = (*dice.pick(&["critical", "high", "whenever"])).into();
        }
        if dice.one_in(6) {
            task["description"] = "d".repeat(dice.place(4000)).into();
        }
        if dice.one_in(5) {
            task["depends_on"] = json!([self.task(dice).0]);
        }
        task
    }

    fn changed_task(&self, dice: &Dice) -> Value {
        let (id, status) = self.task(dice);
        let mut patch = json!({});
        if dice.below(10) < 7 {
            // Mostly the next step of the pipeline.
            let at = STATES.iter().position(|state| *state == status).unwrap_or_default();
            let next = STATES[(at + 1).min(6)];
            patch["status"] = if dice.one_in(5) { *dice.pick(&STATES) } else { next }.into();
        }
        if dice.one_in(3) {
            patch["title"] = title(dice).into();
        }
        if dice.one_in(5) {
            patch["assignee"] = if dice.one_in(3) { Value::Null } else { (*dice.pick(&AGENTS)).into() };
        }
        if dice.one_in(8) {
            patch["depends_on"] = if dice.one_in(3) { json!([]) } else { json!([self.task(dice).0]) };
        }
        if dice.one_in(2) {
            return json!({ "id": id, "patch": patch });
        }
        patch["id"] = id.into();
        patch
    }

    fn thought(&self, dice: &Dice) -> Value {
        let content = *dice.pick(&["x", "é🐦", "\u{1}\u{2028}", "a thought"]);
        json!({
            "type": *dice.pick(&KINDS),
            "task_id": self.task(dice).0,
            "agent_id": *dice.pick(&AGENTS),
            "content": content.repeat(1 + *dice.pick(&[0, 3, 200])),
            "session_id": self.session(dice),
        })
    }
}

fn title(dice: &Dice) -> String {
    format!("{} {}", *dice.pick(&["T", "--lead", "é🐦", "'\";<b>"]), dice.below(1000))
}

fn listing(dice: &Dice) -> Value {
    match dice.below(3) {
        0 => json!({}),
        1 => json!({ "status": *dice.pick(&STATES), "limit": 3 }),
        _ => json!({ "project_id": "nest", "limit": 2, "offset": 1 }),
    }
}

/// The first few ids are taken again and again.
fn new_session(dice: &Dice) -> Value {
    match dice.below(3) {
        0 => json!({ "intent": "some work" }),
        1 => json!({ "intent": "some work", "session_id": format!("s{}", dice.below(6)) }),
        _ => json!({ "intent": "more of it", "session_id": format!("session {}", dice.below(1000)) }),
    }
}

fn reputation(dice: &Dice) -> (&'static str, Value) {
    let node = *dice.pick(&AGENTS);
    match dice.below(3) {
        0 => ("reputation_get", json!({ "node_id": node })),
        1 => ("reputation_history", json!({ "node_id": node, "domain": "execution" })),
        _ => ("reputation_check_gates", json!({ "node_id": node })),
    }
}

fn consensus(dice: &Dice) -> (&'static str, Value) {
    let tuple = json!({ "merkle_root_hex": ROOT, "rule_version_hash_hex": ROOT });
    match dice.below(2) {
        0 => ("consensus_propose", json!({ "event": tuple })),
        _ => ("consensus_finality", json!({ "round_id": "1" })),
    }
}

/// Who a call says it comes from; each time another value, as it is when a client says it with each call.
fn identity(client: u64) -> Arc<Client> {
    let name = (client > 0).then(|| format!("client {client}"));
    Arc::new(Client { name, protocol: Some("2026-07-28"), ..Client::unnamed(Source::Meta) })
}
