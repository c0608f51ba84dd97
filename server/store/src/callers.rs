//! Who calls come from (people#callers): the rows of `callers`, and which of them a call has.

use colibri_runtime::handler::Fault;
use serde::Serialize;

use crate::db::{Db, Row, RowError};
use crate::params;

/// A row of `callers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // The columns, under their names.
pub struct CallerRow {
    pub caller_no: i64,
    pub boot_id: String,
    pub source: String,
    pub client_name: Option<String>,
    pub client_title: Option<String>,
    pub client_version: Option<String>,
    pub protocol: Option<String>,
    pub actor: Option<String>,
    pub os_user: String,
    pub host: String,
    pub pid: i64,
    pub first_seen: String,
    pub sequence_no: i64,
}

impl CallerRow {
    /// Returns whether both rows are of one process, and of clients that say the same of themselves.
    #[must_use]
    pub fn is_same_caller(&self, other: &Self) -> bool {
        let Self { boot_id, source, client_name, client_title, client_version, protocol, .. } = self;
        (boot_id, source, protocol) == (&other.boot_id, &other.source, &other.protocol)
            && (client_name, client_title, client_version)
                == (&other.client_name, &other.client_title, &other.client_version)
    }
}

const COLUMNS: &str = "caller_no, boot_id, source, client_name, client_title, client_version, protocol, actor, os_user, \
     host, pid, first_seen, sequence_no";

fn read(row: &Row<'_>) -> Result<CallerRow, RowError> {
    Ok(CallerRow {
        caller_no: row.get(0)?,
        boot_id: row.get(1)?,
        source: row.get(2)?,
        client_name: row.get(3)?,
        client_title: row.get(4)?,
        client_version: row.get(5)?,
        protocol: row.get(6)?,
        actor: row.get(7)?,
        os_user: row.get(8)?,
        host: row.get(9)?,
        pid: row.get(10)?,
        first_seen: row.get(11)?,
        sequence_no: row.get(12)?,
    })
}

/// Returns the number that the next caller gets.
///
/// # Errors
/// [`Fault::Storage`].
pub fn next_caller_no(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT coalesce(max(caller_no), 0) + 1 FROM callers", &[], |row| row.get(0))
}

/// Returns the callers of the calls that wrote an agent's rows of a table, which has the columns `agent_id` and `sequence_no`.
///
/// # Errors
/// [`Fault::Storage`].
pub fn of_agent(db: &Db, table: &'static str, agent_id: &str) -> Result<Vec<i64>, Fault> {
    let sql = format!(
        "SELECT DISTINCT (SELECT caller_no FROM callers AS c WHERE c.boot_id = a.boot_id \
         AND c.sequence_no < a.sequence_no ORDER BY c.sequence_no DESC LIMIT 1) FROM {table} AS t \
         JOIN actions AS a ON a.sequence_no = t.sequence_no WHERE t.agent_id = ?1"
    );
    let found: Vec<Option<i64>> = db.query_all(&sql, params![agent_id], |row| row.get(0))?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns each agent of a table's rows since a time with each caller of the calls that wrote them. The table is as for [`of_agent`], and
/// `first` is what `log_query::first_since` found.
///
/// # Errors
/// [`Fault::Storage`].
pub fn agents_since(
    db: &Db,
    table: &'static str,
    since: &str,
    first: i64,
) -> Result<Vec<(String, i64)>, Fault> {
    let sql = format!(
        "SELECT DISTINCT t.agent_id, (SELECT caller_no FROM callers AS c WHERE c.boot_id = a.boot_id \
         AND c.sequence_no < a.sequence_no ORDER BY c.sequence_no DESC LIMIT 1) FROM {table} AS t \
         JOIN actions AS a ON a.sequence_no = t.sequence_no WHERE t.agent_id IS NOT NULL AND t.sequence_no >= ?2 AND a.entered_at >= ?1"
    );
    let found: Vec<(String, Option<i64>)> =
        db.query_all(&sql, params![since, first], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.into_iter().filter_map(|(agent, caller)| Some((agent, caller?))).collect())
}

/// Adds a row.
///
/// # Errors
/// [`Fault::Storage`].
pub fn insert(db: &Db, caller: &CallerRow) -> Result<(), Fault> {
    let sql = format!(
        "INSERT OR FAIL INTO callers ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    );
    let values = params![
        caller.caller_no,
        caller.boot_id,
        caller.source,
        caller.client_name,
        caller.client_title,
        caller.client_version,
        caller.protocol,
        caller.actor,
        caller.os_user,
        caller.host,
        caller.pid,
        caller.first_seen,
        caller.sequence_no,
    ];
    db.execute(&sql, values)
}

/// Returns the caller with that number.
///
/// # Errors
/// [`Fault::Storage`].
pub fn caller(db: &Db, caller_no: i64) -> Result<Option<CallerRow>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM callers WHERE caller_no = ?1");
    db.query_opt(&sql, params![caller_no], read)
}

/// Returns the number of the caller that a call of a process has.
///
/// # Errors
/// [`Fault::Storage`].
pub fn caller_of(db: &Db, boot_id: &str, sequence_no: i64) -> Result<Option<i64>, Fault> {
    let sql = "SELECT caller_no FROM callers WHERE boot_id = ?1 AND sequence_no < ?2 ORDER BY sequence_no DESC LIMIT 1";
    db.query_opt(sql, params![boot_id, sequence_no], |row| row.get(0))
}

/// Returns the caller of a call, and the tool's name; `None` if no such call exists. The caller is `None` for a call of before callers
/// were stored.
///
/// # Errors
/// [`Fault::Storage`].
pub fn caller_of_call(db: &Db, sequence_no: i64) -> Result<Option<(String, Option<CallerRow>)>, Fault> {
    let sql = "SELECT c.caller_no, c.boot_id, c.source, c.client_name, c.client_title, c.client_version, c.protocol, c.actor, \
               c.os_user, c.host, c.pid, c.first_seen, c.sequence_no, a.tool \
               FROM actions AS a LEFT JOIN callers AS c ON c.caller_no = (SELECT caller_no FROM callers \
                 WHERE boot_id = a.boot_id AND sequence_no < a.sequence_no ORDER BY sequence_no DESC LIMIT 1) \
               WHERE a.sequence_no = ?1";
    db.query_opt(sql, params![sequence_no], |row| {
        let is_known = row.get::<Option<i64>>(0)?.is_some();
        Ok((row.get(13)?, if is_known { Some(read(row)?) } else { None }))
    })
}

/// Returns the last caller of a process: the call that stored it, and its number.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn last_of(db: &Db, boot_id: &str) -> Result<Option<(i64, i64)>, Fault> {
    let sql =
        "SELECT sequence_no, caller_no FROM callers WHERE boot_id = ?1 ORDER BY sequence_no DESC LIMIT 1";
    db.query_opt(sql, params![boot_id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Hands over each number of a caller with its call; the row is `None` if it is malformed. In the order of the numbers.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn each_caller<E: From<Fault>>(
    db: &Db,
    mut take: impl FnMut(i64, Option<i64>, Option<CallerRow>) -> Result<(), E>,
) -> Result<(), E> {
    db.walk(&format!("SELECT {COLUMNS} FROM callers ORDER BY caller_no"), &[], |row| {
        let (caller_no, sequence_no) = (row.get(0).map_err(Fault::from)?, row.get(12).ok());
        take(caller_no, sequence_no, read(row).ok())?;
        Ok(true)
    })
}

/// Returns the call that stored a caller.
///
/// # Errors
/// [`Fault::Storage`].
pub fn call_of(db: &Db, caller_no: i64) -> Result<Option<i64>, Fault> {
    db.query_opt("SELECT sequence_no FROM callers WHERE caller_no = ?1", params![caller_no], |row| row.get(0))
}

/// Returns the call that stored the first caller of a process.
///
/// # Errors
/// [`Fault::Storage`].
pub fn first_of(db: &Db, boot_id: &str) -> Result<Option<i64>, Fault> {
    let sql = "SELECT sequence_no FROM callers WHERE boot_id = ?1 ORDER BY sequence_no LIMIT 1";
    db.query_opt(sql, params![boot_id], |row| row.get(0))
}

/// Hands over the numbers of all callers, in order.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn each_number<E: From<Fault>>(db: &Db, mut take: impl FnMut(i64) -> Result<(), E>) -> Result<(), E> {
    db.walk("SELECT caller_no FROM callers ORDER BY caller_no", &[], |row| {
        take(row.get(0).map_err(Fault::from)?)?;
        Ok(true)
    })
}
