//! A person at a terminal: the line discipline echoes what is typed and hands over whole lines.

use std::process::Stdio;

use colibri_test_support::client::response;
use colibri_test_support::pty::{CTRL_D, Pty};
use rustix::termios::LocalModes;
use serde_json::{Value, json};

use crate::stdio::run::{call, exit_code, launch, spawn};

fn terminal() -> Pty {
    let terminal = Pty::open(80, 24);
    let (_, _, modes) = terminal.modes();
    assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
    terminal
}

#[test]
fn a_terminal_is_answered_line_by_line() {
    let mut terminal = terminal();
    let launch = launch();
    let mut child = spawn(&launch, terminal.stream(), terminal.stream(), Stdio::null());
    for id in 0..3 {
        terminal.press(call(id, "task_create", json!({ "title": "typed" })).as_bytes());
        let echo: Value = serde_json::from_str(&terminal.await_text("\n")).unwrap();
        assert_eq!(echo["method"], "tools/call", "what was typed is echoed first");
        let reply = response(terminal.await_text("\n").as_bytes());
        assert_eq!(reply["id"], json!(id));
        assert_eq!(reply["result"]["structuredContent"]["data"]["title"], "typed");
    }
    terminal.press(CTRL_D);
    assert_eq!(exit_code(&mut child), 0);
}

#[test]
fn a_terminal_that_nobody_types_at_does_not_hold_up_a_signal() {
    let terminal = terminal();
    let server = launch().stdin(terminal.stream()).start();
    server.await_stderr("Phase 2 ready");
    server.signal("TERM");
    let ended = server.wait();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}
