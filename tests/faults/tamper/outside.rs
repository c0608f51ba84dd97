//! What the file alone cannot tell, and only a checkpoint from before can. The same list stands in
//! docs/explanation/threat-model.md.

use rusqlite::types::Value;

use crate::tamper::kinds::{Case, Kind};
use crate::tamper::table::{Row, Table};

/// Why this tampering is seen with a checkpoint only; `None` when the file must tell.
pub fn outside_only(case: &Case, tables: &[Table]) -> Option<&'static str> {
    let table = tables.iter().find(|table| table.name == case.table)?;
    let value = |row: &Row, column: &str| row.values[table.column(column)].clone();
    // What two rows exchange and both have changes nothing.
    let same = |column: &str| match case.rows.as_slice() {
        [one, other] if case.kind == Kind::Swap => value(one, column) == value(other, column),
        _ => false,
    };
    let among = |columns: &[&str]| {
        case.columns.iter().all(|column| columns.contains(&column.as_str()) || same(column))
    };
    let changes_rows = matches!(case.kind, Kind::Edit | Kind::Swap);
    match case.table.as_str() {
        "actions" => {
            let running = |row: &Row| value(row, "outcome") == Value::Text("running".to_owned());
            let entered = among(&[
                "correlation_id",
                "boot_id",
                "request_id",
                "tool",
                "mode",
                "args_hash",
                "trace_context",
                "entered_at",
                "enter_ms",
            ]);
            (changes_rows && case.rows.iter().all(running) && entered)
                .then_some("a call that is running is not in the log's chain yet")
        }
        "thought_records" => {
            let cold = |row: &Row| value(row, "zone") == Value::Text("cold".to_owned());
            let unsealed = |row: &Row| value(row, "session_id") == Value::Null;
            let loose = among(&["type", "agent_id", "session_id", "content_hash"]);
            (changes_rows && case.rows.iter().all(|row| cold(row) && unsealed(row)) && loose).then_some(
                "a record outside any seal whose content was given up does not give its hash any more",
            )
        }
        "reputation_ledger" => (changes_rows && among(&["recorded_at"]))
            .then_some("when an entry was recorded is known to the milliseconds of its call"),
        "reputation_clock" => (case.kind == Kind::Edit && among(&["epoch_seconds"]))
            .then_some("another length of an epoch may give the same epochs"),
        "experience_tokens" => {
            (changes_rows && among(&["id"])).then_some("the id of a token is drawn at random")
        }
        _ => None,
    }
}
