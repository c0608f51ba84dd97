//! Which processes are alive, and how the calls of dead ones are closed (store#process-locks).

use super::*;
use crate::sqlite::open::identity::FileId;
use crate::sqlite::open::process::{
    Life, ProcessLock, ProcessRecord, boot_id, life, living, lock_files, lock_path,
};

/// Stops as a crash does: the system frees the lock, nothing is tidied up.
fn crash(store: ServerStore<()>) {
    drop(store);
}

#[test]
fn calls_of_a_dead_process_are_closed_and_numbers_go_on() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    assert_eq!(leave_running(&mut store), 2);
    crash(store);

    let options = place.options();
    let opened = init_db(&options).unwrap();
    assert_eq!(opened.aborted, 1);
    let mut store = attached(opened, &options.boot_id);
    let row = "SELECT outcome || ' ' || error_code || ' ' || error_message || ' ' || exited_at || \
               (result_hash IS NULL) || (duration_ms IS NULL) || exit_no FROM actions WHERE sequence_no = 2";
    assert_eq!(
        text(conn(&mut store), row),
        format!("aborted PROCESS_ABORTED process ended before audit exit {NOW}112")
    );
    assert_eq!(call(&mut store, "any_tool"), 3);
    assert_sound(&verify(&place.path()), 3, 0);
    assert_eq!(lock_files(&place.path()).unwrap(), [lock_path(&place.path(), &options.boot_id)]);
}

#[test]
fn rows_of_the_living_are_left_alone() {
    let place = Place::new();
    let (mut living, mut dying) = (place.store(), place.store());
    let kept = leave_running(&mut living);
    let closed = leave_running(&mut dying);
    crash(dying);
    let opened = init_db(&place.options()).unwrap();
    assert_eq!(opened.aborted, 1);
    let outcome = |sequence_no| {
        text(
            opened.db().sqlite().unwrap(),
            &format!("SELECT outcome FROM actions WHERE sequence_no = {sequence_no}"),
        )
    };
    assert_eq!((outcome(kept), outcome(closed)), ("running".into(), "aborted".into()));

    living.begin(Access::Write).unwrap();
    exit(&mut living, kept, RowOutcome::Ok).unwrap();
    living.commit().unwrap();
    living.leave_queue();
    assert_sound(&verify(&place.path()), 2, 0);
}

#[test]
fn processes_of_one_session_have_names_of_their_own() {
    let mut ids = SystemIds::default();
    let (one, other) = (boot_id(Some("build-7"), &mut ids), boot_id(Some("build-7"), &mut ids));
    assert_ne!(one, other);
    assert!(one.starts_with("build-7:") && one.len() == "build-7:".len() + 36, "{one}");
    assert_eq!(boot_id(None, &mut ids).len(), 36);
}

#[test]
fn a_lock_is_held_while_its_owner_lives() {
    let place = Place::new();
    let path = lock_path(&place.path(), "me");
    assert_eq!(
        path.file_name().unwrap().to_str().unwrap(),
        // First 32 hex of SHA-256("me").
        "colibri.db.2744ccd10c7533bd736ad890f9dd5cab.lock"
    );
    assert!(matches!(life(&path), Life::Gone));
    let record = ProcessRecord::own(FileId { device: 1, inode: 2 });
    let lock = ProcessLock::create(&place.path(), "me", &record).unwrap();
    assert!(matches!(life(&path), Life::Alive));
    assert_eq!(living(&place.path()).unwrap(), std::slice::from_ref(&record));
    drop(lock);
    assert_eq!(living(&place.path()).unwrap(), []);
    assert!(matches!(life(&path), Life::Dead(_)));
    ProcessLock::create(&place.path(), "me", &record).unwrap().remove().unwrap();
    assert!(matches!(life(&path), Life::Gone));
}

#[test]
fn a_clean_stop_leaves_the_database_and_the_queue_only() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    store.close().unwrap();
    assert_eq!(place.files(), ["colibri.db", "colibri.db.queue"]);
    store.close().unwrap();
    assert_eq!(store.cx().db().unwrap_err().to_string(), "database is not initialised");
}

#[test]
fn files_that_only_look_like_locks_are_left_alone() {
    let place = Place::new();
    let others =
        ["colibri.db.lock", "colibri.db.0123.lock", "other.db.0123456789abcdef0123456789abcdef.lock"];
    for name in others {
        std::fs::write(place.folder.path().join(name), "").unwrap();
    }
    place.store().close().unwrap();
    for name in others {
        assert!(place.files().iter().any(|file| file == name), "{name}");
    }
}

#[test]
fn a_store_takes_one_database() {
    let (place, other) = (Place::new(), Place::new());
    let mut store = place.store();
    let second = init_db(&other.options()).unwrap();
    assert_eq!(store.attach(second).unwrap_err().0, "the store is in use already");
}
