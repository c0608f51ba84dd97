//! What a client sees of a server on a database of some size.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::dice::Dice;
use serde_json::{Value, json};

use super::history::{SESSION, chain_name, project_name};
use super::latencies::Latencies;

/// Starts that are timed, of each kind.
const BOOTS: usize = 5;
/// Calls of each tool before those that are timed.
const WARM_UP: usize = 100;
/// An id that no task has.
const NOBODY: &str = "00000000-0000-7000-8000-000000000000";

/// What was measured at one size.
pub struct Point {
    /// Tasks, and as many thoughts.
    pub rows: i64,
    /// The database file, in bytes.
    pub bytes: u64,
    /// From the start of the program to the first reply of a tool that reads the store.
    pub boot: Latencies,
    /// The same after `kill -9`: the log is recovered, and what the dead process left is closed.
    pub boot_after_kill: Latencies,
    /// Commits are not synced.
    pub relaxed: Calls,
    /// A reply leaves after a sync.
    pub full: Calls,
}

/// Calls one at a time, the two tools in turn.
pub struct Calls {
    /// `task_create` in one of a hundred projects.
    pub task: Latencies,
    /// `thought_record` on any of the chains.
    pub thought: Latencies,
}

fn launch(database: &Path) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env("COLIBRI_DB_PATH", database)
}

/// Lets a server make the database and start the session, if they are missing.
pub fn create(database: &Path) {
    if database.exists() {
        return;
    }
    let mut server = launch(database).start();
    server.data("audit_session_start", json!({ "intent": "grow", "session_id": SESSION }));
    assert_eq!(server.finish().code(), 0);
}

/// Measures at one size.
pub fn measure(database: &Path, rows: i64, chains: usize, calls: usize) -> Point {
    let (boot, boot_after_kill) = boots(database);
    Point {
        rows,
        bytes: std::fs::metadata(database).expect("the database").len(),
        boot,
        boot_after_kill,
        relaxed: one_at_a_time(database, "normal", chains, calls),
        full: one_at_a_time(database, "full", chains, calls),
    }
}

fn boots(database: &Path) -> (Latencies, Latencies) {
    let (mut clean, mut killed) = (Vec::new(), Vec::new());
    for _ in 0..BOOTS {
        let (took, mut server) = boot(database);
        clean.push(took);
        server.data("task_create", json!({ "title": "in the log when the process dies" }));
        server.kill();
        let (took, server) = boot(database);
        killed.push(took);
        assert_eq!(server.finish().code(), 0);
    }
    (Latencies::of(clean), Latencies::of(killed))
}

/// Starts a server, and returns how long its first reply took.
fn boot(database: &Path) -> (Duration, Server) {
    let launch = launch(database);
    let began = Instant::now();
    let mut server = launch.start();
    let envelope = server.call("task_get", json!({ "id": NOBODY }));
    let took = began.elapsed();
    assert_eq!(envelope["data"]["error"]["code"], "ERR_NOT_FOUND", "{envelope}");
    (took, server)
}

fn one_at_a_time(database: &Path, durability: &str, chains: usize, calls: usize) -> Calls {
    let mut server = launch(database).env("COLIBRI_DURABILITY", durability).start();
    let dice = Dice::new(chains as u64);
    let (mut task, mut thought) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + calls {
        let project = project_name(dice.roll());
        let arguments = json!({ "title": format!("Measured {number}"), "project_id": project });
        task.push(timed(&mut server, "task_create", arguments));
        let arguments = json!({
            "type": "analysis", "task_id": chain_name(dice.place(chains)), "agent_id": "agent-0",
            "content": format!("Measured {number}: the tip is found by its task, however many there are."),
            "session_id": SESSION,
        });
        thought.push(timed(&mut server, "thought_record", arguments));
    }
    assert_eq!(server.finish().code(), 0);
    Calls { task: Latencies::of(task.split_off(WARM_UP)), thought: Latencies::of(thought.split_off(WARM_UP)) }
}

fn timed(server: &mut Server, tool: &str, arguments: Value) -> Duration {
    let began = Instant::now();
    server.send_call(tool, arguments);
    let answer = server.receive();
    let took = began.elapsed();
    let envelope = &answer["result"]["structuredContent"];
    assert!(envelope["ok"] == json!(true) && envelope["data"]["ok"] != json!(false), "{answer}");
    took
}

/// Recomputes the whole database with `colibri verify`, and returns whether it is sound.
pub fn is_sound(database: &Path) -> bool {
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    let output = command
        .args(["verify", "--db"])
        .arg(database)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("colibri verify runs");
    if output.status.success() {
        println!("colibri verify finds it sound ({:.1} s)", began.elapsed().as_secs_f64());
    } else {
        println!("{}", String::from_utf8_lossy(&output.stdout));
    }
    output.status.success()
}
