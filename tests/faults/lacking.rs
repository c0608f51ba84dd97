//! What the machine lacks is never the file's fault.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use colibri_test_support::client::Launch;
use colibri_test_support::sqlite_only;
use serde_json::json;

const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");
/// Less address space than a start needs, and more than a verification of a small file does; both in KiB.
const TOO_LITTLE: u64 = 38 << 10;
const ENOUGH: u64 = 400 << 10;
const STEP: u64 = 1 << 9;
/// Which limit is enough differs between runs, so that several are made around it.
const SOUND_RUNS: u32 = 6;
/// A run ends within a second. One that takes this long never ends.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn little_memory_is_not_told_as_a_broken_file() {
    sqlite_only!("PostgreSQL reads the pages in another process");
    let mut server = Launch::new(PROGRAM).start();
    for title in ["a", "b", "c"] {
        server.data("task_create", json!({ "title": title }));
    }
    let folder = server.shared_folder();
    server.finish();
    let (mut undecided, mut sound, mut space) = (0, 0, TOO_LITTLE);
    while space < ENOUGH && sound < SOUND_RUNS {
        for arguments in ["verify", "backup copy.db"] {
            let _ = fs::remove_file(folder.path().join("copy.db"));
            let (status, text) = run_within(space, arguments, folder.path());
            for word in ["UNREADABLE", "ot sound", "broken", "any file that Colibri writes"] {
                assert!(!text.contains(word), "{arguments} in {space} KiB: {text}");
            }
            if arguments == "verify" {
                undecided += u32::from(text.contains("too little memory") || text.contains("out of memory"));
                sound += u32::from(status.success());
            }
        }
        space += STEP;
    }
    assert!(
        sound == SOUND_RUNS && undecided > 0,
        "{sound} runs were enough, {undecided} said what is missing"
    );
}

/// Runs a command with this much address space, and returns how it ended and what it said. A backtrace needs memory, too.
fn run_within(space: u64, arguments: &str, folder: &Path) -> (ExitStatus, String) {
    let limited = format!("ulimit -v {space}; exec \"$0\" {arguments} >said 2>&1");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &limited, PROGRAM]).current_dir(folder).stdin(Stdio::null());
    let mut child = shell.env("COLIBRI_DB_PATH", "colibri.db").env("RUST_BACKTRACE", "1").spawn().unwrap();
    let begun = Instant::now();
    loop {
        let said = || String::from_utf8_lossy(&fs::read(folder.join("said")).unwrap()).into_owned();
        if let Some(status) = child.try_wait().unwrap() {
            return (status, said());
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{arguments} in {space} KiB does not end; it said: {}", said());
        }
        thread::sleep(Duration::from_millis(2));
    }
}
