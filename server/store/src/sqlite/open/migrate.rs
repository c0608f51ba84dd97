//! The migration runner (store#migrations): forward only, one transaction a migration, no bookkeeping table.

use std::path::Path;

use rusqlite::Connection;

use crate::sqlite::open::error::OpenError;

/// One file of `migrations/`, compiled in.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// `NNN_name.sql`; the number is the schema version it leads to.
    pub file: &'static str,
    /// The file's text.
    pub sql: &'static str,
}

impl Migration {
    /// Returns `NNN_name`, as messages call it.
    pub fn name(&self) -> &'static str {
        self.file.strip_suffix(".sql").unwrap_or(self.file)
    }

    fn failed(&self, reason: impl Into<String>) -> OpenError {
        OpenError::Migration { name: self.name().to_owned(), reason: reason.into() }
    }
}

/// Returns the number before a file name's first underscore; `None` if the name is not a migration's.
pub fn number_of(file: &str) -> Option<u32> {
    let (digits, rest) = file.split_once('_')?;
    let numeric = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (numeric && rest.ends_with(".sql")).then(|| digits.parse().ok()).flatten()
}

/// Returns the migrations by number; names without a number are left out.
///
/// # Errors
/// Two files have one number.
pub fn ordered(list: &[Migration]) -> Result<Vec<(u32, Migration)>, OpenError> {
    let mut numbered: Vec<_> = list.iter().filter_map(|one| Some((number_of(one.file)?, *one))).collect();
    numbered.sort_by_key(|(number, _)| *number);
    for pair in numbered.windows(2) {
        if let [(first, one), (second, other)] = pair
            && first == second
        {
            return Err(other.failed(format!("it has the same number as {}", one.name())));
        }
    }
    Ok(numbered)
}

/// Returns the highest schema version of the list.
pub fn latest(list: &[Migration]) -> i64 {
    list.iter().filter_map(|one| number_of(one.file)).max().map_or(0, i64::from)
}

/// Returns what a file at `version` still lacks, in order.
///
/// # Errors
/// As [`ordered`].
pub(crate) fn pending_migrations(
    list: &[Migration],
    version: i64,
) -> Result<Vec<(u32, Migration)>, OpenError> {
    Ok(ordered(list)?.into_iter().filter(|(number, _)| i64::from(*number) > version).collect())
}

/// Brings the file to the latest version; returns how many migrations this call ran. `path` is for messages.
///
/// Each runs in a transaction of its own together with the version it leads to. The version is read
/// again inside, since another process may have run the migration meanwhile.
///
/// # Errors
/// [`OpenError::Migration`] with the failing one rolled back and earlier ones kept;
/// [`OpenError::Locked`] if another program held the write lock too long.
pub fn migrate(conn: &Connection, list: &[Migration], path: &Path) -> Result<usize, OpenError> {
    let version = user_version(conn).map_err(|error| OpenError::from_sqlite(path, &error))?;
    let mut ran = 0;
    for (number, migration) in pending_migrations(list, version)? {
        ran += usize::from(apply(conn, i64::from(number), &migration, path)?);
    }
    Ok(ran)
}

/// Runs one migration unless the file has it by now; returns whether it ran.
fn apply(conn: &Connection, number: i64, migration: &Migration, path: &Path) -> Result<bool, OpenError> {
    let failed = |error: rusqlite::Error| migration.failed(engine_text(&error));
    conn.execute_batch("BEGIN IMMEDIATE").map_err(|error| OpenError::from_sqlite(path, &error))?;
    // Undoes a transaction that is still open when this function returns, on every path.
    let _guard = RollBack(conn);
    let before = user_version(conn).map_err(failed)?;
    if before >= number {
        return Ok(false);
    }
    if !is_effectively_empty(migration.sql) {
        conn.execute_batch(migration.sql).map_err(failed)?;
    }
    if conn.is_autocommit() {
        return Err(migration.failed("it ends the runner's transaction; leave out BEGIN and COMMIT"));
    }
    if user_version(conn).map_err(failed)? != before {
        return Err(migration.failed("it sets user_version, which is the runner's; leave that out"));
    }
    conn.pragma_update(None, "user_version", number).map_err(failed)?;
    conn.execute_batch("COMMIT").map_err(failed)?;
    Ok(true)
}

/// Rolls back a transaction that is still open when the guard is dropped.
struct RollBack<'a>(&'a Connection);

impl Drop for RollBack<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // What cannot be rolled back is undone when the connection closes.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

/// Reads the version of a file.
pub(crate) fn user_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Returns SQLite's text. Unlike in a reply, names may show, because the migrations are Colibri's.
fn engine_text(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(text)) => text.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => crate::db::sqlite::handle::reason(other),
    }
}

/// Checks whether nothing but comments, white space and semicolons is left.
pub(crate) fn is_effectively_empty(sql: &str) -> bool {
    strip_sql_comments(sql).chars().all(|c| c.is_whitespace() || c == ';')
}

/// Returns the text without `--` and `/* */` comments, each replaced by a space. What looks like a comment
/// inside quotes stays.
pub(crate) fn strip_sql_comments(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (kept, length) = if rest.starts_with("--") {
            (" ", rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(body) = rest.strip_prefix("/*") {
            // An unclosed comment runs to the end, as in SQLite.
            (" ", body.find("*/").map_or(rest.len(), |end| end + 4))
        } else {
            let length = match first {
                '\'' | '"' | '`' => quoted(rest, first),
                '[' => quoted(rest, ']'),
                _ => first.len_utf8(),
            };
            (&rest[..length], length)
        };
        out.push_str(kept);
        rest = &rest[length..];
    }
    out
}

/// Returns the length of the quoted text that `text` starts with. A doubled quote reads as two adjacent
/// texts, with the same result here.
fn quoted(text: &str, close: char) -> usize {
    text[1..].find(close).map_or(text.len(), |end| end + 2)
}
