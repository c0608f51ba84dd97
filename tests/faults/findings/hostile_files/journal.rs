//! B1: a rollback journal beside a database that keeps a write-ahead log, and A3: what a restore does with one.

use std::path::Path;

use colibri_test_support::client::Launch;
use rusqlite::Connection;

use super::place::{PROGRAM, Place};

/// A database in WAL mode whose tasks were renamed by a program without a log, which was ended before it had finished: what
/// SQLite takes back depends on whether it may write.
fn interrupted() -> Place {
    let place = Place::new();
    let journal = place.path("colibri.db-journal");
    let copies = [place.path("kept.db"), place.path("kept.db-journal")];
    {
        let conn = Connection::open(&place.database).unwrap();
        conn.execute_batch(
            "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA synchronous = FULL; PRAGMA cache_spill = 1;
             BEGIN; UPDATE tasks SET title = 'renamed'; CREATE TABLE spilled (x);
             WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000) INSERT INTO spilled SELECT hex(randomblob(500)) FROM n",
        )
        .unwrap();
        std::fs::copy(&place.database, &copies[0]).unwrap();
        std::fs::copy(&journal, &copies[1]).unwrap();
        conn.execute_batch("ROLLBACK").unwrap();
    }
    std::fs::rename(&copies[0], &place.database).unwrap();
    std::fs::rename(&copies[1], &journal).unwrap();
    assert!(std::fs::metadata(&journal).unwrap().len() > 4096);
    place
}

/// The bytes of the header that say whether a file keeps a log.
fn set_mode(path: &Path, mode: u8) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[18..20].fill(mode);
    std::fs::write(path, bytes).unwrap();
}

const COMMANDS: &[&[&str]] = &[
    &["verify"],
    &["backup", "copy.db"],
    &["log"],
    &["export", "s"],
    &["proof", "s", "r"],
    &["report", "s", "--html", "page.html"],
    &["doctor"],
    &["reputation", "verify"],
    &["reputation", "export"],
    &["reputation", "epoch", "--db", "colibri.db"],
];

#[test]
fn finding_b1_a_journal_beside_a_database_with_a_log_is_refused_by_every_command_and_by_the_start() {
    let place = interrupted();
    set_mode(&place.database, 2);
    let before =
        [&place.database, &place.path("colibri.db-journal")].map(|path| std::fs::read(path).unwrap());
    for command in COMMANDS {
        let run = place.run(command);
        let said = run.text();
        assert_ne!(run.code, 0, "{command:?}: {said}");
        assert!(
            said.contains("colibri.db-journal") && said.contains("write-ahead log"),
            "{command:?}: {said}"
        );
        assert!(!said.contains("remove") && !said.contains("delete"), "{command:?}: {said}");
    }
    for mode in ["FULL", "READONLY"] {
        let server =
            Launch::new(PROGRAM).env("COLIBRI_DB_PATH", &place.database).env("COLIBRI_MODE", mode).start();
        let ended = server.wait();
        assert_ne!(ended.code(), 0, "{mode}: {}", ended.stderr);
        assert!(ended.stderr.contains("colibri.db-journal"), "{mode}: {}", ended.stderr);
    }
    let after = [&place.database, &place.path("colibri.db-journal")].map(|path| std::fs::read(path).unwrap());
    assert!(before == after, "a refused file keeps its bytes, and so does the journal");
    assert!(!place.path("copy.db").exists());
}

/// SQLite undoes such a write when it may write. A command that only reads must not show the half of it.
#[test]
fn finding_b1_no_command_reads_a_write_that_the_next_start_undoes() {
    let place = interrupted();
    for command in COMMANDS {
        let run = place.run(command);
        assert_ne!(run.code, 0, "{command:?}: {}", run.text());
        assert!(run.text().contains("colibri.db-journal"), "{command:?}: {}", run.text());
    }
    let mut server = Launch::new(PROGRAM).env("COLIBRI_DB_PATH", &place.database).start();
    let tasks = server.data("task_list", serde_json::json!({}));
    assert_eq!(tasks["tasks"][0]["title"], "honest work", "{tasks}");
    assert_eq!(server.finish().code(), 0);
    let run = place.run(&["verify"]);
    assert_eq!(run.code, 0, "{}", run.text());
}

/// A kill in the moment in which a server gives a restored copy its log.
#[test]
fn finding_b1_a_switch_to_the_log_that_was_cut_off_does_not_stop_the_next_start() {
    let place = Place::new();
    let before = std::fs::read(&place.database).unwrap();
    std::fs::write(place.path("colibri.db-journal"), switch_journal(&before)).unwrap();
    set_mode(&place.database, 2);
    let refused = place.run(&["verify"]);
    assert_ne!(refused.code, 0, "{}", refused.text());
    let mut server = Launch::new(PROGRAM).env("COLIBRI_DB_PATH", &place.database).start();
    server.data("task_create", serde_json::json!({ "title": "goes on" }));
    assert_eq!(server.finish().code(), 0);
    assert_eq!(place.run(&["verify"]).code, 0);
}

/// An interrupted write, and beside it the backup of a database with one task more.
fn with_backup() -> Place {
    let (place, other) = (interrupted(), Place::new());
    let mut server = Launch::new(PROGRAM).env("COLIBRI_DB_PATH", &other.database).start();
    server.data("task_create", serde_json::json!({ "title": "in the backup" }));
    assert_eq!(server.finish().code(), 0);
    let run = other.run(&["backup", place.path("backup.db").to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.text());
    place
}

fn titles(database: &Path) -> Vec<String> {
    let mut server = Launch::new(PROGRAM).env("COLIBRI_DB_PATH", database).start();
    let listed = server.data("task_list", serde_json::json!({}));
    assert_eq!(server.finish().code(), 0);
    let tasks = listed["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn finding_a3_a_restore_keeps_a_journal_beside_the_file_that_it_belongs_to() {
    for has_database in [true, false] {
        let place = with_backup();
        let journal = place.path("colibri.db-journal");
        let bytes = std::fs::read(&journal).unwrap();
        if !has_database {
            std::fs::remove_file(&place.database).unwrap();
        }
        let run = place.run(&["restore", "backup.db"]);
        assert_eq!(run.code, 0, "{}", run.text());
        assert!(!journal.exists(), "it would be applied to the restored file: {}", run.text());
        let kept: Vec<&str> =
            run.out.lines().filter_map(|line| line.strip_prefix("kept: the previous file is now ")).collect();
        assert_eq!(kept.len(), if has_database { 2 } else { 1 }, "{}", run.text());
        let kept_journal = kept.iter().find(|name| name.ends_with("-journal")).expect("the journal is named");
        assert!(std::fs::read(kept_journal).unwrap() == bytes, "the journal keeps its bytes");
        assert_eq!(titles(&place.database), ["honest work", "in the backup"]);
        let run = place.run(&["verify"]);
        assert_eq!(run.code, 0, "{}", run.text());
        if has_database {
            assert_eq!(titles(Path::new(kept[0])), ["honest work"], "the kept journal undoes the write");
        }
    }
}

/// The two moments that a kill rarely meets: the journal has both of its names, before and after the exchange of files.
#[test]
fn finding_a3_a_journal_is_applied_to_no_file_after_a_restore_that_was_killed() {
    for exchanged in [false, true] {
        let place = with_backup();
        let journal = place.path("colibri.db-journal");
        std::fs::hard_link(&journal, place.path("colibri.db.replaced-1-undo")).unwrap();
        if exchanged {
            std::fs::rename(&place.database, place.path("colibri.db.replaced-1")).unwrap();
            std::fs::copy(place.path("backup.db"), &place.database).unwrap();
        }
        let before = std::fs::read(&place.database).unwrap();
        for command in [&["call", "task_list"] as &[&str], &["verify"], &["log"], &["backup", "copy.db"]] {
            let run = place.run(command);
            assert_ne!(run.code, 0, "{command:?}: {}", run.text());
            let said = run.text();
            assert!(
                said.contains("was interrupted") && said.contains("colibri restore"),
                "{command:?}: {said}"
            );
        }
        assert!(before == std::fs::read(&place.database).unwrap() && journal.exists());
        let run = place.run(&["restore", "backup.db"]);
        assert_eq!(run.code, 0, "{}", run.text());
        assert_eq!(titles(&place.database), ["honest work", "in the backup"]);
    }
}

/// A rollback journal with the first page as it was (SQLite's file format, section 3).
fn switch_journal(database: &[u8]) -> Vec<u8> {
    const SECTOR: usize = 512;
    const NONCE: u32 = 7;
    let page_size = match u16::from_be_bytes([database[16], database[17]]) {
        1 => 65_536,
        size => u32::from(size),
    };
    let page = &database[..page_size as usize];
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let pages = database.len() as u32 / page_size;
    for number in [1, NONCE, pages, SECTOR as u32, page_size] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(SECTOR, 0);
    journal.extend(1_u32.to_be_bytes());
    journal.extend(page);
    let (mut sum, mut at) = (NONCE, page.len() as i64 - 200);
    while at > 0 {
        sum = sum.wrapping_add(u32::from(page[at as usize]));
        at -= 200;
    }
    journal.extend(sum.to_be_bytes());
    journal
}
