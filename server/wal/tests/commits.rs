//! The layer under SQLite itself: commits, spills, rollbacks and other writers, against a file that SQLite writes alone.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use proptest::prelude::*;
use rusqlite::{Connection, OpenFlags};

fn set_up(conn: Connection) -> Connection {
    conn.pragma_update(None, "page_size", 1024).unwrap();
    conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    conn.pragma_update(None, "synchronous", "NORMAL").unwrap();
    // Ten pages of memory: transactions of some size write frames before they commit.
    conn.pragma_update(None, "cache_size", 10).unwrap();
    conn.execute_batch("CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, v BLOB, w TEXT); CREATE INDEX IF NOT EXISTS i ON t (w)")
        .unwrap();
    conn
}

fn layered(path: &Path) -> Connection {
    colibri_wal::register().unwrap();
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    set_up(Connection::open_with_flags_and_vfs(path, flags, colibri_wal::VFS).unwrap())
}

fn plain(path: &Path) -> Connection {
    // Its options hold for the process, and only before the first connection.
    colibri_wal::register().unwrap();
    set_up(Connection::open(path).unwrap())
}

fn rows(conn: &Connection) -> Vec<(i64, Vec<u8>, String)> {
    let mut statement = conn.prepare("SELECT k, v, w FROM t ORDER BY k").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

fn assert_sound(conn: &Connection) {
    let found: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(found, "ok");
}

/// Returns what a start after a crash at this moment would find: the files as they are, opened elsewhere.
fn after_crash(path: &Path) -> Vec<(i64, Vec<u8>, String)> {
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy.db");
    for suffix in ["", "-wal"] {
        let side = |base: &Path| Path::new(&format!("{}{suffix}", base.display())).to_owned();
        std::fs::copy(side(path), side(&copy)).unwrap();
    }
    let conn = Connection::open(&copy).unwrap();
    assert_sound(&conn);
    rows(&conn)
}

/// Returns how many writes this thread has asked the system for.
#[cfg(target_os = "linux")]
fn writes() -> u64 {
    let counters = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = counters.lines().find_map(|line| line.strip_prefix("syscw: ")).unwrap();
    line.parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_commit_of_many_pages_is_one_write() {
    let folder = tempfile::tempdir().unwrap();
    let conn = layered(&folder.path().join("a.db"));
    conn.pragma_update(None, "cache_size", 500).unwrap();
    let commit = || conn.execute_batch("COMMIT").unwrap();
    let fill = || {
        conn.execute_batch("BEGIN").unwrap();
        for _ in 0..20 {
            conn.execute("INSERT INTO t (v, w) VALUES (randomblob(900), hex(randomblob(20)))", []).unwrap();
        }
    };
    fill();
    let before = writes();
    commit();
    let alone = writes() - before;
    fill();
    let before = writes();
    colibri_wal::gathered(None, commit);
    let gathered = writes() - before;
    assert!(alone > 40, "{alone}");
    assert_eq!(gathered, 1);
    assert_sound(&conn);
}

#[test]
fn a_commit_is_there_for_others_when_it_returns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (writer, reader) = (layered(&path), plain(&path));
    for number in 1..200 {
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        writer.execute("INSERT INTO t (v, w) VALUES (randomblob(2500), hex(randomblob(9)))", []).unwrap();
        colibri_wal::gathered(None, || writer.execute_batch("COMMIT")).0.unwrap();
        let count: i64 = reader.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(count, number);
        if number % 50 == 0 {
            assert_eq!(after_crash(&path), rows(&reader));
        }
    }
    assert_sound(&reader);
}

#[derive(Debug, Clone)]
enum Step {
    Insert {
        bytes: usize,
        count: usize,
    },
    Change {
        from: i64,
        bytes: usize,
    },
    Remove {
        from: i64,
    },
    Savepoint {
        keep: bool,
        bytes: usize,
    },
    /// Another connection, without the layer, writes between two transactions.
    Other {
        bytes: usize,
    },
    Commit,
    RollBack,
    Checkpoint,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![0..200usize, 800..6000usize];
    prop_oneof![
        4 => (bytes.clone(), 1..20usize).prop_map(|(bytes, count)| Step::Insert { bytes, count }),
        3 => (0..60i64, bytes.clone()).prop_map(|(from, bytes)| Step::Change { from, bytes }),
        1 => (0..60i64).prop_map(|from| Step::Remove { from }),
        2 => (any::<bool>(), bytes.clone()).prop_map(|(keep, bytes)| Step::Savepoint { keep, bytes }),
        1 => bytes.prop_map(|bytes| Step::Other { bytes }),
        4 => Just(Step::Commit),
        1 => Just(Step::RollBack),
        1 => Just(Step::Checkpoint),
    ]
}

/// One database and its writers.
struct Place {
    path: std::path::PathBuf,
    conn: Connection,
    other: Connection,
}

impl Place {
    fn run(&self, step: &Step, number: usize) {
        let text = format!("step {number}");
        let fill = |bytes: usize| vec![u8::try_from(number % 256).unwrap(); bytes];
        if self.conn.is_autocommit() && !matches!(step, Step::Other { .. } | Step::Checkpoint) {
            self.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        }
        let insert = |conn: &Connection, bytes: usize| {
            conn.execute("INSERT INTO t (v, w) VALUES (?1, ?2)", (fill(bytes), &text)).unwrap();
        };
        match step {
            Step::Insert { bytes, count } => (0..*count).for_each(|_| insert(&self.conn, *bytes)),
            Step::Change { from, bytes } => {
                let sql = "UPDATE t SET v = ?1, w = ?2 WHERE k % 60 >= ?3";
                self.conn.execute(sql, (fill(*bytes), &text, from)).unwrap();
            }
            Step::Remove { from } => {
                self.conn.execute("DELETE FROM t WHERE k % 60 > ?1", [from]).unwrap();
            }
            Step::Savepoint { keep, bytes } => {
                self.conn.execute_batch("SAVEPOINT s").unwrap();
                (0..15).for_each(|_| insert(&self.conn, *bytes));
                let end = if *keep { "RELEASE s" } else { "ROLLBACK TO s; RELEASE s" };
                self.conn.execute_batch(end).unwrap();
            }
            Step::Other { bytes } if self.conn.is_autocommit() => insert(&self.other, *bytes),
            Step::Commit => colibri_wal::gathered(None, || self.conn.execute_batch("COMMIT")).0.unwrap(),
            Step::RollBack => self.conn.execute_batch("ROLLBACK").unwrap(),
            Step::Checkpoint if self.conn.is_autocommit() => {
                self.conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
            }
            Step::Other { .. } | Step::Checkpoint => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Transactions larger than the memory for pages, savepoints and rollbacks: the file holds what SQLite alone would
    /// have put there, for this process, for another connection, and after a crash.
    #[test]
    fn a_database_is_what_sqlite_alone_would_have_written(steps in prop::collection::vec(step(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let [with, without] = ["with.db", "without.db"].map(|name| folder.path().join(name));
        let places = [
            Place { conn: layered(&with), other: plain(&with), path: with },
            Place { conn: plain(&without), other: plain(&without), path: without },
        ];
        for (number, step) in steps.iter().enumerate() {
            for place in &places {
                place.run(step, number);
            }
            prop_assert_eq!(rows(&places[0].conn), rows(&places[1].conn));
            prop_assert_eq!(rows(&places[0].other), rows(&places[1].other));
        }
        for place in &places {
            if !place.conn.is_autocommit() {
                place.conn.execute_batch("ROLLBACK").unwrap();
            }
            assert_sound(&place.other);
        }
        prop_assert_eq!(after_crash(&places[0].path), rows(&places[1].other));
    }
}

#[test]
fn the_data_version_moves_with_every_commit_and_with_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (ours, foreign) = (layered(&path), plain(&path));
    let seen = |conn: &Connection| {
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        let version = colibri_wal::data_version(conn).unwrap();
        conn.execute_batch("ROLLBACK").unwrap();
        version
    };
    let insert = "INSERT INTO t (v, w) VALUES (x'00', 'a')";
    colibri_wal::gathered(None, || ours.execute_batch(insert)).0.unwrap();
    let after_own = colibri_wal::data_version(&ours).unwrap();
    assert_eq!(seen(&ours), after_own, "nobody has written since");
    ours.execute_batch(&format!("BEGIN; {insert}; ROLLBACK; SELECT count(*) FROM t")).unwrap();
    foreign.execute_batch(&format!("BEGIN; {insert}; ROLLBACK")).unwrap();
    assert_eq!(seen(&ours), after_own, "what was rolled back is no commit");
    foreign.execute_batch(insert).unwrap();
    let after_foreign = seen(&ours);
    assert_ne!(after_foreign, after_own);
    foreign.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
    foreign.execute_batch(insert).unwrap();
    assert_ne!(seen(&ours), after_foreign, "also when the log was begun anew");
    let before = seen(&ours);
    ours.execute_batch(insert).unwrap();
    assert_ne!(seen(&ours), before);
}

/// By default SQLite writes what a savepoint must undo to a temporary file beyond 64 KiB.
#[test]
#[cfg(target_os = "linux")]
fn a_savepoint_undoes_much_without_a_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let conn = layered(&folder.path().join("t.db"));
    for key in 0..500 {
        conn.execute("INSERT INTO t VALUES (?1, zeroblob(900), 'before')", [key]).unwrap();
    }
    conn.execute_batch("BEGIN; SAVEPOINT call; UPDATE t SET v = randomblob(900)").unwrap();
    let temporary: Vec<_> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .filter(|file| file.to_string_lossy().ends_with(" (deleted)"))
        .collect();
    assert!(temporary.is_empty(), "{temporary:?}");
    conn.execute_batch("ROLLBACK TO call; RELEASE call; COMMIT").unwrap();
    let undone: i64 = conn.query_row("SELECT sum(v = zeroblob(900)) FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(undone, 500);
}
