//! `colibri verify` as a person runs it: the real binary, exit codes, texts, checkpoints.

use std::path::{Path, PathBuf};
use std::process::Command;

use colibri_test_support::client::Launch;
use colibri_test_support::dice::Dice;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tamper::kinds::{KINDS, case};
use crate::tamper::table;
use crate::tamper::world::{PUBLIC_KEY, World};

/// A copy of a world, and the command on it.
pub struct Place {
    folder: TempDir,
    pub database: PathBuf,
}

pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }

    /// `check CODE` of each kind of finding.
    pub fn findings(&self) -> Vec<String> {
        let document = self.json();
        let kinds = document["findings"].as_array().unwrap();
        kinds
            .iter()
            .map(|found| format!("{} {}", found["check"].as_str().unwrap(), found["code"].as_str().unwrap()))
            .collect()
    }
}

impl Place {
    pub fn of(world: &World) -> Self {
        let (folder, database) = world.copy();
        Self { folder, database }
    }

    /// A copy of a database that no process writes.
    pub fn of_file(database: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        let copy = folder.path().join("copy.db");
        let conn = Connection::open(database).unwrap();
        conn.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        Self { folder, database: copy }
    }

    pub fn copy(&self) -> Self {
        Self::of_file(&self.database)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn verify(&self, arguments: &[&str]) -> Run {
        let database = self.database.to_str().unwrap();
        verify(self.folder.path(), &[&["--db", database], arguments].concat())
    }

    pub fn sql(&self, sql: &str) {
        Connection::open(&self.database).unwrap().execute_batch(sql).unwrap();
    }

    /// Plain SQL with the guards dropped before it and put back after it.
    pub fn tamper(&self, sql: &[String]) -> Result<(), rusqlite::Error> {
        let conn = Connection::open(&self.database)?;
        conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")?;
        let guards: Vec<(String, String)> = conn
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (name, _) in &guards {
            conn.execute_batch(&format!("DROP TRIGGER {name}"))?;
        }
        let done = sql.iter().try_for_each(|sql| conn.execute(sql, []).map(drop));
        for (_, guard) in &guards {
            conn.execute_batch(guard)?;
        }
        done
    }
}

fn verify(folder: &Path, arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLIBRI_")) {
        command.env_remove(name);
    }
    let output = command.arg("verify").args(arguments).current_dir(folder).output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_sound_database_ends_with_0_and_says_what_to_keep() {
    let place = Place::of(&World::small());
    let text = place.verify(&["--key", PUBLIC_KEY]);
    assert_eq!((text.code, text.err.as_str()), (0, ""), "{}", text.out);
    let tip: String = Connection::open(&place.database)
        .unwrap()
        .query_row("SELECT last_row_hash FROM actions_head", [], |row| row.get(0))
        .unwrap();
    for expected in ["Sound", &tip, "signatures 1 by a trusted key, 2 missing, 0 by an untrusted key"] {
        assert!(text.out.contains(expected), "{expected} is missing:\n{}", text.out);
    }
    for check in ["schema", "log", "trail", "seals", "ties", "skills"] {
        assert!(text.out.contains(&format!("ok      {check}")), "{}", text.out);
    }
    let without = place.verify(&[]);
    assert!(
        without.out.contains("1 by an untrusted key\nTo trust a key, name it with --key, or set "),
        "{}",
        without.out
    );
    let json = place.verify(&["--json"]).json();
    assert_eq!((&json["sound"], &json["tree_heads"]["unknown_key"]), (&json!(true), &json!(1)));
    assert_eq!(json["log"]["last_row_hash"], json!(tip));
    assert_eq!(json["checks"][1]["counts"]["running calls"], json!(1));
    // A key in a file, with its line end.
    std::fs::write(place.path("key.pub"), format!("{PUBLIC_KEY}\n")).unwrap();
    assert_eq!(place.verify(&["--json", "--key", "key.pub"]).json()["tree_heads"]["signed"], json!(1));
}

#[test]
fn a_changed_database_ends_with_1_and_names_the_record() {
    let place = Place::of(&World::small());
    place.tamper(&["UPDATE tasks SET title = 'another' || char(27) WHERE rowid = 1".to_owned()]).unwrap();
    let id: String = Connection::open(&place.database)
        .unwrap()
        .query_row("SELECT id FROM tasks WHERE rowid = 1", [], |row| row.get(0))
        .unwrap();
    let text = place.verify(&[]);
    assert_eq!(text.code, 1);
    assert!(text.out.contains("broken  ties") && text.out.contains("ok      log"), "{}", text.out);
    assert!(text.out.contains(&format!("ties ROW_CHANGED (1): tasks {id} names call")), "{}", text.out);
    let json = place.verify(&["--json"]);
    let expected = ["ties ROW_CHANGED", "history TASK_STATE"].map(str::to_owned);
    assert_eq!((json.code, json.findings()), (1, expected.to_vec()));
    assert_eq!(json.json()["findings"][0]["subject"], json!(format!("tasks {id}")));
}

#[test]
fn one_changed_byte_of_the_file_is_named() {
    let place = Place::of(&World::small());
    place.sql("VACUUM");
    assert_eq!(place.verify(&["--key", PUBLIC_KEY]).code, 0, "copying all rows changes none");
    let mut bytes = std::fs::read(&place.database).unwrap();
    let needle = b"decision of T-3";
    // Pages keep text that has moved elsewhere, so it may be in the file more than once.
    let places: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(needle)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] = b'D';
    }
    std::fs::write(&place.database, bytes).unwrap();
    let findings = place.verify(&["--json"]).findings();
    assert!(findings.contains(&"trail HASH_MISMATCH".to_owned()), "{findings:?}");
    assert!(findings.contains(&"seals TREE_ROOT_MISMATCH".to_owned()), "{findings:?}");
}

#[test]
fn what_cannot_be_verified_ends_with_2_and_says_why() {
    let place = Place::of(&World::small());
    std::fs::write(place.path("text.db"), "no database at all, ".repeat(100)).unwrap();
    std::fs::write(place.path("empty.db"), "").unwrap();
    Connection::open(place.path("foreign.db")).unwrap().execute_batch("CREATE TABLE t (n)").unwrap();
    for name in ["newer.db", "older.db"] {
        std::fs::copy(&place.database, place.path(name)).unwrap();
    }
    let change =
        |name: &str, sql: &str| Connection::open(place.path(name)).unwrap().execute_batch(sql).unwrap();
    change("newer.db", "PRAGMA user_version = 999; CREATE TABLE later (n)");
    change("older.db", "PRAGMA user_version = 6; DROP TABLE skills; DROP TABLE skill_roots");
    for (name, expected) in [
        (
            "missing.db",
            "there is no database at missing.db (the first start of a server creates it); check --db and COLIBRI_DB_PATH",
        ),
        (".", ". is a folder; did you mean ./colibri.db?"),
        ("text.db", "text.db is not a Colibri database; check --db and COLIBRI_DB_PATH"),
        ("empty.db", "empty.db is empty: no server has written to it yet"),
        ("foreign.db", "foreign.db: not a Colibri database"),
        ("newer.db", "schema version 999 is newer than "),
        ("older.db", "schema version 6 is older than "),
        (":memory:", "cannot be verified"),
    ] {
        let run = verify(place.folder.path(), &["--db", name]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{name}: {}", run.err);
        assert!(run.err.starts_with("colibri: ") && run.err.contains(expected), "{name}: {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
    assert!(!place.path("missing.db").exists());
    for (arguments, expected) in [
        (&["--key", "zz"][..], "--key zz"),
        (&["--checkpoint", "none.json"], "cannot read the checkpoint none.json"),
        (&["--checkpoint", "text.db"], "it is not a checkpoint"),
        (&["--bogus"], "Usage: colibri verify"),
    ] {
        let run = place.verify(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}{}", run.out, run.err);
        assert!(run.err.contains(expected), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn a_header_that_was_changed_is_a_finding_where_the_shape_is_right() {
    let place = Place::of(&World::small());
    place.sql("PRAGMA user_version = 3; PRAGMA application_id = 5");
    let run = place.verify(&["--json"]);
    assert_eq!(
        (run.code, run.findings()),
        (1, vec!["schema APPLICATION_ID".to_owned(), "schema USER_VERSION".to_owned()])
    );
}

#[test]
fn a_checkpoint_finds_what_the_file_alone_cannot() {
    let place = Place::of(&World::small());
    let taken = place.verify(&["--write-checkpoint", "one.json", "--key", PUBLIC_KEY]);
    assert_eq!(taken.code, 0, "{}", taken.err);
    assert!(taken.out.contains("Checkpoint written to one.json"), "{}", taken.out);
    let text = std::fs::read_to_string(place.path("one.json")).unwrap();
    assert!(
        text.starts_with("{\"format\":\"colibri-checkpoint\",\"log\":{") && text.ends_with("}\n"),
        "{text}"
    );
    // The command overwrites nothing, and the existing file keeps its bytes.
    let again = place.verify(&["--write-checkpoint", "one.json"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("one.json is there already"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(place.path("one.json")).unwrap(), text);
    let sound = place.verify(&["--checkpoint", "one.json"]);
    assert!(
        sound.code == 0 && sound.out.contains("\nok      checkpoint  closed calls compared: "),
        "{}",
        sound.out
    );
    // A call that was running is cut off.
    place
        .tamper(&[
            "DELETE FROM actions WHERE outcome = 'running'".to_owned(),
            "UPDATE actions_head SET last_sequence_no = last_sequence_no - 1".to_owned(),
        ])
        .unwrap();
    assert_eq!(place.verify(&["--key", PUBLIC_KEY]).code, 0, "the file alone does not tell");
    let run = place.verify(&["--checkpoint", "one.json", "--json"]);
    assert_eq!(
        (run.code, run.findings()),
        (1, vec!["checkpoint LOG_CUT".to_owned(), "checkpoint CALL_CHANGED".to_owned()])
    );
}

#[test]
fn no_checkpoint_is_taken_of_a_database_that_is_not_sound() {
    let place = Place::of(&World::small());
    place.tamper(&["UPDATE tasks SET title = 'another' WHERE rowid = 1".to_owned()]).unwrap();
    let run = place.verify(&["--write-checkpoint", "one.json"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("no checkpoint was written"), "{}", run.err);
    let names: Vec<_> =
        std::fs::read_dir(place.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("one.json")), "{names:?}");
}

#[test]
fn a_checkpoint_still_fits_after_further_work() {
    let place = Place::of(&World::small());
    assert_eq!(place.verify(&["--write-checkpoint", "one.json", "--key", PUBLIC_KEY]).code, 0);
    let folder = std::sync::Arc::new(TempDir::new().unwrap());
    let mut server = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder)
        .env("COLIBRI_DB_PATH", &place.database)
        .start();
    let id = server.data("task_create", json!({ "title": "later" }))["id"].clone();
    server.data("task_update", json!({ "id": id, "title": "still later" }));
    let session = server.data("audit_session_start", json!({ "intent": "later" }))["session_id"].clone();
    server.data(
        "thought_record",
        json!({
            "type": "plan", "task_id": "T-1", "agent_id": "a", "content": "x", "session_id": session,
        }),
    );
    // While the server is there, and after it has stopped.
    let running = place.verify(&["--checkpoint", "one.json"]);
    assert_eq!(running.code, 0, "{}{}", running.out, running.err);
    server.data("merkle_finalize", json!({ "session_id": session }));
    assert_eq!(server.finish().code(), 0);
    let stopped = place.verify(&["--checkpoint", "one.json"]);
    assert_eq!(stopped.code, 0, "{}{}", stopped.out, stopped.err);
}

#[test]
fn a_database_is_verified_while_servers_write() {
    let mut one = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).start();
    let mut other = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).beside(&one).start();
    let session = one.data("audit_session_start", json!({ "intent": "busy" }))["session_id"].clone();
    let id = other.data("task_create", json!({ "title": "shared" }))["id"].clone();
    const CALLS: usize = 400;
    for number in 0..CALLS {
        for server in [&mut one, &mut other] {
            match number % 2 {
                0 => server.send_call("task_update", json!({ "id": id, "title": format!("title {number}") })),
                _ => server.send_call("thought_record", json!({
                    "type": "plan", "task_id": "T", "agent_id": "a", "content": "x", "session_id": session,
                })),
            };
        }
    }
    let database = one.database();
    let folder = one.shared_folder();
    for _ in 0..5 {
        let run = verify(folder.path(), &["--db", database.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    }
    for server in [&mut one, &mut other] {
        for _ in 0..CALLS {
            server.receive();
        }
    }
    // Two processes took turns at one task: the last one to commit is not the last one that began.
    let run = verify(folder.path(), &["--db", database.to_str().unwrap(), "--progress"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
}

#[test]
fn the_binary_reports_each_kind_of_tampering_with_the_guards_put_back() {
    let world = World::small();
    let tables = table::all(&Connection::open(world.database()).unwrap());
    for kind in KINDS {
        for (number, name) in ["tasks", "thought_records", "merkle_leaves"].iter().enumerate() {
            let table = tables.iter().find(|table| table.name == *name).unwrap();
            let dice = Dice::new(number as u64);
            let place = loop {
                let Some(case) = case(kind, table, dice.place(table.columns.len()), &dice) else {
                    continue;
                };
                let place = Place::of(&world);
                if place.tamper(&case.sql).is_ok() {
                    break place;
                }
            };
            let run = place.verify(&["--json"]);
            assert_eq!(run.code, 1, "{kind:?} of {name}: {}", run.out);
            assert!(!run.findings().iter().any(|found| found.starts_with("schema OBJECT")), "{}", run.out);
        }
    }
}
