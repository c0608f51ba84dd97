//! A7 to A10: replies that cannot be written, limits of the process, and what an interrupted command leaves.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, envelope, response};
use colibri_test_support::engine;
use serde_json::json;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(PROGRAM).in_folder(folder.clone())
}

fn request(id: u32) -> String {
    let params = json!({ "name": "task_create", "arguments": { "title": format!("task {id}") } });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
}

/// Runs the server through a shell that sets a limit first; the calls are its input.
fn limited(folder: &TempDir, limit: &str, input: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("{limit} && exec \"$0\""), PROGRAM]).current_dir(folder.path());
    command.env("COLIBRI_DB_PATH", folder.path().join("colibri.db"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash is installed");
    // A server that does not start reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn finding_a7_replies_that_cannot_be_written_are_a_failure_with_words() {
    let folder = Arc::new(TempDir::new().unwrap());
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    for stdout in [Stdio::from(full), Stdio::from(closed)] {
        let mut command = launch(&folder).command();
        let mut child = command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(request(1).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("replies are lost, since they cannot be written: "), "{said}");
    }
}

#[test]
fn finding_a7_a_client_that_has_read_its_replies_may_go_first() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut server = launch(&folder).start();
    server.data("task_create", json!({ "title": "answered" }));
    assert_eq!(server.finish().code(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn finding_a8_a_limit_on_the_length_of_files_undoes_the_batch_and_not_the_server() {
    let folder = TempDir::new().unwrap();
    // The new database takes about 220 KiB. The log grows by pages of 2 KiB and is not copied before it has 4 MiB.
    let calls: String = (0..400).map(request).collect();
    let output = limited(&folder, "ulimit -f 600", &calls);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.code().is_some(), "no signal ends it: {err}");
    let is_done = |line: &&str| envelope(&response(line.as_bytes()))["ok"] == true;
    let (done, refused): (Vec<&str>, Vec<&str>) = out.lines().partition(is_done);
    assert_eq!(done.len() + refused.len(), 400, "{err}");
    assert!(!done.is_empty() && !refused.is_empty(), "{} of 400: {err}", done.len());
    let stored: usize = engine::open(folder.path().join("colibri.db"))
        .query_row("SELECT count(*) FROM tasks", [], |row| row.get::<_, i64>(0))
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(stored, done.len());
}

#[cfg(target_os = "linux")]
#[test]
fn finding_a8_too_few_file_descriptors_are_an_error_with_words() {
    let folder = TempDir::new().unwrap();
    for descriptors in [6, 7, 8, 12, 20] {
        let output = limited(&folder, &format!("ulimit -n {descriptors}"), &request(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{descriptors}: {said}");
        assert!(
            said.contains("file descriptors are left") && said.contains("ulimit -n"),
            "{descriptors}: {said}"
        );
        assert!(!said.contains("panicked"), "{descriptors}: {said}");
    }
    assert!(!folder.path().join("colibri.db").exists());
    let output = limited(&folder, "ulimit -n 64", &request(1));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn no_thread_of_a_command_panics_where_few_file_descriptors_are_left() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut server = launch(&folder).start();
    server.data("task_create", json!({ "title": "A" }));
    assert_eq!(server.finish().code(), 0);
    for descriptors in [4, 5, 6, 7, 8, 10, 14, 20] {
        for command in ["verify", "backup copy.db", "tasks"] {
            let script = format!("ulimit -n {descriptors} && exec \"$0\" {command}");
            let plain = launch(&folder).command();
            let mut limited = Command::new("bash");
            limited.args(["-c", &script, PROGRAM]).current_dir(folder.path());
            limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let output = limited.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("panicked"), "{descriptors}, {command}: {said}");
            let _ = std::fs::remove_file(folder.path().join("copy.db"));
        }
    }
}

/// A database that takes long enough to copy to be interrupted.
fn large() -> Arc<TempDir> {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut server = launch(&folder).start();
    server.data("task_create", json!({ "title": "kept" }));
    assert_eq!(server.finish().code(), 0);
    let conn = engine::open(folder.path().join("colibri.db"));
    conn.execute_batch(
        "CREATE TABLE filler (b); INSERT INTO filler VALUES (zeroblob(150000000)); DROP TABLE filler",
    )
    .unwrap();
    let _: i64 = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    folder
}

fn left(folder: &Path) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("copy")).collect()
}

#[cfg(unix)]
#[test]
fn finding_a10_an_interrupted_backup_leaves_nothing_and_the_next_one_takes_over_what_was_killed() {
    let folder = large();
    let backup = || {
        let mut command = launch(&folder).arg("backup").arg("copy.db").command();
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for (signal, stays) in [("INT", false), ("TERM", false), ("KILL", true)] {
        let mut child = backup();
        let part = folder.path().join(format!("copy.db.colibri-part-{}", child.id()));
        let began = Instant::now();
        while !std::fs::metadata(&part).is_ok_and(|found| found.len() > 0) {
            assert!(began.elapsed() < Duration::from_secs(60), "no copy begins");
            std::thread::sleep(Duration::from_micros(200));
        }
        if signal == "KILL" {
            // Who writes to the same name beside it is told so.
            let other = backup().wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&other.stderr).into_owned();
            assert!(!other.status.success() && said.contains("another command is writing"), "{said}");
        }
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert!(!status.success());
        assert_eq!(part.exists(), stays, "{signal}");
        assert!(stays || left(folder.path()).is_empty(), "{signal}: {:?}", left(folder.path()));
    }
    assert!(backup().wait().unwrap().success());
    assert_eq!(left(folder.path()), ["copy.db"]);
    assert!(File::open(folder.path().join("copy.db")).unwrap().metadata().unwrap().len() > 0);
}

#[cfg(target_os = "linux")]
#[test]
fn finding_a8_doctor_counts_the_file_descriptors_as_a_start_does() {
    let folder = TempDir::new().unwrap();
    for (descriptors, code) in [(6, 1), (7, 1), (8, 1), (12, 1), (20, 1), (64, 0)] {
        let mut command = Command::new("bash");
        command.args(["-c", &format!("ulimit -n {descriptors} && exec \"$0\" doctor"), PROGRAM]);
        let output =
            command.current_dir(folder.path()).stdin(Stdio::null()).output().expect("bash is installed");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{descriptors}: {said}");
        let told = said.contains("file descriptors are left") && said.contains("ulimit -n");
        assert_eq!(told, code == 1, "{descriptors}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn finding_a8_the_log_names_the_code_of_a_failed_commit_once() {
    // Which step of a call meets the limit depends on the sizes of batches.
    let failed = [600, 500, 700, 400, 800].map(failed_commits_under).concat();
    assert!(!failed.is_empty());
    assert!(failed.iter().all(|line| line.matches("STORE_COMMIT_FAILED").count() == 1), "{failed:#?}");
}

/// The lines of the log that tell of failed commits, after a run with files of at most so many KiB.
#[cfg(target_os = "linux")]
fn failed_commits_under(limit: u32) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let calls: String = (0..400).map(request).collect();
    limited(&folder, &format!("ulimit -f {limit}"), &calls);
    // What could not be closed under the limit is closed by the next start.
    limited(&folder, "true", &request(1));
    let mut command = Command::new(PROGRAM);
    command.args(["log", "--limit", "1000"]).env("COLIBRI_DB_PATH", folder.path().join("colibri.db"));
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    told.lines().filter(|line| line.contains("STORE_COMMIT_FAILED")).map(str::to_owned).collect()
}
