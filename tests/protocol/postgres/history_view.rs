//! `task_event_list` writes its JSON itself in PostgreSQL, so its texts are held against SQLite's.

use super::engines::{Both, Cell, Engines};

/// Texts that JSON escapes, or that look as if it did.
const ODD: [&str; 8] = [
    "plain",
    "quote \" backslash \\ slash / apostrophe '",
    "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\t\n\u{b}\u{c}\r\u{e}\u{f}\u{10}\u{1e}\u{1f}\u{7f}",
    "é ü € 漢字 😀 \u{2028}\u{2029}\u{fffd}\u{10ffff}\u{85}\u{ad}",
    "</script> & <b>",
    "null",
    "[null,\"x\"]",
    " ",
];

fn text(value: &str) -> Cell {
    Cell::Text(value.to_owned())
}

fn id(number: usize) -> String {
    format!("{number:0>36}")
}

/// A task with these texts, and the call that its row names.
fn task(number: usize, odd: &str, call: Option<i64>) -> Both {
    let some = |bit: usize| if number & bit == 0 { Cell::Null } else { text(odd) };
    Both::insert(
        "tasks",
        &[
            ("id", text(&id(number))),
            ("project_id", some(1)),
            ("status", text("INIT")),
            ("priority", some(2)),
            ("assignee", some(4)),
            ("created_at", text("2026-05-01T10:00:00.000Z")),
            ("updated_at", text("2026-05-02T10:00:00.000Z")),
            ("deleted_at", some(8)),
            ("sequence_no", call.map_or(Cell::Null, Cell::Integer)),
            ("title", text(odd)),
            ("description", some(16)),
        ],
    )
}

fn call(engines: &mut Engines, sequence_no: i64, tool: &str, boot_id: &str) {
    let rest = format!("VALUES ({sequence_no}, 'c', '{boot_id}', '{tool}', 'FULL', 'h', 't', 0)");
    let columns = "(sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, enter_ms)";
    engines.run_both(&Both {
        sqlite: format!("INSERT INTO actions {columns} {rest}"),
        postgres: format!("INSERT INTO enters {columns} {rest}"),
    });
}

#[test]
fn untold_events_have_the_same_texts_on_both_engines() {
    let Some(mut engines) = Engines::new() else { return };
    // A server of today stores its caller first; one from before 014 stores none.
    engines.run(
        "INSERT INTO callers (caller_no, boot_id, source, os_user, host, pid, first_seen, sequence_no) \
         VALUES (1, 'now', 'none', 'u', 'h', 1, 't', 1)",
    );
    call(&mut engines, 2, "task_create", "now");
    call(&mut engines, 3, "task_create", "before");
    call(&mut engines, 4, "task_update", "now");
    let calls = [None, Some(2), Some(3), Some(4), Some(99)];
    for number in 0..ODD.len() * calls.len() * 4 {
        let (odd, of_call) = (ODD[number % ODD.len()], calls[number / ODD.len() % calls.len()]);
        engines.run_both(&task(number, odd, of_call));
        for other in [3, 1, 2].into_iter().filter(|other| *other < number && number % 3 == 0) {
            let (task_id, depends_on_id) = (id(number), id(number - other));
            engines.run(&format!(
                "INSERT INTO task_dependencies (task_id, depends_on_id) VALUES ('{task_id}', '{depends_on_id}')"
            ));
        }
        // Of some a first event is stored, which tells of the row as it stands or as it was before.
        if number % 4 == 1 {
            let (task_id, told) = (id(number), if number % 8 == 1 { of_call } else { Some(1) });
            let told = told.map_or("NULL".to_owned(), |told| told.to_string());
            engines.run(&format!(
                "INSERT INTO task_events (task_id, event_no, sequence_no, task_call, kind, to_status, at, changes) \
                 VALUES ('{task_id}', 1, 1, {told}, 'created', 'INIT', 't', '{{}}')"
            ));
        }
    }
    let sql = "SELECT task_id || '|' || event_no || '|' || coalesce(CAST(sequence_no AS TEXT), '-') || '|' || kind || '|' \
               || coalesce(from_status, '-') || '|' || to_status || '|' || at || '|' || changes || '|' \
               || coalesce(CAST(claim_no AS TEXT), '-') || coalesce(agent_id, '-') || coalesce(lease_until, '-') || '|' \
               || stored FROM task_event_list ORDER BY task_id, event_no";
    let mut statement = engines.sqlite.prepare(sql).unwrap();
    let sqlite: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(|text| text.unwrap()).collect();
    drop(statement);
    let rows = engines.postgres.query(sql, &[]).unwrap();
    let postgres: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert!(sqlite.len() > ODD.len() * calls.len() * 4, "some tasks have two events");
    for kind in ["|created|", "|migrated|", "depends_on", "deleted_at"] {
        assert!(sqlite.iter().any(|line| line.contains(kind)), "{kind} is among them");
    }
    assert_eq!(postgres, sqlite);
}
