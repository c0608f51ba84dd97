//! `colibri` without arguments: on a terminal it says what it waits for, before it serves.

use std::process::Stdio;
use std::time::Duration;

use colibri_test_support::pty::{CTRL_D, Pty, wait};
use colibri_test_support::shell::Shell;
use serde_json::{Value, json};

const TEXT: &str = concat!(
    "colibri ",
    env!("CARGO_PKG_VERSION"),
    " waits for an MCP client on stdin; a host such as Claude Code starts it. Ctrl-D ends it.\r\n",
    "colibri init sets it up in a host, colibri tasks shows what is in the database, colibri help lists the commands.\r\n",
);

fn shell() -> Shell {
    Shell::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

#[test]
fn people_72_on_a_terminal_it_says_what_it_waits_for_and_then_serves() {
    let shell = shell();
    let mut terminal = Pty::open(120, 30);
    let mut command = terminal.session(&shell.command(&[]));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(terminal.await_text(TEXT), "", "it comes first");
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    terminal.press(format!("{ping}\n").as_bytes());
    terminal.settled(Duration::from_millis(200));
    terminal.press(CTRL_D);
    assert_eq!(wait(&mut child).code(), Some(0), "{terminal:?}");
    let output = child.wait_with_output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let answer: Value = serde_json::from_str(&answers).unwrap();
    assert_eq!((&answer["id"], answer["result"].is_object()), (&json!(1), true), "{answers}");
}

#[test]
fn people_72_without_a_terminal_on_both_sides_it_says_nothing() {
    let shell = shell();
    let piped = shell.run(&[]).ends(0);
    assert!(!piped.err.contains("waits for an MCP client"), "{}", piped.err);
    // A person looks on, and a host sends: stdin decides, too.
    let terminal = Pty::open(120, 30);
    let mut child = shell.command(&[]).stderr(terminal.stream()).spawn().unwrap();
    assert_eq!(wait(&mut child).code(), Some(0));
    assert!(!terminal.closed().contains("waits for an MCP client"));
    // A log file takes stderr.
    let mut terminal = Pty::open(120, 30);
    let child = terminal.session(&shell.command(&[])).stderr(Stdio::piped()).spawn().unwrap();
    terminal.press(CTRL_D);
    let output = child.wait_with_output();
    let log = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(!log.contains("waits for an MCP client"), "{log}");
}
