//! Statements that add several rows at once. One statement for a batch costs the server a fraction of one statement a row.

use std::fmt::Write as _;

/// A statement around a list of rows.
pub(crate) struct List {
    before: &'static str,
    after: &'static str,
    /// The types of a row's values: in a list of rows, a parameter has none of its own.
    types: &'static [&'static str],
    /// Each row begins with its place in the list, from 1.
    has_places: bool,
}

/// The enter rows of a batch. They continue the log's numbers.
pub(crate) const ENTERS: List = List {
    before: "INSERT INTO enters (sequence_no, correlation_id, boot_id, request_id, tool, mode, args_hash, trace_context, entered_at, \
             enter_ms) SELECT (SELECT coalesce(max(sequence_no), 0) FROM enters) + place, correlation_id, boot_id, request_id, tool, mode, \
             args_hash, trace_context, entered_at, enter_ms FROM (VALUES ",
    after: ") AS given (place, correlation_id, boot_id, request_id, tool, mode, args_hash, trace_context, entered_at, enter_ms)",
    types: &["text", "text", "text", "bytea", "text", "text", "text", "text", "bigint"],
    has_places: true,
};

/// The exit rows of a batch. A call whose enter row is gone gets no number, which the table refuses.
pub(crate) const EXITS: List = List {
    before: "INSERT INTO exits (sequence_no, outcome, error_code, error_message, result_hash, duration_ms, exited_at, exit_no, prev_hash, \
             row_hash, subject) SELECT e.sequence_no, outcome, error_code, error_message, result_hash, duration_ms, exited_at, exit_no, \
             prev_hash, row_hash, subject FROM (VALUES ",
    after: ") AS given (number, outcome, error_code, error_message, result_hash, duration_ms, exited_at, exit_no, prev_hash, row_hash, \
            subject, correlation) LEFT JOIN enters AS e ON e.sequence_no = given.number AND e.correlation_id = given.correlation",
    types: &[
        "bigint", "text", "text", "bytea", "text", "bigint", "text", "bigint", "text", "text", "text", "text",
    ],
    has_places: false,
};

impl List {
    /// Returns how many values a row has.
    pub(crate) fn width(&self) -> usize {
        self.types.len()
    }

    /// Returns the statement for so many values, which are whole rows.
    pub(crate) fn of(&self, values: usize) -> String {
        let mut sql = self.before.to_owned();
        for row in 0..values / self.width() {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            if self.has_places {
                // Writing to a String cannot fail.
                let _ = write!(sql, "CAST({} AS bigint), ", row + 1);
            }
            for (at, kind) in self.types.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                let number = row * self.width() + at + 1;
                let _ = match row {
                    0 => write!(sql, "{comma}CAST(?{number} AS {kind})"),
                    _ => write!(sql, "{comma}?{number}"),
                };
            }
            sql.push(')');
        }
        sql.push_str(self.after);
        sql
    }
}
