//! Which statements a debug build executes, for a test that prepares all of them on PostgreSQL. A release has no such code.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{LazyLock, Mutex};

use super::value::Value;

/// Names the file, which the test has made. Each statement is appended once: the kinds of its parameters, a tab, its text in one line.
const VARIABLE: &str = "PROBE_STATEMENTS";

struct Seen {
    file: File,
    lines: BTreeSet<String>,
}

static SEEN: LazyLock<Option<Mutex<Seen>>> = LazyLock::new(|| {
    let path = std::env::var_os(VARIABLE)?;
    let file = OpenOptions::new().append(true).open(path).ok()?;
    Some(Mutex::new(Seen { file, lines: BTreeSet::new() }))
});

/// Notes a statement.
pub(super) fn note(sql: &str, params: &[Value<'_>]) {
    let Some(seen) = SEEN.as_ref() else { return };
    let kind = |value: &Value<'_>| match value {
        Value::Null => 'n',
        Value::Integer(_) => 'i',
        Value::Real(_) => 'r',
        Value::Text(_) => 't',
        Value::Blob(_) => 'b',
    };
    let line = format!("{}\t{}\n", params.iter().map(kind).collect::<String>(), sql.replace('\n', " "));
    let Ok(mut seen) = seen.lock() else { return };
    if !seen.lines.contains(&line) {
        let _written = seen.file.write_all(line.as_bytes());
        seen.lines.insert(line);
    }
}
