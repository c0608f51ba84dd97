//! What the file alone cannot tell, and only a checkpoint from before can. The same list stands in
//! docs/guide/threat-model.md.

use rusqlite::types::Value;

use crate::kinds::{Case, Kind};
use crate::table::{Row, Table};

/// Why this tampering is seen with a checkpoint only; `None` when the file must tell.
pub fn outside_only(case: &Case, tables: &[Table]) -> Option<&'static str> {
    let table = tables.iter().find(|table| table.name == case.table)?;
    let value = |row: &Row, column: &str| row.values[table.column(column)].clone();
    let among = |columns: &[&str]| case.columns.iter().all(|column| columns.contains(&column.as_str()));
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
        _ => None,
    }
}
