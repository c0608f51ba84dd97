//! A1 to A4: the path leads to the file that the server has open, and restoring has a command.
//!
//! What random acts do to files under servers at work is in the crash tests (`layer/displaced.rs`).

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::other_user::as_nobody;
use serde_json::json;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(PROGRAM).in_folder(folder.clone())
}

/// A command in that folder: its exit code, and all that it printed.
fn run(folder: &Arc<TempDir>, arguments: &[&str]) -> (Option<i32>, String) {
    let launch = arguments.iter().fold(launch(folder), Launch::arg);
    let Output { status, stdout, stderr } = launch.command().output().unwrap();
    (status.code(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

fn serving(folder: &Arc<TempDir>, titles: &[&str]) -> Server {
    let mut server = launch(folder).start();
    for title in titles {
        server.data("task_create", json!({ "title": title }));
    }
    server
}

fn database(folder: &TempDir) -> PathBuf {
    folder.path().join("colibri.db")
}

fn beside(folder: &TempDir, suffix: &str) -> PathBuf {
    folder.path().join(format!("colibri.db{suffix}"))
}

/// The titles that a new server finds.
fn titles(folder: &Arc<TempDir>) -> Vec<String> {
    let mut server = launch(folder).start();
    let listed = server.data("task_list", json!({ "limit": 100 }));
    assert_eq!(server.finish().code(), 0);
    let tasks = listed["tasks"].as_array().expect("tasks");
    tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

/// A folder with a backup `backup.db` that holds one task.
fn with_backup() -> Arc<TempDir> {
    let folder = Arc::new(TempDir::new().unwrap());
    assert_eq!(serving(&folder, &["in the backup"]).finish().code(), 0);
    assert_eq!(run(&folder, &["backup", "backup.db"]).0, Some(0));
    folder
}

/// The same, and a server was killed on it after three more calls, which are in the log alone.
fn with_backup_and_log() -> Arc<TempDir> {
    let folder = with_backup();
    serving(&folder, &["later", "and later", "last"]).kill();
    assert!(std::fs::metadata(beside(&folder, "-wal")).unwrap().len() > 0);
    folder
}

fn copy_of(folder: &TempDir) -> Arc<TempDir> {
    let copy = TempDir::new().unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    Arc::new(copy)
}

const ALL: [&str; 4] = ["in the backup", "later", "and later", "last"];

#[test]
fn finding_a1_an_idle_server_whose_file_was_replaced_copies_nothing_and_says_so() {
    let folder = with_backup();
    let server = serving(&folder, &["acknowledged before"]);
    std::fs::rename(database(&folder), beside(&folder, ".away")).unwrap();
    std::fs::rename(folder.path().join("backup.db"), database(&folder)).unwrap();
    let before = std::fs::read(database(&folder)).unwrap();
    let ended = server.finish();
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("the database file was replaced, renamed or removed"), "{}", ended.stderr);
    assert_eq!(std::fs::read(database(&folder)).unwrap(), before);
    assert!(std::fs::metadata(beside(&folder, "-wal")).unwrap().len() > 0, "nothing is deleted");
}

#[test]
fn finding_a1_a_reply_after_the_file_was_removed_is_no_acknowledgement() {
    for durability in ["full", "normal"] {
        let mut server = Launch::new(PROGRAM).env("COLIBRI_DURABILITY", durability).start();
        server.data("task_create", json!({ "title": "before" }));
        std::fs::remove_file(server.database()).unwrap();
        let reply = server.call("task_create", json!({ "title": "after" }));
        let message = reply["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.starts_with("STORE_COMMIT_FAILED: the database file was replaced"), "{reply}");
        assert_eq!(server.wait().code(), 1);
    }
}

#[test]
fn finding_a1_a_readonly_server_does_not_go_on_with_a_file_that_was_replaced() {
    let folder = with_backup();
    let mut server = launch(&folder).env("COLIBRI_MODE", "READONLY").start();
    server.data("task_list", json!({}));
    std::fs::rename(folder.path().join("backup.db"), database(&folder)).unwrap();
    assert_eq!(server.call("task_list", json!({}))["ok"], false);
    assert_eq!(server.wait().code(), 1);
}

#[test]
fn finding_a2_no_server_starts_while_another_one_lives_on_the_replaced_file() {
    let folder = with_backup();
    let mut old = serving(&folder, &["acknowledged before"]);
    std::fs::rename(folder.path().join("backup.db"), database(&folder)).unwrap();
    let named = format!("process {} on host ", old.pid());
    for command in [&["call", "task_list"] as &[&str], &["verify"], &["log"]] {
        let (code, said) = run(&folder, command);
        assert_ne!(code, Some(0), "{command:?}: {said}");
        assert!(said.contains(&named) && said.contains("stop that process"), "{command:?}: {said}");
    }
    assert_eq!(old.call("task_create", json!({ "title": "after" }))["ok"], false);
    assert_eq!(old.wait().code(), 1);
}

#[cfg(unix)]
#[test]
fn finding_a1_a_link_that_leads_elsewhere_since_is_no_way_to_the_file() {
    use std::os::unix::fs::symlink;
    let folder = Arc::new(TempDir::new().unwrap());
    let (link, path) = (folder.path().join("current"), folder.path().join("current/colibri.db"));
    for version in ["first", "second"] {
        std::fs::create_dir(folder.path().join(version)).unwrap();
    }
    symlink("first", &link).unwrap();
    let mut server = launch(&folder).env("COLIBRI_DB_PATH", &path).start();
    server.data("task_create", json!({ "title": "before" }));
    std::fs::remove_file(&link).unwrap();
    symlink("second", &link).unwrap();
    assert_eq!(server.call("task_create", json!({ "title": "after" }))["ok"], false);
    assert_eq!(server.wait().code(), 1);
}

#[test]
fn finding_a2_a_log_of_another_file_is_never_applied() {
    let folder = with_backup_and_log();
    std::fs::rename(folder.path().join("backup.db"), database(&folder)).unwrap();
    let files =
        || (std::fs::read(database(&folder)).unwrap(), std::fs::read(beside(&folder, "-wal")).unwrap());
    let before = files();
    for command in [&["call", "task_list"] as &[&str], &["verify"], &["log"], &["backup", "copy.db"]] {
        let (code, said) = run(&folder, command);
        assert_ne!(code, Some(0), "{command:?}: {said}");
        assert!(
            said.contains("belongs to another file") && said.contains("colibri restore"),
            "{command:?}: {said}"
        );
        assert!(before == files(), "{command:?} has changed a file");
    }
    // What the message says leads on.
    std::fs::rename(database(&folder), folder.path().join("renamed.db")).unwrap();
    let (code, said) = run(&folder, &["restore", "renamed.db"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(titles(&folder), ["in the backup"]);
}

#[test]
fn finding_a2_database_and_log_that_were_copied_together_belong_together() {
    let folder = copy_of(&with_backup_and_log());
    assert_eq!(titles(&folder), ALL);
}

#[test]
fn finding_a3_a_restore_keeps_what_was_there_with_its_log() {
    let folder = with_backup_and_log();
    let (code, said) = run(&folder, &["restore", "backup.db"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(titles(&folder), ["in the backup"]);
    assert_eq!(run(&folder, &["verify"]).0, Some(0));

    let kept =
        said.lines().find_map(|line| line.strip_prefix("kept: the previous file is now ")).expect(&said);
    let told = said.lines().find_map(|line| line.split_once("; colibri ")).expect(&said);
    assert!(told.0.starts_with("It has ") && told.0.ends_with(" calls more than the backup"), "{said}");
    let typed: Vec<&str> = told.1.strip_suffix(" prints them.").unwrap().split(' ').collect();
    let (code, log) = run(&folder, &typed);
    assert_eq!((code, log.matches("task_create").count()), (Some(0), ALL.len() - 1), "{log}");
    let mut old = launch(&folder).env("COLIBRI_DB_PATH", kept).start();
    let listed = old.data("task_list", json!({ "limit": 100 }));
    assert_eq!(listed["tasks"].as_array().unwrap().len(), ALL.len());
    assert_eq!(old.finish().code(), 0);
    assert!(folder.path().join("backup.db").exists(), "the backup stays");
}

#[test]
fn finding_a3_a_restore_is_refused_while_the_file_is_used_or_the_backup_is_not_sound() {
    let folder = with_backup();
    let server = serving(&folder, &["later"]);
    let (code, said) = run(&folder, &["restore", "backup.db"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("process {} on host ", server.pid())), "{said}");
    assert_eq!(server.finish().code(), 0);

    // A reader of any kind uses the file too.
    let reader = engine::open(database(&folder));
    let _: i64 = reader.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
    let (code, said) = run(&folder, &["restore", "backup.db"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("another program has the database open"), "{said}");
    drop(reader);

    engine::open(folder.path().join("backup.db"))
        .execute_batch("UPDATE tasks SET title = 'forged'; PRAGMA journal_mode = DELETE")
        .unwrap();
    let (code, said) = run(&folder, &["restore", "backup.db"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("is not sound, so nothing was restored"), "{said}");
    assert_eq!(run(&folder, &["restore", "colibri.db"]).0, Some(2), "the database itself");
    assert_eq!(run(&folder, &["restore", "missing.db"]).0, Some(2));
    assert_eq!(titles(&folder), ["in the backup", "later"]);
}

/// `--db` is the file that a restore replaces, so that no message may lead there.
#[test]
fn finding_a3_what_is_no_backup_is_called_so() {
    let folder = with_backup();
    std::fs::write(folder.path().join("text.db"), "no database at all, ".repeat(100)).unwrap();
    std::fs::write(folder.path().join("empty.db"), "").unwrap();
    rusqlite::Connection::open(folder.path().join("foreign.db"))
        .unwrap()
        .execute_batch("CREATE TABLE t (n)")
        .unwrap();
    for (name, expected) in [
        ("none.db", "there is no backup at none.db; name a backup file"),
        (".", ". is not a file; name a backup file"),
        ("empty.db", "empty.db is empty and not a backup; name a backup file"),
        ("text.db", "text.db is not a backup of a Colibri database; name a backup file"),
        ("foreign.db", "foreign.db is not a backup of a Colibri database; name a backup file"),
    ] {
        let (code, said) = run(&folder, &["restore", name]);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains(expected) && !said.contains("--db"), "{name}: {said}");
    }
    assert_eq!(titles(&folder), ["in the backup"]);
}

#[test]
fn finding_a3_a_restore_by_another_user_says_who_may() {
    let folder = with_backup();
    // The command may read the backup as any user, and write nothing beside the database.
    for (path, mode) in [(".", 0o755), ("backup.db", 0o644), ("colibri.db.queue", 0o000)] {
        std::fs::set_permissions(folder.path().join(path), Permissions::from_mode(mode)).unwrap();
    }
    let command = launch(&folder).arg("restore").arg("backup.db").command();
    let output = as_nobody(&command).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("write queue: ") && said.contains("; run the command as the owner of "), "{said}");
}

#[test]
fn finding_a3_a_restore_needs_no_database_to_replace() {
    let folder = with_backup();
    let (code, said) = run(&folder, &["restore", "backup.db", "--db", "new/place.db"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("kept:"), "{said}");
    let (code, said) = run(&folder, &["verify", "--db", "new/place.db"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn finding_a3_a_restore_that_is_killed_is_whole_or_not_done() {
    let prepared = with_backup_and_log();
    let began = Instant::now();
    assert_eq!(run(&copy_of(&prepared), &["restore", "backup.db"]).0, Some(0));
    let whole = began.elapsed();
    let (mut done, mut not_done) = (0, 0);
    for part in 0..24_u32 {
        let folder = copy_of(&prepared);
        let mut command = launch(&folder).arg("restore").arg("backup.db").command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * (part + 8) / 32);
        let _ = child.kill();
        child.wait().unwrap();
        match titles(&folder) {
            all if all == ALL => not_done += 1,
            all if all == ALL[..1] => done += 1,
            other => panic!("{other:?} after a kill at {part} of 24"),
        }
        assert_eq!(run(&folder, &["verify"]).0, Some(0));
    }
    assert!(done + not_done == 24);
}

/// The moment that a kill rarely meets: names are exchanged, and the log still has both of its names.
#[test]
fn finding_a3_the_next_start_finishes_a_restore_that_was_killed_between_its_last_steps() {
    let folder = with_backup_and_log();
    std::fs::hard_link(beside(&folder, "-wal"), beside(&folder, ".replaced-1-log")).unwrap();
    std::fs::rename(database(&folder), beside(&folder, ".replaced-1")).unwrap();
    std::fs::rename(folder.path().join("backup.db"), database(&folder)).unwrap();
    for command in [&["verify"][..], &["verify", "--db", "colibri.db.replaced-1"]] {
        let (code, said) = run(&folder, command);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains("a restore of")
                && said.contains("colibri.db was interrupted; start a server on it"),
            "{said}"
        );
    }
    assert_eq!(titles(&folder), ["in the backup"]);
    assert!(!beside(&folder, ".replaced-1-log").exists());
    let mut old = launch(&folder).env("COLIBRI_DB_PATH", beside(&folder, ".replaced-1")).start();
    let listed = old.data("task_list", json!({ "limit": 100 }));
    assert_eq!(listed["tasks"].as_array().unwrap().len(), ALL.len(), "its log is its own again");
    assert_eq!(old.finish().code(), 0);
}

/// Killed before the exchange; then a person puts another file in the place by hand.
#[test]
fn finding_a3_a_log_that_a_killed_restore_had_named_twice_is_refused_beside_another_file() {
    let folder = with_backup_and_log();
    std::fs::copy(folder.path().join("backup.db"), beside(&folder, ".replaced-1")).unwrap();
    std::fs::hard_link(beside(&folder, "-wal"), beside(&folder, ".replaced-1-log")).unwrap();
    std::fs::rename(folder.path().join("backup.db"), database(&folder)).unwrap();
    let (code, said) = run(&folder, &["call", "task_list"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("belongs to another file"), "{said}");
    assert!(beside(&folder, "-wal").exists());
}

#[test]
fn finding_a4_a_file_with_two_names_is_refused() {
    let folder = with_backup();
    std::fs::hard_link(database(&folder), folder.path().join("other.db")).unwrap();
    for name in ["colibri.db", "other.db"] {
        // By a command, since a server may have ended before a test can call it.
        let launch = launch(&folder).env("COLIBRI_DB_PATH", folder.path().join(name));
        let Output { status, stdout, stderr } =
            launch.arg("call").arg("task_list").command().output().unwrap();
        let said = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
        assert!(said.contains("has 2 names (hard links)") && said.contains("symbolic link"), "{said}");
        assert_eq!(status.code(), Some(1), "{said}");
    }
    assert_eq!(run(&folder, &["verify", "--db", "other.db"]).0, Some(1));
    std::fs::remove_file(folder.path().join("other.db")).unwrap();
    assert_eq!(titles(&folder), ["in the backup"]);
}

#[cfg(target_os = "linux")]
#[test]
fn finding_a4_a_file_that_is_itself_a_mount_point_is_refused() {
    let folder = with_backup();
    let mounted = folder.path().join("mounted.db");
    std::fs::write(&mounted, "").unwrap();
    let script = r#"mount --bind "$1" "$2" && COLIBRI_DB_PATH="$2" exec "$3" call task_list"#;
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script, "sh"])
        .args([database(&folder).as_path(), &mounted, Path::new(PROGRAM)])
        .output()
        .expect("unshare, of util-linux, is installed");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("is itself a mount point") && said.contains("mount the directory"), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

#[test]
fn finding_a1_a_file_that_a_foreign_program_has_compacted_is_still_the_same() {
    let folder = with_backup();
    let mut server = serving(&folder, &["before"]);
    let foreign = engine::open(database(&folder));
    foreign
        .execute_batch(
            "CREATE TABLE filler (b); INSERT INTO filler VALUES (zeroblob(1000000)); DROP TABLE filler",
        )
        .unwrap();
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    foreign.query_row(checkpoint, [], |_| Ok(())).unwrap();
    server.data("task_create", json!({ "title": "at full length" }));
    let long = std::fs::metadata(database(&folder)).unwrap().len();
    foreign.execute_batch("VACUUM").unwrap();
    foreign.query_row(checkpoint, [], |_| Ok(())).unwrap();
    assert!(std::fs::metadata(database(&folder)).unwrap().len() < long);
    server.data("task_create", json!({ "title": "after" }));
    drop(foreign);
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(server.finish().code(), 0);
}
