//! A table of situations: callers of each kind and era, with renames, claims, late creations and seals, without a key, with the
//! reader's key and with another. In each, every view is compared with `colibri log --json` and `colibri verify --json`.

use colibri_test_support::shell::Run;
use serde_json::{Value, json};

use super::world::{Caller, World, escaped, short, shown};
use crate::people::era::ERAS;

/// The callers: the operator's name and the client's.
const CALLERS: [(Option<&str>, Option<&str>); 5] = [
    (Some("alice"), Some("claude-code")),
    (Some("mallory"), Some("alice (\"claude-code\")")),
    (None, Some("alice")),
    (None, None),
    (Some("claude-1"), Some("host")),
];

/// What the reader knows of the key that signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Unsigned,
    Given,
    NotGiven,
}

/// A situation, and what its views say otherwise than the log.
struct Situation {
    world: World,
    /// What is given to commands that judge.
    keys: Vec<String>,
    log: Vec<Value>,
    verify: Value,
    code: Option<i32>,
    tasks: Vec<String>,
    wrong: Vec<String>,
}

impl Situation {
    /// A caller works on two tasks, and another actor uses the same agent_id on one of them.
    fn new(caller: Caller<'_>, key: Key) -> Self {
        let world = if key == Key::Unsigned { World::new() } else { World::signing() };
        let mut first = world.serve(caller);
        let late = first.create(json!({ "title": "Late", "status": "PLAN" }));
        let task = first.create(json!({ "title": "First title", "priority": "low" }));
        first.data("task_update", json!({ "id": task, "title": "Second title" }));
        first.data("task_claim", json!({ "agent_id": "claude-1", "id": task }));
        first.data("task_update", json!({ "id": task, "status": "GATHER", "claim": 1, "priority": "high" }));
        first.call("task_update", json!({ "id": task, "status": "DONE", "claim": 1 }));
        first.data("audit_session_start", json!({ "session_id": "S", "intent": "Work", "task_id": task }));
        let thought = |content: &str| json!({ "type": "decision", "task_id": task, "agent_id": "claude-1", "content": content, "session_id": "S" });
        first.data("thought_record", thought("Two steps."));
        let mut second = world.serve(Caller { actor: Some("bob"), client: Some("other"), era: caller.era });
        second.data("thought_record", thought("One step."));
        second.data("task_list", json!({}));
        second.data("merkle_finalize", json!({ "session_id": "S" }));
        second.data("audit_session_start", json!({ "session_id": "O", "intent": "Open" }));
        drop((first, second));
        let keys = match key {
            Key::Given => vec!["--key".to_owned(), world.public_key.clone()],
            _ => Vec::new(),
        };
        let log = world.log();
        let mut situation = Self {
            world,
            keys,
            log,
            verify: Value::Null,
            code: None,
            tasks: vec![late, task],
            wrong: Vec::new(),
        };
        let verified = situation.judge(&["verify", "--json"]);
        (situation.code, situation.verify) = (verified.code, verified.json());
        situation
    }

    /// Runs a command that judges the database.
    fn judge(&self, command: &[&str]) -> Run {
        let keys = self.keys.iter().map(String::as_str);
        self.world.run(&command.iter().copied().chain(keys).collect::<Vec<_>>())
    }

    fn expect(&mut self, is_so: bool, view: &str, what: impl FnOnce() -> String) {
        if !is_so {
            self.wrong.push(format!("{view}: {}", what()));
        }
    }

    fn row(&self, call: &Value) -> Value {
        self.log.iter().find(|row| row["sequence_no"] == *call).cloned().unwrap_or_default()
    }

    /// The last successful call of a tool.
    fn last(&self, tool: &str) -> Value {
        let found = self.log.iter().rev().find(|row| row["tool"] == tool && row["outcome"] == "ok");
        found.cloned().unwrap_or_default()
    }

    fn verdict(&mut self) {
        let counts = &self.verify["checks"][1]["counts"];
        let calls = counts["closed calls"].as_u64().unwrap() + counts["running calls"].as_u64().unwrap();
        self.expect(calls == self.log.len() as u64, "verify", || format!("{calls} calls"));
        let expected = match (self.keys.is_empty(), &self.verify["tree_heads"]["unknown_key"]) {
            (true, unknown) if *unknown != json!(0) => (Some(3), json!("unconfirmed")),
            _ => (Some(0), json!("holds")),
        };
        let found = (self.code, self.verify["verdict"].clone());
        self.expect(found == expected, "verify", || format!("{found:?}, not {expected:?}"));
        let text = self.judge(&["verify"]);
        let has_hash = text.out.contains(self.verify["tree_heads"]["last_head_hash"].as_str().unwrap());
        self.expect(text.code == found.0 && has_hash, "verify", || text.out.clone());
    }

    fn timeline(&mut self) {
        let all = ["timeline", "--since", "2020-01-01", "--all"];
        let (document, text) = (self.world.json(&all), self.world.text(&all));
        let rows = self.log.len() as u64;
        self.expect(document["calls"] == rows, "timeline", || {
            format!("{} of {rows} calls", document["calls"])
        });
        let counted = text.contains(&format!("{rows} calls, "));
        self.expect(counted, "timeline", || text.clone());
        for event in document["events"].as_array().unwrap().clone() {
            let row = self.row(&event["call"]);
            let (caller, agent) = (row["caller"].clone(), event["agent_id"].as_str());
            let same = event["tool"] == row["tool"]
                && event["outcome"] == row["outcome"]
                && event["actor"] == caller["actor"]
                && event["client"] == caller["client_name"];
            self.expect(same, "timeline --json", || format!("{event} is not {row}"));
            let expected = shown(agent, &caller);
            self.expect(event["who"] == expected, "timeline --json", || format!("{event}: not {expected}"));
            self.expect(text.contains(&expected), "timeline", || format!("no {expected}: {text}"));
        }
        let flag = "The agent_id \"claude-1\" was used under 2 actors: ";
        self.expect(text.contains(flag), "timeline", || format!("no flag: {text}"));
        let mine = ["timeline", "--since", "2020-01-01", "--who", "claude-1", "--json"];
        let mine = self.world.run(&mine).ends(0).json();
        let tools: Vec<&str> =
            mine["events"].as_array().unwrap().iter().filter_map(|event| event["tool"].as_str()).collect();
        let moved = tools.iter().filter(|tool| **tool == "task_update").count();
        self.expect(moved == 3 && tools.contains(&"task_create"), "timeline --who", || format!("{tools:?}"));
        let late = format!("created in PLAN {} Late", short(&self.tasks[0]));
        let first = format!("created {} First title", short(&self.tasks[1]));
        let renamed = format!(
            "changed {} Second title: title \"First title\" > \"Second title\"",
            short(&self.tasks[1])
        );
        for line in [late, first, renamed] {
            self.expect(text.contains(&line), "timeline", || format!("no {line}: {text}"));
        }
    }

    fn table(&mut self) {
        let text = self.world.text(&["log"]);
        for row in self.log.clone() {
            let expected = shown(None, &row["caller"]);
            self.expect(text.contains(&expected), "log", || format!("no {expected}: {text}"));
        }
    }

    fn task(&mut self) {
        let id = self.tasks[1].clone();
        let (document, text) = (self.world.json(&["task", &id]), self.world.text(&["task", &id]));
        for event in document["history"]["events"].as_array().unwrap().clone() {
            let caller = self.row(&event["call"])["caller"].clone();
            self.expect(event["who"]["actor"] == caller["actor"], "task --json", || event.to_string());
            let moves = event["from"] != event["to"];
            let agent =
                event["agent_id"].as_str().or(moves.then_some("claude-1")).filter(|_| event["event_no"] != 1);
            let expected = shown(agent, &caller);
            self.expect(text.contains(&expected), "task", || format!("no {expected}: {text}"));
        }
        for thought in document["thoughts"].as_array().unwrap().clone() {
            let row = self.row(&thought["call"]);
            let same = row["subject"] == thought["id"] && row["caller"] == thought["caller"];
            self.expect(same, "task --json", || format!("{thought} is not {row}"));
            let expected = shown(thought["agent_id"].as_str(), &row["caller"]);
            self.expect(text.contains(&expected), "task", || format!("no {expected}: {text}"));
        }
        let renamed = "title \"First title\" > \"Second title\"";
        self.expect(text.contains(renamed), "task", || format!("no {renamed}: {text}"));
    }

    fn lists(&mut self) {
        let claim = self.last("task_claim");
        let holder = shown(Some("claude-1"), &claim["caller"]);
        for view in [&["tasks"][..], &["next"], &["board", "--once"]] {
            let (document, text) = (self.world.json(view), self.world.text(view));
            self.expect(text.contains(&holder), view[0], || format!("no {holder}: {text}"));
            let held = found(&document, &self.tasks[1]);
            let same = held["held"]["by"] == "claude-1" && held["held_caller"] == claim["caller"];
            self.expect(same && held["title"] == "Second title", view[0], || held.to_string());
        }
        let graph = self.world.json(&["graph"]);
        self.expect(graph["nodes"] == json!([]), "graph", || graph.to_string());
        let sessions = self.world.json(&["sessions"]);
        let sealed =
            sessions["sessions"].as_array().unwrap().iter().find(|one| one["session_id"] == "S").cloned();
        let head = sealed.unwrap_or_default()["head_hash"].clone();
        let last = self.verify["tree_heads"]["last_head_hash"].clone();
        self.expect(head == last, "sessions", || format!("{head} is not {last}"));
    }

    fn pages(&mut self) {
        let limits = [
            self.verify["tree_heads"]["last_head_hash"].as_str().unwrap().to_owned(),
            self.verify["log"]["last_row_hash"].as_str().unwrap().to_owned(),
            "What this page does not prove".to_owned(),
            "colibri verify".to_owned(),
        ];
        let keys: Vec<String> = self.keys.clone();
        for command in [&["overview"][..], &["report", "S"], &["report", "O"]] {
            let view = command.join(" ");
            let command: Vec<&str> =
                command.iter().copied().chain(keys.iter().map(String::as_str)).chain(["--json"]).collect();
            let (run, page) = self.world.page(&command);
            self.expect(run.code == self.code, &view, || {
                format!("ends with {:?}: {} {}", run.code, run.out, run.err)
            });
            let document: Value = serde_json::from_str(&run.out).unwrap_or_default();
            let same =
                document["verdict"] == self.verify["verdict"] && document["sound"] == self.verify["sound"];
            self.expect(same, &view, || document.to_string());
            let green = page.contains("class=\"verdict good\"");
            self.expect(green == (self.verify["verdict"] == "holds"), &view, || format!("green: {green}"));
            for part in &limits {
                self.expect(page.contains(part), &view, || format!("no {part}"));
            }
            if view != "report O" {
                for call in self.log.clone().iter().filter(|row| row["tool"] == "thought_record") {
                    let expected = escaped(&shown(Some("claude-1"), &call["caller"]));
                    self.expect(page.contains(&expected), &view, || format!("no {expected}"));
                }
                let flag = escaped("The agent_id \"claude-1\" was used under 2 actors: ");
                self.expect(page.contains(&flag), &view, || "no flag".to_owned());
            }
            if view == "overview" {
                let rows = self.log.len();
                self.expect(document["calls"] == rows, &view, || format!("{} of {rows}", document["calls"]));
            }
        }
    }

    /// The tool's reply agrees with `verify`, and says what it does not cover.
    fn reply(&mut self, caller: Caller<'_>) {
        let mut client = self.world.serve(caller);
        let all = client.data("audit_verify_chain", json!({}));
        let fields = json!(["agent_id", "session_id"]);
        self.expect(
            all["valid"] == self.verify["sound"] && all["not_covered"] == fields,
            "audit_verify_chain",
            || all.to_string(),
        );
        let sealed = client.data("audit_verify_chain", json!({ "session_id": "S" }));
        self.expect(sealed["not_covered"].is_null(), "audit_verify_chain", || sealed.to_string());
    }
}

/// The object of a document that has this id.
fn found(document: &Value, id: &str) -> Value {
    match document {
        Value::Object(members) if document["id"] == id && members.contains_key("title") => document.clone(),
        Value::Object(members) => {
            members.values().map(|value| found(value, id)).find(|value| !value.is_null()).unwrap_or_default()
        }
        Value::Array(items) => {
            items.iter().map(|value| found(value, id)).find(|value| !value.is_null()).unwrap_or_default()
        }
        _ => Value::Null,
    }
}

/// Makes each situation of this key, and names everything that a view says otherwise than the log.
fn compare(key: Key) {
    let mut wrong = Vec::new();
    for (actor, client) in CALLERS {
        for era in ERAS {
            let caller = Caller { actor, client, era };
            let mut situation = Situation::new(caller, key);
            situation.verdict();
            situation.timeline();
            situation.table();
            situation.task();
            situation.lists();
            situation.pages();
            situation.reply(caller);
            wrong.extend(situation.wrong.iter().map(|wrong| format!("{caller:?}: {wrong}")));
        }
    }
    assert!(wrong.is_empty(), "{} times:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_view_says_what_the_log_says_without_signatures() {
    compare(Key::Unsigned);
}

#[test]
fn each_view_says_what_the_log_says_with_the_readers_key() {
    compare(Key::Given);
}

#[test]
fn each_view_says_what_the_log_says_with_a_key_that_the_reader_did_not_give() {
    compare(Key::NotGiven);
}
