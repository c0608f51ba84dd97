//! The question what holds in a session (postgres#conditions), and the values that it had when the session began.

use std::fmt::Write as _;

/// Settings of the whole server without which a mark promises nothing.
pub(super) const DURABLE: [(&str, &str); 2] = [("fsync", "on"), ("full_page_writes", "on")];
/// The separator of two values.
pub(super) const BETWEEN: char = '\u{1f}';

/// What holds in a session since it is connected.
#[derive(Debug)]
pub(super) struct Conditions {
    pub names: Vec<String>,
    /// Their values, in the words of the server.
    pub values: Vec<String>,
    /// The server's process that answers.
    pub pid: i64,
    /// The question what holds, and the same with the settings behind a mark.
    pub question: String,
    pub durable: String,
}

impl Conditions {
    pub(super) fn of((names, values): (Vec<String>, Vec<String>), pid: i64) -> Self {
        let own = names.iter().map(String::as_str);
        let ask = |values: &str| {
            format!(
                "SELECT {values}, CAST(pg_backend_pid() AS bigint), \
                 CAST(current_setting('synchronous_standby_names') <> '' AS int), CAST(pg_conf_load_time() AS text)"
            )
        };
        let question = ask(&values_of(own.clone()));
        let durable = ask(&values_of(own.chain(DURABLE.map(|(name, _)| name))));
        Self { names, values, pid, question, durable }
    }
}

/// Returns what asks for the values of these parameters, in one text.
pub(super) fn values_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut sql = format!("concat_ws(chr({})", u32::from(BETWEEN));
    for name in names {
        // Writing to a String cannot fail.
        let _ = write!(sql, ", current_setting('{name}')");
    }
    sql.push(')');
    sql
}
