//! What is not read: by a client that only writes, and by one that does not take the end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE};
use serde_json::{Value, json};

use super::{COLIBRI, ODD};

/// Starts a run whose output nothing reads by itself.
fn start(launch: &Launch, odd: &[&str]) -> Child {
    let mut command = launch.command();
    command.args(["wrap", "--name", "odd", "--pin", "off", "--", ODD]).args(odd);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// So many lines are refused: their answers take 20 MB.
const REFUSED: usize = 200_000;

#[test]
fn wrap_27_a_client_that_reads_no_answers_is_not_read_on() {
    let launch = Launch::new(COLIBRI);
    let mut run = start(&launch, &[]);
    let written = Arc::new(AtomicUsize::new(0));
    let (mut input, count) = (run.stdin.take().unwrap(), written.clone());
    let writer = std::thread::spawn(move || -> ChildStdin {
        let lines = b"x\n".repeat(1000);
        for _ in 0..REFUSED / 1000 {
            input.write_all(&lines).unwrap();
            count.fetch_add(1000, Ordering::Relaxed);
        }
        input
    });
    let (mut last, mut since, began) = (0, Instant::now(), Instant::now());
    while last == 0 || since.elapsed() < Duration::from_secs(1) {
        let now = written.load(Ordering::Relaxed);
        assert!(now < REFUSED && began.elapsed() < PATIENCE, "{now} refused lines were read");
        if now != last {
            (last, since) = (now, Instant::now());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut answers = BufReader::new(run.stdout.take().unwrap()).lines();
    for number in 0..REFUSED {
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["error"]["code"], -32700, "{number}");
    }
    drop(writer.join().unwrap());
    assert_eq!(run.wait().unwrap().code(), Some(0));
}

fn ended(run: &mut Child) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = run.try_wait().unwrap() {
            return status.code();
        }
        assert!(began.elapsed() < PATIENCE, "the run goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn await_file(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < PATIENCE, "{} is not there", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn wrap_33_a_run_ends_although_its_client_does_not_read_the_rest() {
    for signal in [Some("TERM"), Some("INT"), None] {
        let launch = Launch::new(COLIBRI);
        let done = launch.folder().path().join("done");
        // More than a pipe holds, and less than is read ahead.
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}\n", "x".repeat(1000));
        let steps = json!([{ "repeat": [line, 600] }, { "touch": done }, { "exit": 0 }]).to_string();
        let mut run = start(&launch, &["--start", &steps]);
        await_file(&done);
        match signal {
            Some(name) => {
                let pid = run.id().to_string();
                assert!(Command::new("kill").args([&format!("-{name}"), &*pid]).status().unwrap().success());
            }
            None => drop(run.stdin.take()),
        }
        assert!(ended(&mut run).is_some(), "{signal:?}");
    }
}
