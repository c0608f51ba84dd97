//! What servers are asked to do: calls that write, each with a name of its own by which its effect is found again.

use std::path::Path;
use std::sync::OnceLock;

use colibri_test_support::client::Launch;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::crash::dice::Dice;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");
/// Tasks that the planted database has.
pub const PLANTED: usize = 6;

/// What a call leaves in the database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A task of that title.
    Task(String),
    /// That title on a planted task.
    Title { task: String, title: String },
    /// A thought whose content begins so.
    Thought(String),
    /// A session of that id.
    Session(String),
    /// The seal of that session.
    Seal(String),
    /// A round of consensus on that root.
    Round(String),
}

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    pub effect: Effect,
    tool: &'static str,
    arguments: Value,
}

impl Call {
    fn new(effect: Effect, tool: &'static str, arguments: Value) -> Self {
        Self { effect, tool, arguments }
    }

    /// The request, with its place in the script as its id.
    pub fn line(&self, id: usize) -> String {
        let params = json!({ "name": self.tool, "arguments": self.arguments });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    }
}

/// What one server is asked, in order.
#[derive(Debug, Clone)]
pub struct Script {
    pub calls: Vec<Call>,
    /// How many calls are sent in one piece, again and again.
    pub bursts: Vec<usize>,
    /// How many calls may be without an answer before the next burst.
    pub window: usize,
}

impl Script {
    /// About that many calls. `tag` stands in every name; the planted tasks are this script's alone.
    pub fn drawn(dice: &mut Dice, tag: &str, tasks: &[String], length: usize) -> Self {
        let mut calls = Vec::new();
        let (mut sessions, mut session) = (0, String::new());
        while calls.len() < length {
            let name = format!("{tag}-{}", calls.len());
            match dice.below(20) {
                lot if lot == 0 || session.is_empty() => {
                    if !session.is_empty() {
                        calls.push(seal(&session));
                    }
                    sessions += 1;
                    session = format!("{tag}-session-{sessions}");
                    let arguments =
                        json!({ "session_id": session, "intent": "x".repeat(1 + dice.place(300)) });
                    calls.push(Call::new(Effect::Session(session.clone()), "audit_session_start", arguments));
                }
                1..=4 if !tasks.is_empty() => {
                    let task = dice.pick(tasks).clone();
                    let arguments = json!({ "id": task, "title": name });
                    calls.push(Call::new(Effect::Title { task, title: name }, "task_update", arguments));
                }
                5..=9 => calls.push(thought(dice, name, &session)),
                10 => calls.push(round(dice)),
                _ => calls.push(task(dice, name)),
            }
        }
        let bursts = (0..8).map(|_| 1 + dice.place(40)).collect();
        Self { calls, bursts, window: *dice.pick(&[0, 4, 16, 64, 1000]) }
    }

    /// One task, to see whether a server works.
    pub fn probe(name: &str) -> Self {
        let arguments = json!({ "title": name });
        let calls = vec![Call::new(Effect::Task(name.to_owned()), "task_create", arguments)];
        Self { calls, bursts: vec![1], window: 0 }
    }
}

/// Mostly little, sometimes more than a page.
fn filler(dice: &mut Dice) -> String {
    let longest = if dice.below(8) == 0 { 7000 } else { 300 };
    "x".repeat(1 + dice.place(longest))
}

fn task(dice: &mut Dice, title: String) -> Call {
    let arguments = json!({ "title": title, "description": filler(dice) });
    Call::new(Effect::Task(title), "task_create", arguments)
}

fn thought(dice: &mut Dice, name: String, session: &str) -> Call {
    let content = format!("{name} {}", filler(dice));
    // Few trails, so that the servers' records are links of the same chains.
    let trail = format!("trail {}", dice.below(3));
    let arguments = json!({
        "session_id": session, "task_id": trail, "agent_id": "a", "type": "plan", "content": content,
    });
    Call::new(Effect::Thought(name), "thought_record", arguments)
}

fn seal(session: &str) -> Call {
    Call::new(Effect::Seal(session.to_owned()), "merkle_finalize", json!({ "session_id": session }))
}

fn round(dice: &mut Dice) -> Call {
    let root: String = (0..8).map(|_| format!("{:08x}", dice.below(1 << 32))).collect();
    let event = json!({ "merkle_root_hex": root, "rule_version_hash_hex": "b".repeat(64) });
    Call::new(Effect::Round(root), "consensus_propose", json!({ "event": event }))
}

/// A database with [`PLANTED`] tasks, made once by a server that stopped cleanly.
pub struct Planted {
    file: Vec<u8>,
    pub tasks: Vec<String>,
}

/// The title that all planted tasks have.
pub const PLANTED_TITLE: &str = "planted";

pub fn planted() -> &'static Planted {
    static PLANTED_ONCE: OnceLock<Planted> = OnceLock::new();
    PLANTED_ONCE.get_or_init(|| {
        let launch = Launch::new(PROGRAM);
        let folder = launch.folder();
        let mut server = launch.start();
        let title = json!({ "title": PLANTED_TITLE });
        let create = |_| server.data("task_create", title.clone())["id"].as_str().unwrap().to_owned();
        let tasks = (0..PLANTED).map(create).collect();
        assert_eq!(server.finish().code(), 0);
        Planted { file: std::fs::read(database(folder.path())).unwrap(), tasks }
    })
}

/// Puts the planted database into a folder.
pub fn plant(folder: &TempDir) {
    std::fs::write(database(folder.path()), &planted().file).unwrap();
}

/// Where a folder's database is.
pub fn database(folder: &Path) -> std::path::PathBuf {
    folder.join("colibri.db")
}
