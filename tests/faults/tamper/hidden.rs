//! Tamperings that look like nothing: to SQLite on a connection that cannot write, to a reader of texts, or to
//! arithmetic. The real binary names each.

use colibri_test_support::client::Launch;
use rusqlite::Connection;
use serde_json::json;

use crate::tamper::command::Place;
use crate::tamper::world::{PUBLIC_KEY, World};

/// Tampers with a copy of `place` and expects the command to name what was done.
fn expect(place: &Place, sql: &str, expected: &str) {
    let other = place.copy();
    other.tamper(&sql.split(';').map(str::to_owned).collect::<Vec<_>>()).unwrap();
    let run = other.verify(&["--json"]);
    assert_eq!(run.code, 1, "{sql}: {}{}", run.out, run.err);
    let findings = run.findings();
    assert!(findings.iter().any(|found| found == expected), "{sql}: {findings:?}");
}

#[test]
fn what_only_a_constraint_forbids_is_found_although_the_file_is_only_read() {
    let place = Place::of(&World::small());
    let zeros = "0".repeat(64);
    expect(&place, "UPDATE actions_head SET id = 2", "log HEAD_ROWS");
    expect(&place, &format!("INSERT INTO actions_head VALUES (7, 1, 1, '{zeros}')"), "log HEAD_ROWS");
    let load = format!("INSERT INTO skill_roots VALUES ('/elsewhere', 'x', -1, '{zeros}')");
    expect(&place, &load, "skills SKILLS_COUNT");
    let misplaced = "trail CONTENT_MISPLACED";
    expect(&place, "UPDATE thought_records SET content_compressed = 'x' WHERE seq = 1", misplaced);
    expect(&place, "UPDATE thought_records SET content = NULL WHERE seq = 1", misplaced);
    let archived = Place::of(&World::archived());
    expect(&archived, "UPDATE thought_records SET content = 'x' WHERE zone = 'warm'", misplaced);
    expect(&archived, "UPDATE thought_records SET content = 'x' WHERE zone = 'cold'", misplaced);
}

/// Readers commonly put U+FFFD for bytes that are not text, but an author may also have written it.
#[test]
fn bytes_that_are_no_text_are_not_taken_for_the_sign_that_stands_for_them() {
    let sign = "\u{fffd}";
    let mut server = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).start();
    server.data("audit_session_start", json!({ "intent": sign, "session_id": "s", "task_id": sign }));
    for _ in 0..2 {
        server.data(
            "thought_record",
            json!({ "type": "plan", "task_id": sign, "agent_id": sign, "content": sign, "session_id": "s" }),
        );
    }
    server.data("task_create", json!({ "title": sign }));
    server.data("merkle_finalize", json!({ "session_id": "s" }));
    let (folder, database) = (server.shared_folder(), server.database());
    assert_eq!(server.finish().code(), 0);
    let place = Place::of_file(&database);
    drop(folder);
    assert_eq!(place.verify(&[]).code, 0);
    for (column, table, expected) in [
        ("content", "thought_records", "trail CONTENT_LOST"),
        ("agent_id", "thought_records", "ties ROW_CHANGED"),
        ("task_id", "thought_records", "trail HASH_MISMATCH"),
        ("intent", "audit_sessions", "ties ROW_CHANGED"),
        ("task_id", "audit_sessions", "ties ROW_CHANGED"),
        ("title", "tasks", "ties ROW_UNREADABLE"),
    ] {
        let sql = format!("UPDATE {table} SET {column} = CAST(x'ff' AS TEXT) WHERE {column} = char(65533)");
        expect(&place, &sql, expected);
    }
}

#[test]
fn the_greatest_and_the_least_numbers_are_findings_like_others() {
    let place = Place::of(&World::small());
    for number in ["9223372036854775807", "-9223372036854775807 - 1"] {
        let edit = |table: &str, column: &str| format!("UPDATE {table} SET {column} = {number}");
        let exit = edit("actions", "exit_no");
        expect(&place, &format!("DROP INDEX idx_actions_exit; {exit}"), "schema OBJECT_MISSING");
        expect(&place, &format!("{exit} WHERE exit_no = 3"), "log EXIT_MISSING");
        for (table, column, expected) in [
            ("actions", "duration_ms", "log ROW_CHANGED"),
            ("actions_head", "last_sequence_no", "log HEAD_MISMATCH"),
            ("trail_heads", "chain_length", "trail RECORD_COUNT_MISMATCH"),
            ("tree_heads", "tree_size", "seals HEAD_HASH_MISMATCH"),
            ("tree_heads", "log_exit_no", "seals LOG_TIP_MISMATCH"),
            ("tree_head_tips", "chain_length", "trail TIP_REGRESSION"),
            ("merkle_roots", "record_count", "seals ROOT_COUNT_MISMATCH"),
            ("tasks", "sequence_no", "ties CALL_MISSING"),
        ] {
            expect(&place, &edit(table, column), expected);
        }
    }
}

#[test]
fn a_trigger_that_is_called_like_the_planners_tables_is_named() {
    let place = Place::of(&World::small());
    let name = "sqlite_stat_evil";
    let other = place.copy();
    other.sql(&format!(
        "PRAGMA writable_schema = ON;
         INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('trigger', '{name}', 'tasks', 0,
         'CREATE TRIGGER {name} AFTER INSERT ON tasks BEGIN DELETE FROM skills; END')"
    ));
    let run = other.verify(&["--json"]);
    assert_eq!((run.code, run.findings()), (1, vec!["schema OBJECT_UNKNOWN".to_owned()]), "{}", run.err);
    let other = place.copy();
    other.sql("ANALYZE");
    assert_eq!(other.verify(&["--key", PUBLIC_KEY]).code, 0, "the planner's statistics decide nothing");
}

/// `colibri verify | head -1` in a script that asks for the exit codes of all parts.
#[test]
fn a_reader_that_goes_early_does_not_change_the_verdict() {
    let place = Place::of(&World::small());
    place.tamper(&["UPDATE tasks SET title = 'another' WHERE rowid = 1".to_owned()]).unwrap();
    for arguments in [&["verify"][..], &["verify", "--json"]] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_colibri-under-test"))
            .args(arguments)
            .env("COLIBRI_DB_PATH", &place.database)
            .current_dir(place.folder())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{arguments:?}");
    }
}

/// Two changes at once must not pass for another release's database, nor for one of another program.
#[test]
fn a_changed_header_does_not_hide_another_change() {
    let place = Place::of(&World::small());
    for sql in [
        "PRAGMA user_version = 3; CREATE TABLE more (n)",
        "PRAGMA application_id = 5; CREATE TABLE more (n)",
        "PRAGMA application_id = 5; PRAGMA user_version = 999; DROP TABLE skills",
    ] {
        let other = place.copy();
        other.sql(sql);
        let run = other.verify(&["--json"]);
        assert_eq!(run.code, 1, "{sql}: {}{}", run.out, run.err);
        assert!(run.findings().len() >= 2, "{sql}: {:?}", run.findings());
    }
    // A schema that SQLite cannot read is damage, not a mistake of the caller.
    let other = place.copy();
    other.sql("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = NULL WHERE type = 'view'");
    let run = other.verify(&[]);
    assert_eq!((run.code, run.out.as_str()), (1, ""), "{}", run.err);
    assert!(run.err.contains("is damaged") && run.err.contains("keep a copy of it"), "{}", run.err);
}

/// A file that may not grow stands for the full disk.
#[cfg(unix)]
#[test]
fn a_checkpoint_that_finds_no_room_leaves_no_file_behind() {
    let place = Place::of(&World::small());
    Connection::open(&place.database).unwrap().pragma_update(None, "journal_mode", "DELETE").unwrap();
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" verify --db \"$1\" --write-checkpoint new.json"])
        .arg(env!("CARGO_BIN_EXE_colibri-under-test"))
        .arg(&place.database)
        .current_dir(place.folder())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(
        out.contains("recomputed from the file matches.") && !out.contains("Checkpoint written"),
        "{out}"
    );
    assert!(err.contains("cannot write the checkpoint new.json"), "{err}");
    let names: Vec<_> =
        std::fs::read_dir(place.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("new.json")), "{names:?}");
    assert_eq!(place.verify(&["--write-checkpoint", "new.json", "--key", PUBLIC_KEY]).code, 0);
}
