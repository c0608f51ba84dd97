//! Parts of statements that the engine of the run writes in its own way.

use crate::engine::is_postgres;

fn either(sqlite: String, postgres: String) -> String {
    if is_postgres() { postgres } else { sqlite }
}

/// The table whose rows say which calls were entered.
pub fn enters() -> &'static str {
    if is_postgres() { "enters" } else { "actions" }
}

/// The table whose rows say how calls ended.
pub fn exits() -> &'static str {
    if is_postgres() { "exits" } else { "actions" }
}

/// Bytes, by their hexadecimal digits.
pub fn bytes(hex: &str) -> String {
    either(format!("x'{hex}'"), format!("'\\x{hex}'::bytea"))
}

/// Bytes for a column of texts that may hold U+0000.
pub fn bytes_as_text(hex: &str) -> String {
    either(format!("CAST(x'{hex}' AS TEXT)"), bytes(hex))
}

/// A text for such a column.
pub fn any_text(expression: &str) -> String {
    either(expression.to_owned(), format!("convert_to({expression}, 'UTF8')"))
}

/// A column of bytes whose first byte is 0.
pub fn first_byte_zero(column: &str) -> String {
    let changed = format!("{} || substr({column}, 2)", bytes("00"));
    either(format!("CAST({changed} AS BLOB)"), changed)
}

/// A number with as many digits as a digest has.
pub fn padded(number: &str) -> String {
    let zeros = "0".repeat(64);
    format!("substr('{zeros}' || {number}, length({number} || '') + 1)")
}
