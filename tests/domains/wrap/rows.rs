//! The rows, and what `colibri verify` says of them.

use colibri::catalogue::ToolId;
use colibri_canonical::sha256_hex;
use colibri_test_support::client::{Launch, envelope};
use colibri_test_support::forger::recompute;
use colibri_test_support::sql::dialect;
use colibri_test_support::wrapped::{
    ABORTED, Ending, FAILED, OK, REFUSED, accept, add_call, add_call_of, begin, fill, note, operate,
};
use colibri_test_support::{engine, sqlite_only};
use serde_json::{Value, json};

use super::place::Place;

/// A database with two servers; the first one's run.
fn worked() -> (Place, Value) {
    let place = Place::new();
    let run = fill(&place.database());
    (place, run)
}

#[test]
fn a_list_is_pinned_noted_once_and_accepted() {
    let place = Place::new();
    let path = place.database();
    let run = begin(&path, "clock", Value::Null);
    let first = note(&path, &run, "Tell the time.")["data"]["list_hash"].clone();
    let again = note(&path, &run, "Tell the time.");
    assert_eq!(again["data"]["error"]["code"], "ERR_PIN_KNOWN", "{again}");
    let second = note(&path, &run, "Tell the time in UTC.")["data"]["list_hash"].clone();
    let accepted = |name: &str, hash: &Value| {
        let data = accept(&path, name, hash)["data"].clone();
        data["error"]["code"].as_str().or(data["event"].as_str()).unwrap().to_owned()
    };
    assert_eq!(accepted("clock", &first), "ERR_PIN_ACCEPTED");
    assert_eq!(accepted("clock", &second), "accepted");
    assert_eq!(accepted("clock", &second), "ERR_PIN_ACCEPTED");
    // The first list differs from the pin now, so it can be accepted again.
    assert_eq!(accepted("clock", &first), "accepted");
    assert_eq!(accepted("files", &first), "ERR_PIN_UNKNOWN");
    let mut other = run;
    other["name"] = json!("files");
    assert_eq!(note(&path, &other, "Tell the time.")["error"]["code"], "HANDLER_ERROR");
    assert_eq!(place.findings(), [""; 0]);
}

#[test]
fn a_list_of_a_mebibyte_is_kept_and_sound_and_odd_ones_are_refused() {
    let place = Place::new();
    let path = place.database();
    let run = begin(&path, "clock", Value::Null);
    let long = "A long text, \u{1f600} and \u{0} and \\ and \". ".repeat(25_000);
    let noted = note(&path, &run, &long);
    assert_eq!(noted["data"]["event"], "pinned", "{noted}");
    let bytes: i64 =
        place.sql().query_row("SELECT length(list) FROM tool_pins", [], |row| row.get(0)).unwrap();
    assert!(bytes > 900_000, "{bytes}");
    assert_eq!(place.findings(), [""; 0]);
    let nested: Value = serde_json::from_str(&format!("{}{}", "[".repeat(126), "]".repeat(126))).unwrap();
    for tools in [
        json!([{ "title": "no name" }]),
        json!([{ "name": "a" }, { "name": "a", "title": "twice" }]),
        json!([{ "name": "a", "deep": nested }]),
    ] {
        let input = json!({ "run_id": run["run_id"], "name": "clock", "instructions": null, "tools": tools });
        let reply = operate(&path, &[(ToolId::PinsNote, input)]).remove(0);
        assert_eq!(reply["error"]["code"], "HANDLER_ERROR", "{reply}");
    }
    assert_eq!(place.findings(), [""; 0]);
}

#[test]
fn runs_and_lists_of_many_processes_are_numbered_without_gaps() {
    let place = Place::new();
    let path = place.database();
    place.call("task_create", &json!({ "title": "A" }));
    std::thread::scope(|scope| {
        for name in ["clock", "clock", "clock", "files", "files", "git", "mail", "web"] {
            let path = &path;
            scope.spawn(move || {
                let run = begin(path, name, Value::Null);
                // The first list of a name is its pin, in any process; the same list is stored once.
                for text in ["Tell the time.", "Tell the time in UTC."] {
                    let reply = note(path, &run, text);
                    assert!(reply["ok"] == true, "{reply}");
                }
            });
        }
    });
    place.run(&["verify"]).ends(0).says("ok      wraps       runs: 8, pins: 5\n");
    let rows: i64 = place.sql().query_row("SELECT count(*) FROM tool_pins", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 10);
}

#[test]
fn wrap_42_counts_of_wraps_agree() {
    let (place, _) = worked();
    place.run(&["verify"]).ends(0).says("ok      wraps       runs: 2, wrapped calls: 5, pins: 2\n");
    let report = place.run(&["verify", "--json"]).json();
    let checks = report["checks"].as_array().unwrap();
    let wraps = checks.iter().find(|check| check["check"] == "wraps").unwrap();
    assert_eq!(wraps["counts"], json!({ "runs": 2, "wrapped calls": 5, "pins": 2 }), "{wraps}");
}

/// Changes rows behind the guards, and puts them back.
fn tampered(place: &Place, table: &str, sql: &str) -> Vec<String> {
    let conn = place.sql();
    conn.execute_batch(&format!("CREATE TEMP TABLE kept AS SELECT * FROM {table}")).unwrap();
    assert!(conn.tamper(sql) > 0, "{sql}");
    let found = place.findings();
    for back in [format!("DELETE FROM {table}"), format!("INSERT INTO {table} SELECT * FROM kept")] {
        conn.tamper(&back);
    }
    conn.execute_batch("DROP TABLE kept").unwrap();
    found
}

#[test]
fn wrap_42_tampering_with_runs_and_pins_is_named() {
    let (place, run) = worked();
    assert_eq!(place.findings(), [""; 0]);
    let of_run = [
        ("run_no = 7", "wraps WRAP_RUN_GAP"),
        ("run_id = run_id || 'x'", "ties CALL_MISMATCH"),
        ("boot_id = boot_id || 'x'", "wraps WRAP_RUN_MISSING"),
        ("boot_id = boot_id || 'x'", "ties ROW_CHANGED"),
        ("name = 'chess'", "wraps WRAP_NAME_MISMATCH"),
        ("name = 'files/'", "ties ROW_CHANGED"),
        ("program = 'node'", "ties ROW_CHANGED"),
        ("command_hash = run_id", "ties ROW_CHANGED"),
        ("pin = 'off'", "ties ROW_CHANGED"),
        ("pin = 'on'", "ties ROW_UNREADABLE"),
        ("read_only = 1", "ties ROW_CHANGED"),
        ("allow = '[]'", "ties ROW_CHANGED"),
        ("allow = '[ \"get_*\"]'", "ties ROW_UNREADABLE"),
        ("deny = '[\"a\"]'", "ties ROW_CHANGED"),
        ("session_id = 'S'", "ties ROW_CHANGED"),
        ("started_at = '2026'", "ties ROW_CHANGED"),
        ("sequence_no = sequence_no + 1", "ties CALL_MISMATCH"),
        ("sequence_no = 999", "ties CALL_MISSING"),
    ];
    for (set, expected) in of_run {
        // Checks of the table refuse some values, so they go with the guards; PostgreSQL keeps its own.
        if set == "pin = 'on'" && engine::is_postgres() {
            continue;
        }
        let sql = format!("UPDATE wrap_runs SET {set} WHERE run_id = '{}'", run["run_id"].as_str().unwrap());
        let found = tampered(&place, "wrap_runs", &sql);
        assert!(found.iter().any(|found| found.starts_with(expected)), "{set}: {found:?}");
    }
    let of_pin = [
        ("pin_no = 9 WHERE pin_no = 2", "ties CALL_MISMATCH"),
        ("name = 'files' WHERE pin_no = 2", "ties ROW_CHANGED"),
        ("event = 'seen' WHERE pin_no = 1", "wraps PIN_ORDER"),
        ("event = 'pinned' WHERE pin_no = 2", "wraps PIN_ORDER"),
        ("event = 'seen' WHERE pin_no = 1", "ties ROW_CHANGED"),
        ("list_hash = run_id WHERE pin_no = 1", "wraps PIN_LIST_CHANGED"),
        ("list_hash = 'x' WHERE pin_no = 3", "wraps PIN_LIST_MISSING"),
        ("tools = 2 WHERE pin_no = 2", "wraps PIN_LIST_CHANGED"),
        ("list = replace(list, 'UTC', 'CET') WHERE pin_no = 2", "wraps PIN_LIST_CHANGED"),
        ("list = list || ' ' WHERE pin_no = 2", "wraps PIN_LIST_CHANGED"),
        ("list = '{' WHERE pin_no = 2", "wraps PIN_LIST_CHANGED"),
        ("run_id = (SELECT max(run_id) FROM wrap_runs) WHERE pin_no = 1", "ties ROW_CHANGED"),
        ("recorded_at = '2026' WHERE pin_no = 3", "ties ROW_CHANGED"),
        ("sequence_no = sequence_no + 1 WHERE pin_no = 1", "ties CALL_MISMATCH"),
    ];
    for (set, expected) in of_pin {
        let found = tampered(&place, "tool_pins", &format!("UPDATE tool_pins SET {set}"));
        assert!(found.iter().any(|found| found.starts_with(expected)), "{set}: {found:?}");
    }
    for (table, key) in [("wrap_runs", "run_no"), ("tool_pins", "pin_no")] {
        let found = tampered(&place, table, &format!("DELETE FROM {table} WHERE {key} = 2"));
        assert!(found.iter().any(|found| found.starts_with("ties ROW_MISSING")), "{table}: {found:?}");
    }
    assert_eq!(place.findings(), [""; 0], "everything was put back");
}

#[test]
fn wrap_42_tampering_with_wrapped_rows_is_named() {
    sqlite_only!("both halves of a row are one table there; the other engine's log has tests of its own");
    let (place, _) = worked();
    let columns = ["tool", "args_hash", "result_hash", "outcome", "error_code", "error_message", "boot_id"];
    for column in columns {
        let sql = format!(
            "UPDATE actions SET {column} = 'clock/x' WHERE tool = 'clock/get_time' AND outcome = 'domain_error'"
        );
        let found = tampered(&place, "actions", &sql);
        assert!(found.iter().any(|found| found.starts_with("log ")), "{column}: {found:?}");
    }
}

#[test]
fn wrap_42_a_wrapped_row_of_no_run_is_named() {
    for (ending, is_found) in [(OK, true), (FAILED, true), (REFUSED, true), (ABORTED, true)] {
        let place = Place::new();
        place.run(&["call", "task_create", r#"{"title": "A"}"#]).ends(0);
        let conn = place.sql();
        let boot: String =
            conn.query_row("SELECT boot_id FROM callers LIMIT 1", [], |row| row.get(0)).unwrap();
        add_call_of(&conn, &boot, "x/y", &ending);
        let found = place.findings();
        assert_eq!(
            found.iter().any(|found| found.starts_with("wraps WRAP_RUN_MISSING")),
            is_found,
            "{found:?}"
        );
    }
    let (place, run) = worked();
    add_call(&place.sql(), &run, "files/read", &OK);
    assert_eq!(place.findings().len(), 1);
    assert!(place.findings()[0].starts_with("wraps WRAP_NAME_MISMATCH actions "));
}

#[test]
fn wrap_43_a_client_of_colibris_own_server_may_ask_for_a_wrapped_name() {
    let place = Place::new();
    let data = place.database();
    let launch = || {
        let (name, value) = engine::variable(&data);
        Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env(name, value)
    };
    let mut server = launch().start();
    let answer = server.request("tools/call", json!({ "name": "github/create_issue", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    server.kill();
    // A call that was cut off: entered, and closed by the next start.
    let conn = place.sql();
    let boot: String = conn.query_row("SELECT boot_id FROM callers LIMIT 1", [], |row| row.get(0)).unwrap();
    let cut_off = Ending { outcome: "aborted", code: Some("PROCESS_ABORTED") };
    add_call_of(&conn, &boot, "github/create_issue", &cut_off);
    let mut next = launch().start();
    let reply = envelope(&next.request("tools/call", json!({ "name": "server_ping", "arguments": {} })));
    assert_eq!(reply["ok"], true, "{reply}");
    drop(next);
    assert_eq!(place.findings(), [""; 0]);
}

#[test]
fn wrap_44_a_checkpoint_and_a_tree_head_find_a_changed_wrapped_row() {
    let (place, _) = worked();
    place.call("audit_session_start", &json!({ "intent": "Ask the clock", "session_id": "S-1" }));
    let task = place.call("task_create", &json!({ "title": "Ask the clock" }))["id"].clone();
    let thought = json!({ "type": "plan", "task_id": task, "agent_id": "a-1", "session_id": "S-1", "content": "Ask it." });
    place.call("thought_record", &thought);
    let sealed = place.call("merkle_finalize", &json!({ "session_id": "S-1" }));
    let head = sealed["tree_head"]["head_hash"].clone();
    let kept = place.shell.path().join("kept.json");
    let kept = kept.to_str().unwrap();
    place.run(&["verify", "--write-checkpoint", kept]).ends(0);
    let db = engine::unguarded_db(&place.database());
    let sql = format!(
        "UPDATE {} SET args_hash = '{}' WHERE sequence_no = (SELECT sequence_no FROM actions WHERE outcome = 'denied')",
        dialect::enters(),
        sha256_hex(b"other arguments")
    );
    assert_eq!(db.changed(&sql, &[]).unwrap(), 1);
    recompute(&db);
    drop(db);
    place.run(&["verify"]).ends(0);
    let told = place.run(&["verify", "--checkpoint", kept]).ends(1);
    assert!(told.out.contains("LOG_REWRITTEN"), "{}", told.out);
    let export = place.shell.path().join("S-1.jsonl");
    let export = export.to_str().unwrap();
    place.run(&["export", "S-1", "--out", export]).ends(0);
    place.run(&["verify-export", export]).ends(3);
    place.run(&["verify-export", export, "--root", head.as_str().unwrap()]).ends(1);
}
