//! What fails, and what is left behind then (chain#faults).

use super::*;

const LARGE: &str = "INSERT INTO tasks_copy SELECT randomblob(200000)";

/// Returns a store on a file that can hardly grow.
fn almost_full(place: &Place) -> ServerStore<()> {
    place.store().close().unwrap();
    place.foreign().execute_batch("CREATE TABLE tasks_copy (n BLOB)").unwrap();
    let pages = number(&place.foreign(), "PRAGMA page_count") as u32;
    open(&StoreOptions { max_pages: Some(pages + 6), ..place.options() }).unwrap()
}

#[test]
fn a_full_disk_fails_the_call_and_not_the_log() {
    let place = Place::new();
    let mut store = almost_full(&place);
    call(&mut store, "any_tool");
    store.begin(Access::Write).unwrap();
    let sequence_no = enter(&mut store, "any_tool").unwrap();
    store.savepoint().unwrap();
    let error = store.cx().db().unwrap().execute(LARGE, &[]).unwrap_err();
    assert!(error.to_string().contains("full"), "{error}");
    // SQLite has undone the statement and kept the transaction: the call is answered and closed.
    assert!(store.in_transaction());
    store.roll_back_to_savepoint().unwrap();
    exit(&mut store, sequence_no, RowOutcome::Error).unwrap();
    store.release().unwrap();
    store.commit().unwrap();
    store.leave_queue();
    call(&mut store, "any_tool");
    assert_eq!(verify(&place.path()).finding, None);
}

#[test]
fn a_transaction_that_the_engine_dropped_is_seen() {
    let place = Place::new();
    let mut store = place.store();
    store.begin(Access::Write).unwrap();
    let sequence_no = enter(&mut store, "any_tool").unwrap();
    store.savepoint().unwrap();
    // A constraint does here what a full disk, an I/O error or a lack of memory can do.
    let sql = "INSERT OR ROLLBACK INTO actions_head VALUES (1, 0, 0, '')";
    store.cx().db().unwrap().execute(sql, &[]).unwrap_err();
    assert!(!store.in_transaction());
    for refused in [store.savepoint(), store.release(), store.roll_back_to_savepoint()] {
        assert_eq!(refused.unwrap_err().0, "no transaction is open");
    }
    assert_eq!(exit(&mut store, sequence_no, RowOutcome::Ok).unwrap_err().0, "no transaction is open");
    assert_eq!(store.commit().unwrap_err().0, "the transaction was rolled back by the engine");
    store.roll_back();
    store.leave_queue();
    assert_eq!(call(&mut store, "any_tool"), sequence_no, "a rolled-back enter consumes no number");
}

#[test]
fn a_commit_that_fails_leaves_nothing_open_and_nothing_stored() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    conn(&mut store)
        .execute_batch(
            "CREATE TABLE parent (id INTEGER PRIMARY KEY);
             CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
        )
        .unwrap();
    store.begin(Access::Write).unwrap();
    enter(&mut store, "any_tool").unwrap();
    // A reference that is checked at the commit, and fails there.
    store.cx().db().unwrap().execute("INSERT INTO child VALUES (7)", &[]).unwrap();
    let error = store.commit().unwrap_err();
    assert!(error.0.contains("constraint") || error.0.contains("foreign key"), "{error}");
    assert!(!store.in_transaction());
    store.leave_queue();

    // The queue is free for others, and the log goes on where it stood.
    let mut other = place.store();
    assert_eq!(call(&mut other, "any_tool"), 2);
    assert_eq!(call(&mut store, "any_tool"), 3);
    assert_sound(&verify(&place.path()), 3, 0);
}

#[test]
fn a_head_that_cannot_be_stored_fails_the_commit() {
    let place = Place::new();
    let mut store = place.store();
    store.begin(Access::Write).unwrap();
    enter(&mut store, "any_tool").unwrap();
    conn(&mut store).execute_batch("DELETE FROM actions_head").unwrap();
    assert!(store.commit().is_err());
    assert!(!store.in_transaction());
    store.leave_queue();
    assert_eq!(number(conn(&mut store), "SELECT count(*) FROM actions"), 0);
    assert_eq!(call(&mut store, "any_tool"), 1);
}

#[test]
fn a_busy_database_is_an_ordinary_fault() {
    let place = Place::new();
    let mut store = place.store();
    conn(&mut store).busy_timeout(std::time::Duration::from_millis(20)).unwrap();
    let other = place.foreign();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(store.begin(Access::Write).unwrap_err().0.contains("locked"));
    assert!(!store.in_transaction());
    // It has left the queue again; otherwise no other process could ever enter it.
    other.execute_batch("ROLLBACK").unwrap();
    call(&mut place.store(), "any_tool");
    call(&mut store, "any_tool");
}

#[test]
fn a_rolled_back_handler_keeps_its_exit_row_and_the_chain() {
    let place = Place::new();
    let mut store = place.store();
    store.begin(Access::Write).unwrap();
    let numbers: Vec<_> = (0..3).map(|_| enter(&mut store, "any_tool").unwrap()).collect();
    store.commit().unwrap();
    store.begin(Access::Write).unwrap();
    for sequence_no in numbers {
        store.savepoint().unwrap();
        store.cx().db().unwrap().execute("CREATE TABLE IF NOT EXISTS made (n)", &[]).unwrap();
        // A row closed inside the savepoint goes with it; the number is free again.
        exit(&mut store, sequence_no, RowOutcome::Ok).unwrap();
        store.roll_back_to_savepoint().unwrap();
        exit(&mut store, sequence_no, RowOutcome::Error).unwrap();
        store.release().unwrap();
    }
    store.commit().unwrap();
    store.leave_queue();
    assert_eq!(number(conn(&mut store), "SELECT count(*) FROM sqlite_schema WHERE name = 'made'"), 0);
    assert_eq!(number(conn(&mut store), "SELECT count(*) FROM actions WHERE outcome = 'error'"), 3);
    assert_sound(&verify(&place.path()), 3, 0);
}

#[test]
fn an_exit_needs_a_running_row() {
    let place = Place::new();
    let mut store = place.store();
    let closed = call(&mut store, "any_tool");
    store.begin(Access::Write).unwrap();
    for sequence_no in [closed, 99] {
        let error = exit(&mut store, sequence_no, RowOutcome::Ok).unwrap_err();
        assert_eq!(error.0, format!("audit row {sequence_no} is not open"));
    }
    store.roll_back();
    store.leave_queue();
}

#[test]
fn a_transaction_is_not_opened_twice() {
    let place = Place::new();
    let mut store = place.store();
    store.begin(Access::Write).unwrap();
    assert_eq!(store.begin(Access::Write).unwrap_err().0, "a transaction is open already");
    assert!(store.in_transaction());
    store.roll_back();
    store.roll_back();
    assert!(!store.in_transaction());
}

#[test]
fn a_log_that_was_moved_away_is_a_fault_from_then_on() {
    let place = Place::new();
    let mut store = place.store();
    store.sync().unwrap();
    leave_running(&mut store);
    let log = format!("{}-wal", place.path().display());
    let aside = format!("{log}.aside");
    std::fs::rename(&log, &aside).unwrap();
    let lost = store.sync().unwrap_err();
    assert!(lost.0.starts_with("the database's -wal file was replaced, renamed or removed"), "{lost}");

    // The log is not checked again, although it would be in order now, and closing copies nothing out of it.
    std::fs::rename(&aside, &log).unwrap();
    assert_eq!(store.sync().unwrap_err(), lost);
    let before = (std::fs::read(&log).unwrap(), std::fs::read(place.path()).unwrap());
    store.close().unwrap();
    assert_eq!((std::fs::read(&log).unwrap(), std::fs::read(place.path()).unwrap()), before);

    // The next boot finds an unclean stop, and in the log what had been committed.
    let opened = init_db(&place.options()).unwrap();
    assert_eq!(opened.aborted, 1);
}

#[test]
fn without_a_database_transactions_are_a_flag() {
    let mut store = detached("any");
    store.begin(Access::Write).unwrap();
    assert!(store.in_transaction());
    store.savepoint().unwrap();
    store.roll_back_to_savepoint().unwrap();
    store.release().unwrap();
    assert_eq!(enter(&mut store, "any_tool").unwrap_err().0, "no database is open to keep audit rows in");
    store.commit().unwrap();
    assert!(!store.in_transaction());
    store.sync().unwrap();
    assert!(store.scan_cx().is_err());
    assert_eq!(store.cx().db().unwrap_err().to_string(), "database is not initialised");
    store.close().unwrap();
}
