//! A person at a terminal: the line discipline echoes what is typed and hands over whole lines.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};

use colibri_test_support::client::{PATIENCE, response};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, isatty, tcgetattr};
use serde_json::{Value, json};

use crate::stdio::run::{call, exit_code, launch, spawn};

/// Ctrl-D on an empty line: the end of input.
const END: &[u8] = b"\x04";

/// Opens both ends of a pseudo terminal: the person's and the process's.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let process = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(OsStr::from_bytes(name.as_bytes()))
        .unwrap();
    let modes = tcgetattr(&process).unwrap().local_modes;
    assert!(isatty(&process) && modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
    (File::from(person), process)
}

/// Returns what appears on the screen, line by line.
fn screen(person: &File) -> Receiver<String> {
    let (sender, lines) = channel();
    let reader = BufReader::new(person.try_clone().unwrap());
    std::thread::spawn(move || {
        // The end of a terminal shows as an error once no process has it open.
        for line in reader.lines().map_while(Result::ok) {
            let _ = sender.send(line.trim_end_matches('\r').to_owned());
        }
    });
    lines
}

#[test]
fn a_terminal_is_answered_line_by_line() {
    let (mut person, process) = terminal();
    let lines = screen(&person);
    let launch = launch();
    let (stdin, stdout) = (process.try_clone().unwrap(), process);
    let mut child = spawn(&launch, stdin.into(), stdout.into(), Stdio::null());
    for id in 0..3 {
        person.write_all(call(id, "task_create", json!({ "title": "typed" })).as_bytes()).unwrap();
        let echo: Value = serde_json::from_str(&lines.recv_timeout(PATIENCE).unwrap()).unwrap();
        assert_eq!(echo["method"], "tools/call", "what was typed is echoed first");
        let reply = response(lines.recv_timeout(PATIENCE).unwrap().as_bytes());
        assert_eq!(reply["id"], json!(id));
        assert_eq!(reply["result"]["structuredContent"]["data"]["title"], "typed");
    }
    person.write_all(END).unwrap();
    assert_eq!(exit_code(&mut child), 0);
}

#[test]
fn a_terminal_that_nobody_types_at_does_not_hold_up_a_signal() {
    let (_person, process) = terminal();
    let server = launch().stdin(process.into()).start();
    server.await_stderr("Phase 2 ready");
    server.signal("TERM");
    let ended = server.wait();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}
