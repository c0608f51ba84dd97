//! Several stores on one file, as several processes would have them: std's file locks belong to the
//! open file, so stores of one process exclude each other just as well (store#sharing).

use std::sync::Barrier;
use std::time::Duration;

use super::*;
use crate::sqlite::write::queue::WriteQueue;

#[test]
fn writers_lose_nothing_and_fork_no_chain() {
    const CALLS: i64 = 40;
    for writers in [2, 4, 8] {
        let place = Place::new();
        let start = Barrier::new(writers);
        let mut numbers: Vec<i64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..writers)
                .map(|_| {
                    scope.spawn(|| {
                        // All start at once on a missing file.
                        start.wait();
                        let mut store = place.store();
                        let numbers: Vec<_> = (0..CALLS).map(|_| call(&mut store, "any_tool")).collect();
                        store.close().unwrap();
                        numbers
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        numbers.sort_unstable();
        let all = writers as i64 * CALLS;
        assert_eq!(numbers, (1..=all).collect::<Vec<_>>(), "{writers} writers");
        assert_sound(&verify(&place.path()), all, 0);
        assert_eq!(place.files(), ["colibri.db", "colibri.db.queue"], "{writers} writers");
    }
}

#[test]
fn a_writer_waits_for_the_one_before_it() {
    let place = Place::new();
    let (mut first, mut second) = (place.store(), place.store());
    // Waiting happens in the queue, not in SQLite's busy handler.
    conn(&mut second).busy_timeout(Duration::ZERO).unwrap();
    first.begin(Access::Write).unwrap();
    let number = enter(&mut first, "any_tool").unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| leave_running_in(second));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished());
        first.commit().unwrap();
        first.leave_queue();
        assert_eq!(waiting.join().unwrap(), number + 1);
    });
}

#[test]
fn a_place_in_the_queue_that_was_given_up_is_kept_from_nobody() {
    const LONG: Duration = Duration::from_secs(60);
    let place = Place::new();
    let open = || WriteQueue::open(&place.path()).unwrap();
    let (mut first, mut second, mut third) = (open(), open(), open());
    assert!(first.enter_within(LONG).unwrap());
    // Given up before the place comes, given up and wished for again, and given up for good.
    assert!(!second.enter_within(Duration::from_millis(1)).unwrap());
    assert!(!second.enter_soon().unwrap() && !second.is_held());
    assert!(!third.enter_within(Duration::from_millis(1)).unwrap());
    first.leave();
    assert!(second.enter_within(LONG).unwrap());
    assert!(!first.enter_soon().unwrap());
    second.leave();
    assert!(first.enter_within(LONG).unwrap());
    // The place comes for a wish whose owner does not take it.
    assert!(!second.enter_soon().unwrap());
    first.leave();
    std::thread::sleep(Duration::from_millis(20));
    second.leave();
    assert!(third.enter_within(LONG).unwrap());
    drop(third);
    assert!(first.enter_within(LONG).unwrap());
}

#[test]
fn a_wait_names_the_process_that_is_waited_for() {
    let place = Place::new();
    let (mut first, mut second) = (place.store(), place.store());
    first.begin(Access::Write).unwrap();
    let refused = second.begin(Access::Write).unwrap_err().0;
    let holder = format!("by process {} on host ", std::process::id());
    assert!(
        refused.starts_with("the write queue has been held for 0 s ") && refused.contains(&holder),
        "{refused}"
    );
    first.roll_back();
    first.leave_queue();
    second.wait_turn(TURN_LIMIT).unwrap();
    second.leave_queue();
    assert!(!second.in_transaction(), "a turn that nobody uses leaves nothing behind");
    call(&mut first, "any_tool");
}

#[test]
fn boots_own_writing_waits_like_every_writer_and_is_whole_or_not_there() {
    let place = Place::new();
    let (mut first, mut second) = (place.store(), place.store());
    conn(&mut second).busy_timeout(Duration::ZERO).unwrap();
    first.begin(Access::Write).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            let written = second.write_at_boot(|db| db.execute(INDEX_OF_NOTHING, &[]));
            (second, written)
        });
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished());
        first.commit().unwrap();
        first.leave_queue();
        let (mut second, written) = waiting.join().unwrap();
        assert_eq!(written, Ok(()));

        let failed = second.write_at_boot(|db| {
            db.execute("DELETE FROM skill_roots", &[])?;
            db.execute("INSERT INTO nowhere VALUES (1)", &[])
        });
        assert!(failed.is_err() && !second.in_transaction());
        let count = |store: &mut ServerStore<()>| {
            conn(store).query_row("SELECT count(*) FROM skill_roots", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(count(&mut second), 1);
        // No process is kept waiting afterwards.
        assert_eq!(first.write_at_boot(|db| db.execute("DELETE FROM skill_roots", &[])), Ok(()));
        assert_eq!(count(&mut second), 0);
    });
}

const INDEX_OF_NOTHING: &str = "INSERT INTO skill_roots (root, loaded_at, skill_count, digest) \
    VALUES ('/x', 't', 0, '0000000000000000000000000000000000000000000000000000000000000000')";

fn leave_running_in(mut store: ServerStore<()>) -> i64 {
    leave_running(&mut store)
}

#[test]
fn a_scan_sees_the_database_of_its_beginning() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    let scan = store.scan_cx().unwrap();
    call(&mut store, "any_tool");
    let count = |db: &crate::db::Db| {
        db.query_one("SELECT count(*) FROM actions", &[], |row| row.get::<i64>(0)).unwrap()
    };
    let seen = std::thread::spawn(move || {
        assert!(scan.db().execute("DELETE FROM actions_head", &[]).is_err());
        count(scan.db())
    });
    assert_eq!(seen.join().unwrap(), 1);
    assert_eq!(count(store.cx().db().unwrap()), 2);
}

#[test]
fn what_another_program_reads_does_not_stop_a_writer() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    let reader = place.foreign();
    reader.execute_batch("BEGIN; SELECT count(*) FROM actions").unwrap();
    call(&mut store, "any_tool");
    // The log cannot be emptied under a reader; the stop is clean nevertheless.
    store.close().unwrap();
    drop(reader);
    assert_sound(&verify(&place.path()), 2, 0);
}

#[test]
fn a_log_that_somebody_else_changes_between_two_calls_is_looked_at_again() {
    let place = Place::new();
    let mut store = place.store();
    for number in 1..=3 {
        assert_eq!(call(&mut store, "any_tool"), number);
    }
    // Another of our processes: its calls count.
    let mut other = place.store();
    assert_eq!(call(&mut other, "any_tool"), 4);
    assert_eq!(call(&mut store, "any_tool"), 5);
    other.close().unwrap();
    assert_sound(&verify(&place.path()), 5, 0);

    // Another program cuts the log and leaves the head: no call is given a number that was used before.
    let foreign = place.foreign();
    foreign.execute_batch("DROP TRIGGER actions_keep; DELETE FROM actions WHERE sequence_no = 5").unwrap();
    store.begin(Access::Write).unwrap();
    let refused = enter(&mut store, "any_tool").unwrap_err();
    assert_eq!(refused.0, "the log does not end at row 5, as its head says: see `colibri verify`");
    store.roll_back();
    store.leave_queue();
    assert_eq!(number(&foreign, "SELECT count(*) FROM actions"), 4);
    // If the head is cut as well, numbering goes on from the head.
    foreign
        .execute_batch(
            "UPDATE actions_head SET last_sequence_no = 4, last_exit_no = 4,
             last_row_hash = (SELECT row_hash FROM actions WHERE exit_no = 4)",
        )
        .unwrap();
    assert_eq!(call(&mut store, "any_tool"), 5);
    assert_sound(&verify(&place.path()), 5, 0);
}
