//! Databases that earlier versions wrote: every version from then on opens, migrates and verifies them, and answers
//! from them what was answered then. They lie in `tests/golden_databases`, one or more a release, and are never written again:
//! a release adds its own with `COLIBRI_WRITE_GOLDEN_DATABASES=1`, which refuses to replace any.

mod content;
mod copied;
mod golden;
mod opened;
mod writer;

use colibri::migrations::MIGRATIONS;
use colibri_store::sqlite::open::migrate::{Migration, latest};
use serde_json::json;

use golden::Golden;

/// Everything that lies in the folder; with the variable, after this version's own have been added.
fn all() -> Vec<Golden> {
    static WRITTEN: std::sync::Once = std::sync::Once::new();
    WRITTEN.call_once(|| {
        if std::env::var_os("COLIBRI_WRITE_GOLDEN_DATABASES").is_some() {
            writer::write_all(env!("CARGO_PKG_VERSION"));
        }
    });
    let all = golden::stored();
    for release in ["0.1.0", "0.2.0"] {
        for kind in ["full", "retention", "unclean"] {
            let name = format!("{release}-{kind}");
            assert!(all.iter().any(|golden| golden.name == name), "{name} is gone: it must stay for good");
        }
    }
    all
}

fn named(name: &str) -> Golden {
    all().into_iter().find(|golden| golden.name == name).unwrap()
}

#[test]
fn people_08_each_opens_migrates_verifies_and_answers_as_it_did() {
    for golden in all() {
        assert_eq!(opened::differences(&golden, &golden.unpacked()), Vec::<String>::new(), "{}", golden.name);
    }
}

#[test]
fn each_can_be_read_without_a_byte_being_written() {
    for golden in all() {
        // A reader migrates nothing, so it can only read what this version would have written.
        if golden.expected["schema_version"] == json!(latest(MIGRATIONS)) {
            assert_eq!(opened::read_only(&golden), Vec::<String>::new(), "{}", golden.name);
        }
    }
}

/// The step that a later version will make.
#[test]
fn a_migration_that_is_yet_to_come_keeps_every_row() {
    let next = Migration {
        file: Box::leak(format!("{:03}_later.sql", latest(MIGRATIONS) + 1).into_boxed_str()),
        sql: "ALTER TABLE tasks ADD COLUMN later TEXT; CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;",
    };
    let list: Vec<Migration> = MIGRATIONS.iter().copied().chain([next]).collect();
    let list: &'static [Migration] = Box::leak(list.into_boxed_slice());
    for golden in all() {
        assert_eq!(opened::migrated(&golden, list), latest(list), "{}", golden.name);
    }
}

/// SQLite's VACUUM writes every row anew, in its order.
#[test]
fn a_file_made_small_by_sqlite_is_still_the_same() {
    for golden in all() {
        let folder = golden.unpacked();
        opened::tamper(&folder, "VACUUM");
        assert_eq!(opened::differences(&golden, &folder), Vec::<String>::new(), "{}", golden.name);
    }
}

/// What would let a version through that damages old databases.
#[test]
fn what_differs_is_noticed() {
    let golden = named("0.1.0-full");
    let noticed = |sql: &str, expected: &str| {
        let folder = golden.unpacked();
        opened::tamper(&folder, sql);
        let found = opened::differences(&golden, &folder).concat();
        assert!(found.contains(expected), "{sql}: {found}");
    };
    noticed(
        "DROP TRIGGER trg_thought_frozen; UPDATE thought_records SET agent_id = 'x' WHERE seq = 1",
        "verify",
    );
    noticed("DELETE FROM skills WHERE name = 'colibri-one'", "skills");
    noticed("UPDATE tasks SET title = 'another' WHERE rowid = 1", "task_get");

    let mut other = named("0.1.0-unclean");
    other.expected["tables"]["tasks"] = json!(-1);
    assert!(opened::differences(&other, &other.unpacked()).concat().contains("tasks"));
    let mut other = named("0.1.0-unclean");
    other.expected["log"]["last_exit_no"] = json!(-1);
    assert!(opened::differences(&other, &other.unpacked()).concat().contains("log"));
    let torn = named("0.1.0-unclean");
    let folder = torn.unpacked();
    // Without its log the file is an earlier one: what was acknowledged is missing.
    std::fs::remove_file(folder.path().join("colibri.db-wal")).unwrap();
    assert_ne!(opened::differences(&torn, &folder), Vec::<String>::new());
}
