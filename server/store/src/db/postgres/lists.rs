//! Statements that add several rows at once. One statement for a batch costs the server a fraction of one statement a row.

use std::fmt::Write as _;

use super::error::PgError;
use super::session::Session;
use crate::db::value::{Bind, Value};

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

    /// Queues the statement for these values, row after row. Queues nothing if there are no values.
    pub(crate) fn queue(&self, session: &mut Session, values: &[impl Bind]) -> Result<(), PgError> {
        if values.is_empty() {
            return Ok(());
        }
        let values: Vec<Value<'_>> = values.iter().map(Bind::bind).collect();
        session.queue(&self.of(values.len()), &values)
    }

    /// Returns the statement for this number of values, which fill whole rows.
    fn of(&self, values: usize) -> String {
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

/// The most rows that [`insert_of`] puts into one statement.
const MOST_ROWS: usize = 64;

/// Returns how many of `rows` equal INSERTs in a row become one statement: a power of two, so that few different statements arise.
pub(crate) fn rows_at_once(rows: usize) -> usize {
    let rows = rows.min(MOST_ROWS);
    rows.checked_ilog2().map_or(0, |power| 1 << power)
}

/// Returns the statement that does as much as `rows` times this one, each with `params` parameters of its own. None, unless it is an
/// INSERT of one row that ends with its list of parameters.
pub(crate) fn insert_of(sql: &str, params: usize, rows: usize) -> Option<String> {
    if !sql.starts_with("INSERT INTO ") {
        return None;
    }
    let open = sql.rfind('(')?;
    let row = sql[open..].strip_prefix('(')?.strip_suffix(')')?;
    if !sql[..open].ends_with(" VALUES ") {
        return None;
    }
    let numbers: Vec<usize> =
        row.split(", ").map(|one| one.strip_prefix('?')?.parse().ok()).collect::<Option<_>>()?;
    let mut list = sql.to_owned();
    for above in (1..rows).map(|row| row * params) {
        let values: Vec<String> = numbers.iter().map(|number| format!("?{}", number + above)).collect();
        // Writing to a String cannot fail.
        let _ = write!(list, ", ({})", values.join(", "));
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::{insert_of, rows_at_once};

    #[test]
    fn rows_of_equal_inserts_become_one_statement() {
        let one = "INSERT INTO t (a, b, c) VALUES (?1, ?2, ?2)";
        let three = "INSERT INTO t (a, b, c) VALUES (?1, ?2, ?2), (?3, ?4, ?4), (?5, ?6, ?6)";
        assert_eq!(insert_of(one, 2, 3).as_deref(), Some(three));
        assert_eq!(insert_of(one, 2, 1).as_deref(), Some(one));
    }

    #[test]
    fn other_statements_stay_alone() {
        for sql in [
            "UPDATE t SET a = ?1",
            "INSERT INTO t (a) SELECT ?1",
            "INSERT INTO t (a) VALUES (?1) ON CONFLICT DO NOTHING",
            "INSERT INTO t (a) VALUES (?1) RETURNING a",
            "INSERT INTO t (a, b) VALUES (?1, 'x')",
            "INSERT INTO t (a) VALUES ((SELECT max(a) FROM t))",
            "INSERT INTO t (a) VALUES (lower(?1))",
        ] {
            assert_eq!(insert_of(sql, 1, 2), None, "{sql}");
        }
    }

    #[test]
    fn a_run_is_cut_into_powers_of_two() {
        let sizes = |mut rows| {
            std::iter::from_fn(move || {
                let size = rows_at_once(rows);
                rows -= size;
                (size > 0).then_some(size)
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(sizes(14), [8, 4, 2]);
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(129), [64, 64, 1]);
    }
}
