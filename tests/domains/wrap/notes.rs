//! Notes on calls: `colibri verify` names each change, and views show them.

use colibri::catalogue::ToolId;
use colibri_test_support::wrapped::{Ending, add_call, begin, operate};
use serde_json::{Value, json};

use super::place::Place;

/// A database with two notes on one call.
fn noted() -> Place {
    let place = Place::new();
    let path = place.database();
    begin(&path, "clock", Value::Null);
    for (kind, body) in [
        ("withdrawn", json!({ "reason_hash": null, "at": "2026-11-27T10:00:00.000Z" })),
        ("later_round", json!({ "first": 1, "state_hash": "00", "actions": ["accept", null] })),
    ] {
        let note = json!({ "about": 2, "kind": kind, "body": body });
        let reply = operate(&path, &[(ToolId::CallNote, note)]).remove(0);
        assert_eq!(reply["ok"], true, "{reply}");
    }
    place
}

#[test]
fn each_change_of_a_note_is_named() {
    let place = noted();
    assert_eq!(place.findings(), [""; 0]);
    let again = "INSERT INTO call_notes (note_no, about, kind, noted_at, sequence_no, body) \
                 SELECT 7, about, kind, noted_at, sequence_no, body FROM call_notes WHERE note_no = 1";
    for (sql, expected) in [
        ("UPDATE call_notes SET note_no = 9 WHERE note_no = 2", "ties CALL_MISMATCH"),
        ("UPDATE call_notes SET about = about + 1 WHERE note_no = 1", "ties ROW_CHANGED"),
        ("UPDATE call_notes SET kind = 'task_ended' WHERE note_no = 1", "ties ROW_CHANGED"),
        ("UPDATE call_notes SET noted_at = '2026' WHERE note_no = 1", "ties ROW_CHANGED"),
        ("UPDATE call_notes SET body = '{}' WHERE note_no = 1", "ties ROW_CHANGED"),
        ("UPDATE call_notes SET body = body || ' ' WHERE note_no = 2", "ties ROW_CHANGED"),
        ("UPDATE call_notes SET sequence_no = sequence_no - 1 WHERE note_no = 1", "ties CALL_MISMATCH"),
        ("UPDATE call_notes SET sequence_no = 999 WHERE note_no = 1", "ties CALL_MISSING"),
        ("DELETE FROM call_notes WHERE note_no = 1", "ties ROW_MISSING"),
        ("DELETE FROM call_notes WHERE note_no = 2", "ties ROW_MISSING"),
        (again, "ties CALL_MISMATCH"),
    ] {
        let conn = place.sql();
        conn.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM call_notes").unwrap();
        assert!(conn.tamper(sql) > 0, "{sql}");
        let found = place.findings();
        for back in ["DELETE FROM call_notes", "INSERT INTO call_notes SELECT * FROM kept"] {
            conn.tamper(back);
        }
        conn.execute_batch("DROP TABLE kept").unwrap();
        assert!(found.iter().any(|found| found.starts_with(expected)), "{sql}: {found:?}");
    }
    assert_eq!(place.findings(), [""; 0], "everything was put back");
}

#[test]
fn the_log_and_the_timeline_show_the_notes_on_a_call() {
    let place = noted();
    let text = place.run(&["log"]).ends(0).out;
    assert!(text.contains("note 1: withdrawn by the client at 2026-11-27T10:00:00.000Z\n"), "{text}");
    assert!(text.contains("note 2: continues call 1 (accept, other)"), "{text}");
    let log = place.run(&["log", "--json"]).ends(0).out;
    let rows: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let about = rows.iter().find(|row| row["sequence_no"] == 2).unwrap();
    assert_eq!((&about["notes"][0]["kind"], &about["notes"][1]["about"]), (&json!("withdrawn"), &json!(2)));
    assert!(rows.iter().filter(|row| row["sequence_no"] != 2).all(|row| row.get("notes").is_none()));
    let told = place.run(&["timeline", "--since", "1h"]).ends(0).out;
    assert!(told.contains("noted: call 2 withdrawn by the client at"), "{told}");
}

#[test]
fn a_call_that_begins_a_task_or_asks_for_input_is_unfinished_in_every_view() {
    let place = Place::new();
    place.call("audit_session_start", &json!({ "intent": "Ask the clock", "session_id": "S-1" }));
    let run = begin(&place.database(), "clock", json!("S-1"));
    for code in ["INPUT_REQUIRED", "TASK_CREATED"] {
        let ending = Ending { outcome: "domain_error", code: Some(code) };
        add_call(&place.sql(), &run, "clock/get_time", &ending);
    }
    let page = place.shell.path().join("report.html");
    let report = place.run(&["report", "S-1", "--html", page.to_str().unwrap(), "--json"]).ends(0).json();
    let row =
        json!({ "server": "clock", "tool": "get_time", "ok": 0, "failed": 0, "refused": 0, "unfinished": 2 });
    assert_eq!(report["calls"]["tools"], json!([row]));
    let page = place.shell.path().join("overview.html");
    place.run(&["overview", "--html", page.to_str().unwrap()]).ends(0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<span class=\"refused\">0 failed or refused</span>"), "{page}");
    assert!(page.contains("<span class=\"unfinished\">2 unfinished</span>"), "{page}");
    let told = place.run(&["timeline", "--since", "1h"]).ends(0).out;
    for code in ["INPUT_REQUIRED", "TASK_CREATED"] {
        assert!(told.contains(&format!("did not finish clock/get_time: {code}")), "{told}");
    }
}
