//! Opening: order, refusals, side files (store#read-only, store#opening).

use super::*;
use crate::sqlite::look::snapshot::open_snapshot;
use crate::sqlite::open::header::APPLICATION_ID;
use crate::sqlite::open::migrate::latest;

#[test]
fn a_fresh_path_gets_folder_settings_and_schema() {
    let place = Place::new();
    let mut options = place.options();
    options.path = place.folder.path().join("a/b/colibri.db");
    let mut store = open(&options).unwrap();
    let conn = conn(&mut store);
    assert_eq!(text(conn, "PRAGMA journal_mode"), "wal");
    for (pragma, value) in [
        ("foreign_keys", 1),
        ("recursive_triggers", 1),
        ("trusted_schema", 0),
        ("synchronous", 1),
        // The loop waits for its turn elsewhere, and for other programs no longer than this.
        ("busy_timeout", 20),
        ("user_version", latest(MIGRATIONS)),
        ("application_id", APPLICATION_ID),
    ] {
        assert_eq!(number(conn, &format!("PRAGMA {pragma}")), value, "{pragma}");
    }
    for table in ["actions", "actions_head", "tasks", "thought_records"] {
        assert!(conn.table_exists(None, table).unwrap(), "{table}");
    }
}

#[cfg(unix)]
#[test]
fn new_files_belong_to_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    assert_eq!(place.files().len(), 5, "database, log, index, queue, lock: {:?}", place.files());
    for name in place.files() {
        let mode = std::fs::metadata(place.folder.path().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_second_start_runs_no_migration() {
    let place = Place::new();
    let first = init_db(&place.options()).unwrap();
    assert_eq!(first.migrated, MIGRATIONS.len());
    assert_eq!(first.schema_version, latest(MIGRATIONS));
    drop(first);
    let second = init_db(&place.options()).unwrap();
    assert_eq!((second.migrated, second.schema_version), (0, latest(MIGRATIONS)));
}

/// Opens `place` and returns the refusal; checks that the database file keeps its bytes.
fn refusal(place: &Place, read_only: bool) -> String {
    let before = std::fs::read(place.path()).unwrap();
    let error = init_db(&StoreOptions { read_only, ..place.options() }).unwrap_err();
    assert_eq!(std::fs::read(place.path()).unwrap(), before, "the file's bytes have changed");
    error.to_string()
}

#[test]
fn newer_and_foreign_files_are_refused_unchanged() {
    let supported = latest(MIGRATIONS);
    let newer =
        format!("database schema version {} is newer than supported version {supported}", supported + 1);
    let newer_sql = format!("PRAGMA user_version = {}", supported + 1);
    for (sql, expected) in [
        (newer_sql.as_str(), newer.as_str()),
        ("CREATE TABLE invoices (n)", "not a Colibri database: "),
        ("PRAGMA application_id = 7", "not a Colibri database: "),
        ("PRAGMA journal_mode = WAL; CREATE TABLE invoices (n)", "not a Colibri database: "),
    ] {
        for read_only in [false, true] {
            let place = Place::new();
            place.foreign().execute_batch(sql).unwrap();
            let message = refusal(&place, read_only);
            assert!(message.starts_with(expected), "{sql}: {message}");
        }
    }
}

#[test]
fn a_refused_file_keeps_its_log() {
    let place = Place::new();
    let other = place.foreign();
    other
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE invoices (n); INSERT INTO invoices VALUES (1)",
        )
        .unwrap();
    // A crash leaves a log that no process has folded into the file.
    let copy = Place::new();
    for suffix in ["", "-wal"] {
        let from = format!("{}{suffix}", place.path().display());
        std::fs::copy(from, format!("{}{suffix}", copy.path().display())).unwrap();
    }
    assert!(refusal(&copy, false).starts_with("not a Colibri database"));
}

#[test]
fn damage_is_refused() {
    let text_file = Place::new();
    std::fs::write(text_file.path(), "this is no database, it is a text of some length ".repeat(40)).unwrap();
    assert_eq!(refusal(&text_file, false), format!("not a Colibri database: {}", text_file.path().display()));

    // An unclean stop: the lock file stays, and a page of the tasks is overwritten.
    let place = Place::new();
    let mut store = place.store();
    conn(&mut store).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let root = number(conn(&mut store), "SELECT rootpage FROM sqlite_schema WHERE name = 'tasks'");
    let size = number(conn(&mut store), "PRAGMA page_size");
    drop(store);
    let mut bytes = std::fs::read(place.path()).unwrap();
    let start = ((root - 1) * size) as usize;
    bytes[start..start + 200].fill(0xA5);
    std::fs::write(place.path(), bytes).unwrap();
    for read_only in [false, true] {
        let message = refusal(&place, read_only);
        assert!(message.starts_with("database integrity check failed: "), "{message}");
        assert!(!message.contains('\n'));
    }
}

#[test]
fn a_cut_log_is_refused_at_boot() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    call(&mut store, "any_tool");
    store.close().unwrap();
    place
        .foreign()
        .execute_batch("DROP TRIGGER actions_keep; DELETE FROM actions WHERE sequence_no = 2")
        .unwrap();
    assert_eq!(
        init_db(&place.options()).unwrap_err().to_string(),
        "database integrity check failed: actions_head: says the log ends at sequence_no 2 and exit_no 2, \
         but it ends at 1 and 1"
    );
}

#[test]
fn findings_of_other_chains_are_refused_at_boot() {
    let place = Place::new();
    let options =
        StoreOptions { tail_checks: &[|_| Ok(Some("trail: record 7 is changed".into()))], ..place.options() };
    assert_eq!(
        init_db(&options).unwrap_err().to_string(),
        "database integrity check failed: trail: record 7 is changed"
    );
}

#[test]
fn readonly_creates_nothing_and_migrates_nothing() {
    let place = Place::new();
    let options = StoreOptions { read_only: true, ..place.options() };
    let message = init_db(&options).unwrap_err().to_string();
    let path = place.path();
    assert_eq!(
        message,
        format!("database not found: {} (READONLY never creates a database)", path.display())
    );
    assert_eq!(place.files(), [""; 0]);

    let older = StoreOptions { migrations: &MIGRATIONS[..2], ..place.options() };
    drop(init_db(&older).unwrap());
    assert_eq!(
        refusal(&place, true),
        format!("database schema version 2 is older than {}; READONLY cannot migrate", latest(MIGRATIONS))
    );
}

#[test]
fn a_readonly_store_reads_beside_a_writer_and_never_writes() {
    let place = Place::new();
    let mut writer = place.store();
    call(&mut writer, "any_tool");
    let before = place.files();
    let mut reader = open(&StoreOptions { read_only: true, ..place.options() }).unwrap();
    assert_eq!(place.files(), before);
    reader.begin(Access::Read).unwrap();
    assert_eq!(number(conn(&mut reader), "SELECT count(*) FROM actions"), 1);
    reader.commit().unwrap();
    call(&mut writer, "any_tool");
    assert_eq!(number(conn(&mut reader), "SELECT count(*) FROM actions"), 2);

    assert_eq!(reader.begin(Access::Write).unwrap_err().0, "the database is open for reading only");
    assert!(!reader.in_transaction());
    assert!(conn(&mut reader).execute("DELETE FROM actions_head", []).is_err());
    assert_eq!(number(conn(&mut reader), "PRAGMA query_only"), 1);
    reader.close().unwrap();
}

#[test]
fn readonly_starts_while_others_write() {
    let place = Place::new();
    let mut writer = place.store();
    let options = StoreOptions { read_only: true, ..place.options() };
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for _ in 0..100 {
                call(&mut writer, "any_tool");
            }
        });
        while !writing.is_finished() {
            // Fails now and then unless head and rows are read at one moment.
            init_db(&options).unwrap();
        }
    });
}

/// Makes SQLite unable to create its index in the folder, as on a read-only medium: it follows no link there.
#[cfg(unix)]
fn refuse_side_files(path: &Path) {
    std::os::unix::fs::symlink("missing/index", format!("{}-shm", path.display())).unwrap();
}

#[cfg(unix)]
#[test]
fn readonly_works_where_no_side_files_can_be_created() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    store.close().unwrap();
    refuse_side_files(&place.path());
    let options = StoreOptions { read_only: true, ..place.options() };
    let mut reader = open(&options).unwrap();
    assert_eq!(number(conn(&mut reader), "SELECT count(*) FROM actions"), 1);
    let scan = reader.scan_cx().unwrap();
    assert_eq!(scan.db().query_one("SELECT count(*) FROM actions", &[], |row| row.get::<i64>(0)), Ok(1));
    reader.close().unwrap();
}

#[cfg(unix)]
#[test]
fn a_log_on_a_medium_without_side_files_is_read() {
    let (place, medium) = (Place::new(), Place::new());
    let mut store = place.store();
    call(&mut store, "any_tool");
    store.close().unwrap();
    let mut store = place.store();
    call(&mut store, "any_tool");
    // As a killed server leaves them.
    for suffix in ["", "-wal"] {
        let from = format!("{}{suffix}", place.path().display());
        std::fs::copy(from, format!("{}{suffix}", medium.path().display())).unwrap();
    }
    refuse_side_files(&medium.path());
    let options = StoreOptions { read_only: true, ..medium.options() };
    let mut reader = open(&options).unwrap();
    assert_eq!(number(conn(&mut reader), "SELECT count(*) FROM actions"), 2);
    assert_eq!(
        open_snapshot(&medium.path(), MIGRATIONS).unwrap().query_one(
            "SELECT count(*) FROM actions",
            &[],
            |row| row.get::<i64>(0)
        ),
        Ok(2)
    );
}

#[cfg(unix)]
#[test]
fn readonly_answers_what_was_committed_after_its_start() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    store.close().unwrap();
    refuse_side_files(&place.path());
    let options = StoreOptions { read_only: true, ..place.options() };
    let mut reader = open(&options).unwrap();
    let mut seen = || {
        reader.begin(Access::Read).unwrap();
        let count = number(conn(&mut reader), "SELECT count(*) FROM actions");
        reader.commit().unwrap();
        let scan = reader.scan_cx().unwrap();
        let beside = scan.db().query_one("SELECT count(*) FROM actions", &[], |row| row.get::<i64>(0));
        assert_eq!(beside, Ok(count));
        count
    };
    assert_eq!(seen(), 1);
    std::fs::remove_file(format!("{}-shm", place.path().display())).unwrap();
    let mut store = place.store();
    call(&mut store, "any_tool");
    assert_eq!(seen(), 2, "beside a writer");
    store.close().unwrap();
    assert_eq!(seen(), 2);
    let mut store = place.store();
    call(&mut store, "any_tool");
    store.close().unwrap();
    assert_eq!(seen(), 3, "after a writer");
}

#[test]
fn memory_needs_no_files() {
    let place = Place::new();
    let mut store = open(&StoreOptions { path: ":memory:".into(), ..place.options() }).unwrap();
    assert_eq!(call(&mut store, "any_tool"), 1);
    assert_eq!(store.scan_cx().err().unwrap().0, "a database in memory has no second connection");
    store.close().unwrap();
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn names_that_look_like_uris_are_names() {
    let place = Place::new();
    let odd = place.folder.path().join("file:odd?mode=memory#x%20.db");
    let mut store = open(&StoreOptions { path: odd.clone(), ..place.options() }).unwrap();
    call(&mut store, "any_tool");
    assert_eq!(number(store.scan_cx().unwrap().db().sqlite().unwrap(), "SELECT count(*) FROM actions"), 1);
    store.close().unwrap();
    assert!(odd.exists());
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_same_queue_and_locks() {
    let place = Place::new();
    let mut first = place.store();
    leave_running(&mut first);
    let link = place.folder.path().join("link.db");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let second = init_db(&StoreOptions { path: link, ..place.options() }).unwrap();
    assert_eq!(second.aborted, 0, "the first process lives");
    assert!(!place.files().iter().any(|name| name.starts_with("link.db.")), "{:?}", place.files());
}

#[test]
fn a_name_that_leaves_no_room_for_the_files_beside_it_is_refused_before_anything_is_made() {
    let place = Place::new();
    let folder = place.folder.path();
    for (length, fits) in [(217, true), (218, false), (239, false), (255, false)] {
        let path = folder.join(length.to_string()).join("n".repeat(length));
        let opened = init_db(&StoreOptions { path: path.clone(), ..place.options() });
        assert_eq!(opened.is_ok(), fits, "{length}");
        if let Err(error) = opened {
            assert!(matches!(error, OpenError::LongName { beside: 38, .. }), "{error}");
            assert!(error.to_string().ends_with("give it a name of at most 217 bytes"), "{error}");
            assert!(!path.parent().unwrap().exists(), "{length}");
        }
    }
}

#[test]
fn a_path_without_a_file_name_is_refused() {
    let place = Place::new();
    let folder = place.folder.path().to_owned();
    for path in [folder.clone(), folder.join("..")] {
        let error = init_db(&StoreOptions { path, ..place.options() }).unwrap_err();
        assert!(matches!(error, OpenError::NoFile { .. }), "{error}");
    }
}
