//! How a run ends, and what it leaves.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{COLIBRI, ERAS, Era, Setup, Wrapped};
use colibri_test_support::client::{Launch, PATIENCE};
use colibri_test_support::engine;

/// Returns whether a process is there and not only a zombie.
fn lives(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap().stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}

fn gone_within(pid: &str, limit: Duration) {
    let began = Instant::now();
    while lives(pid) {
        assert!(began.elapsed() < limit, "process {pid} is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn written(path: &Path) -> String {
    let began = Instant::now();
    loop {
        if let Ok(text) = std::fs::read_to_string(path)
            && text.ends_with('\n')
        {
            return text.trim().to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{} is not written", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn wrap_29_a_call_that_is_never_answered_is_running_and_then_aborted() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        wrap.play(json!(1), json!([]));
        wrap.echo(json!(2));
        assert_eq!(wrap.endings(), ["running", "ok"]);
        wrap.play(json!(3), json!([{ "write": "{\"jsonrpc\":\"2.0\",\"id\":3,\"resu" }, { "exit": 0 }]));
        let half = wrap.line();
        assert_eq!(half, b"{\"jsonrpc\":\"2.0\",\"id\":3,\"resu\n");
        for id in [1, 3] {
            let answer = wrap.message();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)), "{answer}");
            assert_eq!(answer["error"]["data"]["code"], "WRAP_SERVER_ENDED");
        }
        let ended = ["aborted/WRAP_SERVER_ENDED", "ok", "aborted/WRAP_SERVER_ENDED"];
        assert_eq!(wrap.endings(), ended);
        assert_eq!(wrap.server.wait().code(), 0);
    }
}

#[test]
fn wrap_30_the_exit_code_is_the_servers_own() {
    for (steps, code) in [(json!([{ "exit": 3 }]), 3), (json!([{ "die": "SEGV" }]), 139)] {
        let mut wrap = Wrapped::new(Era::Handshake);
        wrap.play(json!(1), steps);
        assert_eq!(wrap.message()["id"], json!(1));
        assert_eq!(wrap.server.wait().code(), code);
    }
    let folder = Launch::new(COLIBRI);
    let script = folder.folder().path().join("script");
    std::fs::write(&script, "no program").unwrap();
    for (command, code, words) in
        [("no-such-program", 127, "not found"), (script.to_str().unwrap(), 126, "not executable")]
    {
        let launch = Launch::new(COLIBRI).in_folder(folder.folder());
        let ended = launch.arg("wrap").arg("--name").arg("x").arg("--").arg(command).start().wait();
        assert_eq!(ended.code(), code, "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("cannot start {command:?}: {words}")), "{}", ended.stderr);
        // The code is the same where the client's end comes first.
        let launch = Launch::new(COLIBRI).in_folder(folder.folder());
        let mut launch = launch.arg("wrap").arg("--name").arg("x").arg("--").arg(command).command();
        assert_eq!(launch.stdin(Stdio::null()).status().unwrap().code(), Some(code));
    }
}

#[test]
fn wrap_31_a_greeting_that_is_not_answered_had_no_effect() {
    let launch = Launch::new(COLIBRI).arg("wrap").arg("--name").arg("x").arg("--");
    let mut server = launch.arg("sh").arg("-c").arg("read -r line; exit 127").start();
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }));
    let answer = server.receive();
    assert_eq!(answer["error"]["message"], "x ended (exit code 127) before it answered", "{answer}");
    assert_eq!(server.wait().code(), 127);
}

#[test]
fn wrap_31_calls_in_flight_are_answered_when_the_server_ends_or_closes_its_output() {
    for era in ERAS {
        for (last, how) in
            [(json!({ "exit": 3 }), "exit code 3"), (json!({ "close_output": null }), "closed its output")]
        {
            let mut wrap = Wrapped::new(era);
            let pid = wrap.server.folder().join("pid");
            // A grandchild keeps the output open, so that only the end of the server itself is seen.
            let begun = if how == "closed its output" { json!([]) } else { json!([{ "grandchild": pid }]) };
            wrap.play(json!(1), begun.clone());
            let grandchild = if begun == json!([]) { None } else { Some(written(&pid)) };
            wrap.play(json!(2), json!([]));
            wrap.play(json!(3), json!([{ "stay": null }, last, { "sleep": 60_000 }]));
            for id in 1..=3 {
                let answer = wrap.message();
                assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)));
                let text = answer["error"]["message"].as_str().unwrap();
                assert!(text.starts_with("odd ended (") && text.contains(how), "{text}");
            }
            assert_eq!(wrap.endings(), ["aborted/WRAP_SERVER_ENDED"; 3]);
            let row = wrap.rows().remove(0);
            assert!(row.message.unwrap().contains(how));
            if let Some(grandchild) = grandchild {
                gone_within(&grandchild, Duration::from_secs(2));
            }
            wrap.server.wait();
        }
    }
}

#[test]
fn wrap_32_a_server_gets_time_to_end_once_its_client_has() {
    let mut wrap = Wrapped::new(Era::Handshake);
    wrap.echo(json!(1));
    wrap.server.close_stdin();
    assert_eq!(wrap.server.wait().code(), 0);
    let mut wrap = Wrapped::new(Era::Handshake);
    wrap.play(json!(1), json!([{ "stay": null }, { "write": super::result("stays") + "\n" }]));
    assert_eq!(wrap.message()["id"], json!(1));
    let began = Instant::now();
    wrap.server.close_stdin();
    assert_eq!(wrap.server.wait().code(), 1);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn wrap_33_a_signal_ends_the_whole_group() {
    for era in ERAS {
        let mut wrap = Setup::new(era).env("COLIBRI_LOG_LEVEL", "info").start();
        let pid = wrap.server.folder().join("pid");
        wrap.play(json!(1), json!([{ "stay": null }, { "grandchild": pid }]));
        let grandchild = written(&pid);
        wrap.server.signal("TERM");
        let began = Instant::now();
        let (folder, sql) = (wrap.server.shared_folder(), wrap.server.sql());
        let ended = wrap.server.wait();
        let took = began.elapsed();
        assert_eq!(ended.code(), 1, "a server that stays has to be killed; {took:?}: {}", ended.stderr);
        // The group is killed 1.5 s after the signal; the rest is for a busy machine.
        assert!(took < Duration::from_secs(4), "{took:?}");
        gone_within(&grandchild, Duration::from_millis(500));
        let code: String = sql
            .query_row("SELECT error_code FROM actions WHERE tool = 'odd/play'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(code, "WRAP_STOPPED");
        drop(folder);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn wrap_34_a_killed_wrap_takes_its_server_along_and_the_next_start_closes_the_rows() {
    for era in ERAS {
        let mut wrap = Setup::new(era).env("COLIBRI_DATABASE_LEASE_SECONDS", "5").start();
        wrap.play(json!(1), json!([{ "stay": null }]));
        wrap.await_read("\"id\":1");
        let children =
            Command::new("ps").args(["-o", "pid=", "--ppid", &wrap.server.pid().to_string()]).output();
        let child = String::from_utf8(children.unwrap().stdout).unwrap().trim().to_owned();
        assert!(lives(&child), "{child}");
        let folder = wrap.server.shared_folder();
        wrap.server.kill();
        gone_within(&child, Duration::from_secs(1));
        // In a shared database a process counts as dead once its lease has ended.
        let began = Instant::now();
        loop {
            let mut wrap = Setup::new(era).start_in(Launch::new(COLIBRI).in_folder(folder.clone()));
            wrap.echo(json!("started"));
            let endings = wrap.endings();
            if endings[0] == "aborted/PROCESS_ABORTED" {
                break;
            }
            assert!(engine::is_postgres() && began.elapsed() < PATIENCE, "{endings:?}");
            std::thread::sleep(Duration::from_millis(500));
        }
    }
}

#[test]
fn wrap_36_without_a_database_to_write_nothing_is_started() {
    for mode in ["READONLY", "MINIMAL"] {
        let launch = Launch::new(COLIBRI).env("COLIBRI_MODE", mode);
        let folder = launch.folder();
        let touched = folder.path().join("touched");
        let ended =
            launch.arg("wrap").arg("--name").arg("x").arg("--").arg("touch").arg(&touched).start().wait();
        assert_eq!(ended.code(), 2);
        let expected =
            format!("colibri: wrap records calls and needs COLIBRI_MODE=FULL or TEST; it is {mode}\n");
        assert_eq!(ended.stderr, expected);
        assert!(!touched.exists() && !folder.path().join("colibri.db").exists());
    }
    let launch = Launch::new(COLIBRI);
    let folder = launch.folder();
    let (touched, broken) = (folder.path().join("touched"), folder.path().join("broken.db"));
    std::fs::write(&broken, "no database, and long enough to be read as one".repeat(100)).unwrap();
    let launch = launch.env("COLIBRI_DB_PATH", &broken);
    let ended = launch.arg("wrap").arg("--name").arg("x").arg("--").arg("touch").arg(&touched).start().wait();
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    assert!(!touched.exists());
}

#[test]
fn wrap_58_a_signal_ends_a_check_with_the_whole_group() {
    for signal in ["TERM", "INT", "HUP"] {
        let launch = Launch::new(COLIBRI);
        let folder = launch.folder();
        let pid = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; exec sleep 600", pid.display());
        let launch = ["wrap", "--check", "--name", "x", "--", "sh", "-c", &script]
            .into_iter()
            .fold(launch, Launch::arg);
        let check = launch.start();
        let grandchild = written(&pid);
        check.signal(signal);
        assert_ne!(check.wait().code(), 0);
        gone_within(&grandchild, PATIENCE);
    }
}
