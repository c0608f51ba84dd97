//! `colibri backup`: a copy taken while others write holds everything that was acknowledged before, is sound,
//! stands alone, and serves; what cannot be made leaves nothing behind.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use colibri_test_support::client::Launch;
use colibri_test_support::engine;
use serde_json::json;
use tempfile::TempDir;

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(folder.clone())
}

fn run(folder: &Arc<TempDir>, arguments: &[&str]) -> (Option<i32>, String, String) {
    let launch = arguments.iter().fold(launch(folder), Launch::arg);
    let Output { status, stdout, stderr } = launch.command().output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("colibri.db"))
        .collect();
    names.sort();
    names
}

fn tasks(path: &Path) -> usize {
    let count: u32 =
        engine::open(path).query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
    count as usize
}

/// A folder with a database that holds a few tasks, and no server on it.
fn used() -> Arc<TempDir> {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut server = launch(&folder).start();
    for number in 0..3 {
        server.data("task_create", json!({ "title": format!("T{number}") }));
    }
    assert_eq!(server.finish().code(), 0);
    folder
}

#[test]
fn a_copy_holds_what_was_acknowledged_before_while_others_write() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut server = launch(&folder).start();
    server.data("task_create", json!({ "title": "the first" }));
    let (acknowledged, stop) = (AtomicUsize::new(1), AtomicBool::new(false));
    let copies = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                server.data("task_create", json!({ "title": "another" }));
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
        });
        let copies: Vec<_> = (0..4)
            .map(|number| {
                let before = acknowledged.load(Ordering::SeqCst);
                let name = format!("copy-{number}.db");
                let done = run(&folder, &["backup", &name]);
                (name, before, done, acknowledged.load(Ordering::SeqCst))
            })
            .collect();
        stop.store(true, Ordering::SeqCst);
        copies
    });
    for (name, before, (code, out, err), after) in copies {
        assert_eq!(code, Some(0), "{out}{err}");
        assert!(out.contains("sound: "), "{out}");
        let held = tasks(&folder.path().join(&name));
        // The call that was under way may be in it too.
        assert!((before..=after + 1).contains(&held), "{before} {held} {after}");
        let (code, out, err) = run(&folder, &["verify", "--db", &name]);
        assert_eq!(code, Some(0), "{out}{err}");
    }
    assert_eq!(
        names(folder.path()),
        ["copy-0.db", "copy-1.db", "copy-2.db", "copy-3.db"],
        "nothing beside them"
    );
    assert!(acknowledged.load(Ordering::SeqCst) > 1, "nothing was written meanwhile");
}

#[test]
fn a_copy_serves_and_goes_on_where_the_database_stood() {
    let folder = used();
    let (code, out, err) = run(&folder, &["backup", "copy.db"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let copy = folder.path().join("copy.db");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "others may read the copy");
    }
    let mut server = launch(&folder).env("COLIBRI_DB_PATH", &copy).start();
    assert_eq!(server.data("task_list", json!({}))["total_count"], 3);
    server.data("task_create", json!({ "title": "in the copy" }));
    assert_eq!(server.finish().code(), 0);
    assert_eq!((tasks(&copy), tasks(&folder.path().join("colibri.db"))), (4, 3));
    let (code, out, err) = run(&folder, &["verify", "--db", "copy.db"]);
    assert_eq!(code, Some(0), "{out}{err}");
}

#[test]
fn what_stands_there_is_left_alone() {
    let folder = used();
    std::fs::write(folder.path().join("copy.db"), "yesterday's").unwrap();
    let (code, _, err) = run(&folder, &["backup", "copy.db"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("copy.db is there already and was not changed; choose another name"), "{err}");
    assert_eq!(std::fs::read(folder.path().join("copy.db")).unwrap(), b"yesterday's");
    let (code, _, err) = run(&folder, &["backup", "nowhere/copy.db"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("cannot create nowhere/copy.db"), "{err}");
    let (code, _, err) = run(&folder, &["backup", "new.db", "--db", "none.db"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("there is no database at none.db"), "{err}");
    assert_eq!(names(folder.path()), ["copy.db"]);
}

#[test]
fn a_copy_of_a_forged_database_says_so_and_is_kept() {
    let folder = used();
    let forged = engine::open(folder.path().join("colibri.db"));
    forged.execute("UPDATE tasks SET title = 'forged' WHERE title = 'T1'", []).unwrap();
    drop(forged);
    let (code, out, err) = run(&folder, &["backup", "copy.db"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("not sound (1 finding)") && out.contains("Keep both files as evidence"), "{out}");
    assert_eq!(tasks(&folder.path().join("copy.db")), 3);
}

/// A file that may not grow stands for the full disk.
#[cfg(unix)]
#[test]
fn a_copy_that_finds_no_room_leaves_nothing_behind() {
    let folder = used();
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" backup copy.db --db colibri.db"])
        .arg(env!("CARGO_BIN_EXE_colibri-under-test"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("cannot write copy.db: "), "{err}");
    assert_eq!(names(folder.path()), [] as [&str; 0]);
    assert_eq!(run(&folder, &["backup", "copy.db"]).0, Some(0));
    for (database, state) in
        [("colibri.db", "the database is unchanged"), ("new.db", "there is still no database")]
    {
        let output = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" restore copy.db --db \"$1\""])
            .args([env!("CARGO_BIN_EXE_colibri-under-test"), database])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        let named = err.contains(&format!("/{database}: ")) && !err.contains("replaced");
        assert!(named && err.ends_with(&format!("; {state}\n")), "{err}");
    }
    // The queue stays: a server that starts meanwhile may wait in it.
    assert_eq!(names(folder.path()), ["copy.db", "new.db.queue"]);
}
