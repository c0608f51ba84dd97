//! An agent: it claims tasks, works on those that it remembers, and is hit by kills, freezes and jumps of its clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use colibri_test_support::client::{Server, envelope};
use colibri_test_support::dice::Dice;
use colibri_test_support::wall::Wall;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Numbers, launch};

const MINUTE_MS: i64 = 60_000;

/// What an agent was told.
#[derive(Debug, Default)]
pub struct Told {
    /// Its name.
    pub name: String,
    /// Claims that it was given: task and number.
    pub claims: Vec<(String, i64)>,
    /// Changes that were acknowledged, by their titles.
    pub changes: Vec<(String, String)>,
    pub refused: usize,
    pub kills: usize,
    pub freezes: usize,
    pub jumps: usize,
}

/// An agent and its server.
pub struct Agent {
    folder: Arc<TempDir>,
    tasks: Vec<String>,
    dice: Dice,
    numbers: Numbers,
    wall: Wall,
    server: Option<Server>,
    /// By how much its clock is wrong.
    error_ms: i64,
    changes: usize,
    told: Told,
}

impl Agent {
    pub fn start(
        number: usize,
        folder: Arc<TempDir>,
        tasks: Vec<String>,
        dice: Dice,
        numbers: Numbers,
    ) -> Self {
        let wall = Wall::new(env!("COLIBRI_FILE_LAYER"));
        let server = Some(launch(&folder, &wall).start());
        let told = Told { name: format!("agent-{number}"), ..Told::default() };
        Self { folder, tasks, dice, numbers, wall, server, error_ms: 0, changes: 0, told }
    }

    /// What it was told, at the end.
    pub fn told(self) -> Told {
        self.told
    }

    fn server(&mut self) -> &mut Server {
        self.server.as_mut().unwrap()
    }

    /// Does one thing or another; some time passes for all.
    pub fn step(&mut self, passed: &AtomicI64) {
        let now = passed.fetch_add(self.dice.below(12_000) as i64, Ordering::SeqCst);
        if self.dice.one_in(10) {
            self.jump();
        }
        self.wall.set(now + self.error_ms);
        match self.dice.place(12) {
            0..=3 => self.claim(),
            4 => self.renew(),
            5 => self.release(),
            6 => self.kill(),
            7 => self.freeze(),
            _ => self.change(),
        }
    }

    /// Sets its clock wrong by minutes, hours or days, or right.
    fn jump(&mut self) {
        let most = *self.dice.pick(&[0, MINUTE_MS, 60 * MINUTE_MS, 3 * 24 * 60 * MINUTE_MS]);
        self.error_ms = self.dice.below(2 * most.unsigned_abs() + 1) as i64 - most;
        self.told.jumps += 1;
    }

    fn claim(&mut self) {
        let mut arguments = json!({ "agent_id": self.told.name, "lease_seconds": 30 });
        if self.dice.one_in(3) {
            arguments["id"] = json!(self.dice.pick(&self.tasks));
        }
        let data = self.call("task_claim", arguments);
        self.given(&data);
    }

    /// Remembers a claim.
    fn given(&mut self, data: &Value) {
        if let (Some(id), Some(number)) = (data["task"]["id"].as_str(), data["claim"].as_i64()) {
            let claim = (id.to_owned(), number);
            if !self.told.claims.contains(&claim) {
                self.told.claims.push(claim);
            }
        }
    }

    /// One of the claims that it remembers, the newest more often than others.
    fn remembered(&self) -> Option<(String, i64)> {
        let claims = &self.told.claims;
        let back = self.dice.place(claims.len().min(if self.dice.one_in(3) { claims.len() } else { 2 }));
        claims.len().checked_sub(1 + back).map(|at| claims[at].clone())
    }

    fn renew(&mut self) {
        let Some((id, number)) = self.remembered() else { return };
        let arguments = json!({ "agent_id": self.told.name, "id": id, "claim": number, "lease_seconds": 30 });
        let data = self.call("task_claim", arguments);
        self.given(&data);
    }

    fn release(&mut self) {
        let Some((id, number)) = self.remembered() else { return };
        self.call("task_release", json!({ "id": id, "claim": number }));
    }

    /// The arguments of a change. Its title says who makes it under which claim, once.
    fn next_change(&mut self) -> Option<(String, String, Value)> {
        let (id, number) = self.remembered()?;
        self.changes += 1;
        let title = format!("{} {number} {}", self.told.name, self.changes);
        let mut arguments = json!({ "id": id, "title": title });
        if self.numbers == Numbers::Sent {
            arguments["claim"] = json!(number);
        }
        Some((id, title, arguments))
    }

    fn change(&mut self) {
        let Some((id, title, arguments)) = self.next_change() else { return };
        if self.call("task_update", arguments)["title"] == json!(title) {
            self.told.changes.push((id, title));
        }
    }

    /// Its server stands still with a change in its input, and goes on later.
    fn freeze(&mut self) {
        let Some((id, title, arguments)) = self.next_change() else { return };
        let pause = Duration::from_millis(self.dice.below(20));
        let server = self.server();
        server.signal("STOP");
        server.send_call("task_update", arguments);
        std::thread::sleep(pause);
        server.signal("CONT");
        let reply = envelope(&server.receive());
        assert_eq!(reply["ok"], true, "{reply}");
        if reply["data"]["title"] == json!(title) {
            self.told.changes.push((id, title));
        }
        self.told.freezes += 1;
    }

    /// Its server dies with calls in its input; whether they were executed is not known. The agent remembers its claims.
    fn kill(&mut self) {
        let change = self.next_change();
        let name = self.told.name.clone();
        let server = self.server();
        server.send_call("task_claim", json!({ "agent_id": name, "lease_seconds": 30 }));
        if let Some((_, _, arguments)) = change {
            server.send_call("task_update", arguments);
        }
        if let Some(server) = self.server.take() {
            server.kill();
        }
        self.server = Some(launch(&self.folder, &self.wall).start());
        self.told.kills += 1;
    }

    /// Calls a tool; a refusal is null.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let envelope = self.server().call(tool, arguments);
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
        if envelope["data"]["ok"] == json!(false) {
            self.told.refused += 1;
            return Value::Null;
        }
        envelope["data"].clone()
    }
}
