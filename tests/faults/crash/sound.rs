//! A database that only honest servers wrote is sound at any time: no false alarm while they write, right after one
//! of them was killed, or later; with a checkpoint of any earlier moment or without.

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

use colibri_test_support::actions::actions;
use colibri_test_support::client::Launch;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::crash::dice::Dice;

const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");

/// Runs `colibri verify` on the folder's database as it lies there.
pub fn assert_verified(folder: &Arc<TempDir>, arguments: &[&str]) {
    let launch = Launch::new(PROGRAM).in_folder(folder.clone()).arg("verify").arg("--json");
    let launch = arguments.iter().fold(launch, |launch, argument| launch.arg(argument));
    let output = launch.command().output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {out}{err}");
}

/// Names with everything that a name may hold.
const NAMES: [&str; 6] = ["T", "--lead", "é🐦\u{2028}", "\u{fffd}", "'\";<b>", " "];

/// Some call: most succeed, some cannot.
fn some_call(id: usize, dice: &mut Dice, tasks: &[String]) -> Value {
    let session = format!("{} {}", dice.pick(&NAMES), dice.below(12));
    let task = dice.pick(&NAMES);
    let known = dice.pick(tasks);
    let (name, arguments) = match dice.below(20) {
        0 | 1 => ("task_create", json!({ "title": "t", "depends_on": [known] })),
        2..=4 => ("task_update", json!({ "id": known, "title": format!("title {}", dice.below(3)) })),
        5 => ("task_update", json!({ "id": known, "status": "GATHER" })),
        6..=8 => ("audit_session_start", json!({ "session_id": session, "intent": "\u{0}\u{fffd}" })),
        9 => ("merkle_finalize", json!({ "session_id": session })),
        10 => ("task_get", json!({ "id": "nobody" })),
        11 => ("thought_record", json!({ "content": "" })),
        12 => ("no_such_tool", json!({})),
        _ => {
            let content = dice.pick(&["x", "\u{0}", "\u{1}\u{1f}\u{7f}", "\u{fffd}", "🐦"]);
            let content = content.repeat(1 + dice.place(2000));
            let thought = json!({
                "session_id": session, "task_id": task, "agent_id": task, "type": "plan", "content": content,
            });
            ("thought_record", thought)
        }
    };
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Starts a server with a pipeline of mixed work, and never reads its replies.
fn at_work(launch: &Launch, lines: String) -> std::process::Child {
    let mut child = launch
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().unwrap();
    // It ends with the pipe, by itself or by the kill.
    std::thread::spawn(move || drop(stdin.write_all(lines.as_bytes())));
    child
}

#[test]
fn honest_servers_never_raise_an_alarm() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut dice = Dice::new(0x0a1a_53ed);
    let launch = || Launch::new(PROGRAM).in_folder(folder.clone());
    let mut first = launch().start();
    let tasks: Vec<String> = (0..5)
        .map(|_| first.data("task_create", json!({ "title": "t" }))["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(first.finish().code(), 0);
    assert_verified(&folder, &["--write-checkpoint", "0.json"]);
    for round in 0..6 {
        let mut servers: Vec<_> = (0..4)
            .map(|number| {
                let lines = (0..250).map(|id| format!("{}\n", some_call(id, &mut dice, &tasks))).collect();
                let mode = if number == 3 { ["READONLY", "MINIMAL"][round % 2] } else { "FULL" };
                let launch = launch().env("COLIBRI_MODE", mode).env("COLIBRI_DURABILITY", "normal");
                at_work(&launch, lines)
            })
            .collect();
        // While all of them write.
        std::thread::sleep(dice.microseconds(200_000));
        let next = format!("{}.json", round + 1);
        assert_verified(&folder, &["--checkpoint", &format!("{round}.json"), "--write-checkpoint", &next]);
        // Right after kills, before any process has recovered the file.
        for _ in 0..1 + round % 3 {
            let at = dice.place(servers.len());
            let mut killed = servers.swap_remove(at);
            killed.kill().unwrap();
            killed.wait().unwrap();
            assert_verified(&folder, &["--checkpoint", &next]);
        }
        for mut server in servers {
            if dice.below(2) == 0 {
                server.kill().unwrap();
            }
            server.wait().unwrap();
        }
        assert_verified(&folder, &["--checkpoint", "0.json"]);
    }
    // The next start closes what the dead left open.
    let mut last = launch().start();
    last.data("task_list", json!({ "limit": 1 }));
    let done = |tool: &str| {
        let calls = actions(&last.sql()).into_iter();
        calls.filter(|row| row.tool == tool && row.outcome == "ok").count()
    };
    let written = ["task_update", "thought_record", "merkle_finalize"].map(done);
    assert_eq!(last.finish().code(), 0);
    for round in 0..=6 {
        assert_verified(&folder, &["--checkpoint", &format!("{round}.json")]);
    }
    assert!(written.iter().all(|count| *count > 5), "hardly anything was written: {written:?}");
}
