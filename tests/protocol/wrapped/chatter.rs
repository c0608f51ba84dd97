//! What a wrapped server says on stderr: it stops neither the server nor `wrap`, and a host that reads it misses nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::Launch;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{COLIBRI, ODD};

/// How many calls each run makes, of which each says more than 100 bytes. `COLIBRI_UNREAD_CALLS` takes another number.
fn calls() -> u64 {
    std::env::var("COLIBRI_UNREAD_CALLS").map_or(900, |calls| calls.parse().unwrap())
}

/// How long one SIGTERM may take.
const END: Duration = Duration::from_secs(3);

fn launch(level: &str) -> Launch {
    let options = ["wrap", "--name", "odd", "--pin", "off", "--", ODD];
    let launch = options.iter().fold(Launch::new(COLIBRI), |launch, option| launch.arg(option));
    launch.env("COLIBRI_LOG_LEVEL", level)
}

fn start(launch: &Launch, stderr: impl Into<Stdio>) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut command = launch.command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    (child, stdin, stdout)
}

fn said(id: u64) -> String {
    format!("{id:0>120}\n")
}

/// A call during which the server says something on stderr before it answers.
fn chat(id: u64) -> String {
    let reply = "{\"jsonrpc\":\"2.0\",\"id\":${id},\"result\":{\"content\":[]}}\n";
    let steps = json!([{ "stderr": said(id) }, { "write": reply }]);
    let params = json!({ "name": "play", "arguments": { "steps": steps } });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
}

#[test]
fn a_chatty_server_whose_stderr_is_never_read_answers_and_ends() {
    for level in ["warn", "debug"] {
        let (_unread, stderr) = std::io::pipe().unwrap();
        let launch = launch(level);
        let (mut child, mut stdin, mut stdout) = start(&launch, stderr);
        let mut line = String::new();
        for id in 0..calls() {
            stdin.write_all(chat(id).as_bytes()).unwrap();
            line.clear();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "call {id} at {level}");
        }
        kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < END, "still there at {level}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_host_that_reads_slowly_misses_nothing_that_the_server_says() {
    let (mut read, stderr) = std::io::pipe().unwrap();
    let launch = launch("warn");
    let (mut child, mut stdin, stdout) = start(&launch, stderr);
    let reading = std::thread::spawn(move || {
        let (mut text, mut chunk) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = read.read(&mut chunk) {
            text.extend_from_slice(&chunk[..length]);
            std::thread::sleep(Duration::from_millis(2));
        }
        String::from_utf8(text).unwrap()
    });
    let calls = calls();
    let answers = std::thread::spawn(move || stdout.lines().count() as u64);
    stdin.write_all((0..calls).map(chat).collect::<String>().as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(answers.join().unwrap(), calls);
    assert!(child.wait().unwrap().success());
    assert_eq!(reading.join().unwrap(), (0..calls).map(said).collect::<String>());
}
