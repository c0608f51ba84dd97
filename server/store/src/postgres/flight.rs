//! The statements of a flight: what is sent together, and answered together (postgres#batch).

use std::time::Duration;

use colibri_canonical::HexDigest;
use colibri_proof::log_row::OpenRow;
use colibri_runtime::chain::audit::EnterEvent;

use crate::Value;
use crate::db::postgres::lists::ENTERS;
use crate::db::postgres::{Limit, PgCell, PgError, PgRow, Rows, Session};
use crate::log::head::Head;
use crate::log::rows::{AuditFacts, Closing};
use crate::params;

/// The class of Colibri's advisory locks: `CLBR`, as in the header of its SQLite files.
pub(super) const LOCK_CLASS: i64 = 0x434C_4252;

/// Locks that the server keeps until the transaction ends. Who takes several takes them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// For giving calls their numbers.
    Enter = 1,
    /// For changing anything else.
    Exit = 2,
}

/// Takes a lock. The commit then waits for no disk: the mark behind it does.
pub(crate) fn lock(session: &mut Session, lock: Lock) -> Result<(), PgError> {
    session.queue(
        "SELECT set_config('synchronous_commit', 'off', true), \
         pg_advisory_xact_lock(CAST(?1 AS int), CAST(?2 AS int))",
        params![LOCK_CLASS, lock as i64],
    )
}

/// Fails where the server waits for no standby. PostgreSQL quotes the text in its message in every language.
const DEMAND: &str = "SELECT CASE WHEN current_setting('synchronous_standby_names') = '' \
                      THEN CAST(current_setting('synchronous_standby_names') || 'waits for no standby' AS int) END";

/// Queues the demand that the server waits for a standby: what follows up to the boundary is refused otherwise.
pub(super) fn demand(session: &mut Session) -> Result<(), PgError> {
    session.queue(DEMAND, &[])
}

/// Returns whether [`demand`] was refused.
pub(super) fn is_refused_demand(error: &PgError) -> bool {
    error
        .server()
        .is_some_and(|server| server.code == "22P02" && server.message.contains("waits for no standby"))
}

/// Sends what is queued, and waits for it.
pub(super) fn settle(session: &mut Session) -> Result<(), PgError> {
    let done = session.boundary();
    session.send()?;
    session.wait(done).map(drop)
}

/// Writes something to the server's write-ahead log and waits until that is durable, and so all before it. As a transaction of its
/// own, in which `synchronous_commit` is that of the session.
pub(crate) const MARK: &str = "SELECT pg_logical_emit_message(true, 'colibri', '')";

/// Adds enter rows behind the last one. The caller holds the lock.
pub(super) fn enter(
    session: &mut Session,
    facts: &AuditFacts,
    events: &[EnterEvent<'_>],
) -> Result<(), PgError> {
    let mut values = Vec::with_capacity(events.len() * ENTERS.width());
    for event in events {
        let row = facts.open_row(0, event);
        values.extend([
            Value::Text(row.correlation_id),
            Value::Text(row.boot_id),
            row.request_id.map_or(Value::Null, Value::Text),
            Value::Text(row.tool),
            Value::Text(row.mode),
            Value::Text(row.args_hash),
            row.trace_context.map_or(Value::Null, Value::Text),
            Value::Text(row.entered_at),
            Value::Integer(row.enter_ms),
        ]);
    }
    ENTERS.queue(session, &values)
}

/// Notes the last number in the session, from where [`entered_and_tip`] fetches it after the commit.
pub(super) fn note_last_number(session: &mut Session) -> Result<(), PgError> {
    session.queue(
        "SELECT set_config('colibri.entered', (SELECT max(sequence_no) FROM enters)::text, false)",
        &[],
    )
}

/// Returns the last number that [`note_last_number`] noted, and where the log ends. The caller holds the lock of exits.
pub(super) fn entered_and_tip(session: &mut Session) -> Result<(i64, Head), PgError> {
    let rows = session.query(
        "SELECT CAST(current_setting('colibri.entered') AS bigint), tip.exit_no, tip.row_hash \
         FROM (SELECT 1) AS one LEFT JOIN (SELECT exit_no, row_hash FROM exits ORDER BY exit_no DESC LIMIT 1) AS tip ON true",
        &[],
        Limit::ONE,
    )?;
    let row = only(&rows)?;
    let last = integer(&row, 0).ok_or(UNREADABLE)?;
    Ok((last, head(last, &row)?))
}

/// Returns where the log ends.
pub(super) fn tip(session: &mut Session) -> Result<Head, PgError> {
    let rows = session.query(
        "SELECT (SELECT coalesce(max(sequence_no), 0) FROM enters), tip.exit_no, tip.row_hash \
         FROM (SELECT 1) AS one LEFT JOIN (SELECT exit_no, row_hash FROM exits ORDER BY exit_no DESC LIMIT 1) AS tip ON true",
        &[],
        Limit::ONE,
    )?;
    let row = only(&rows)?;
    head(integer(&row, 0).ok_or(UNREADABLE)?, &row)
}

/// Reads a head whose chain stands in the columns 1 and 2; before the first exit they are NULL.
fn head(last_sequence_no: i64, row: &PgRow<'_>) -> Result<Head, PgError> {
    let (last_exit_no, last_row_hash) = match (integer(row, 1), text(row, 2)) {
        (None, None) => (0, HexDigest::ZERO),
        (Some(exit_no), Some(hash)) => (exit_no, HexDigest::parse(hash).ok_or(UNREADABLE)?),
        _ => return Err(UNREADABLE),
    };
    Ok(Head { last_sequence_no, last_exit_no, last_row_hash })
}

/// Makes an exit row behind the head, which moves on, and hands its values over for the list of exits. The caller holds the lock. A call
/// whose enter row is gone gets no number, which the table refuses: a server that stopped at once has lost the row, and may have given
/// its number to another call.
pub(super) fn exit(
    take: impl FnOnce(&[Value<'_>]),
    head: &mut Head,
    open: &OpenRow<'_>,
    closing: &Closing<'_>,
) -> Result<(), PgError> {
    let exit_no = head.last_exit_no.checked_add(1).ok_or(UNREADABLE)?;
    let row_hash = closing.closed(open, exit_no, head).hash();
    take(params![
        open.sequence_no,
        closing.outcome,
        closing.error_code,
        closing.error_message,
        closing.result_hash,
        closing.duration_ms,
        closing.exited_at,
        exit_no,
        head.last_row_hash.as_str(),
        row_hash.as_str(),
        closing.subject,
        open.correlation_id,
    ]);
    (head.last_exit_no, head.last_row_hash) = (exit_no, row_hash);
    Ok(())
}

/// Returns whether the log holds an exit with that number and hash.
pub(super) fn holds_exit(session: &mut Session, head: &Head) -> Result<bool, PgError> {
    let sql = "SELECT 1 FROM exits WHERE exit_no = ?1 AND row_hash = ?2";
    let rows = session.query(sql, params![head.last_exit_no, head.last_row_hash.as_str()], Limit::ONE)?;
    Ok(!rows.is_empty())
}

/// Returns the number of the call with that correlation id among the calls after `after`.
pub(super) fn number_of(
    session: &mut Session,
    correlation_id: &str,
    after: i64,
) -> Result<Option<i64>, PgError> {
    let sql = "SELECT sequence_no FROM enters WHERE sequence_no > ?1 AND correlation_id = ?2";
    let rows = session.query(sql, params![after, correlation_id], Limit::ONE)?;
    Ok(rows.row(0).and_then(|row| integer(&row, 0)))
}

/// Returns whether a call of that process is entered and has no end.
pub(super) fn is_open(session: &mut Session, sequence_no: i64, boot_id: &str) -> Result<bool, PgError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM enters WHERE sequence_no = ?1 AND boot_id = ?2) \
               AND NOT EXISTS (SELECT 1 FROM exits WHERE sequence_no = ?1)";
    let rows = session.query(sql, params![sequence_no, boot_id], Limit::ONE)?;
    Ok(integer(&only(&rows)?, 0) == Some(1))
}

/// Says which lock did not come in that time, and who holds it. A lock of a whole table is another program's: a server takes none.
pub(super) fn kept(session: &mut Session, patience: Duration) -> String {
    let seconds = patience.as_secs();
    if let Some((table, holder)) = table_holder(session).ok().flatten() {
        return format!(
            "another program has kept the table {table} locked for more than {seconds} s: {holder}. Let it end, or stop it, then call again"
        );
    }
    match holder(session).ok().flatten() {
        Some(holder) => format!(
            "another writer has kept the lock of the log for more than {seconds} s: {holder}. Resume or stop it, then call again"
        ),
        None => format!("other writers have kept the lock of the log for more than {seconds} s; call again"),
    }
}

/// What names who holds a lock: `colibri 0123456789ab on build-07 (server process 4711)`. PostgreSQL shows a login no other one's address, so
/// the host is part of the name.
const HOLDER: &str = "CASE WHEN a.application_name LIKE '% on %' THEN a.application_name \
                      ELSE concat(coalesce(nullif(a.application_name, ''), 'a client'), ' of the role ', a.usename) END \
                      || ' (server process ' || l.pid || ')'";

/// Names who holds one of the locks of the log for longest.
fn holder(session: &mut Session) -> Result<Option<String>, PgError> {
    let sql = format!(
        "SELECT {HOLDER} FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid \
         WHERE l.locktype = 'advisory' AND l.granted AND CAST(l.classid AS bigint) = ?1 AND l.pid <> pg_backend_pid() \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         ORDER BY a.xact_start LIMIT 1"
    );
    let rows = session.query(&sql, params![LOCK_CLASS], Limit::ONE)?;
    Ok(rows.row(0).and_then(|row| text(&row, 0).map(str::to_owned)))
}

/// Names a table that someone has locked against writers, and who.
fn table_holder(session: &mut Session) -> Result<Option<(String, String)>, PgError> {
    let sql = format!(
        "SELECT CAST(c.relname AS text), {HOLDER} FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid \
         JOIN pg_catalog.pg_class AS c ON c.oid = l.relation AND c.relnamespace = 'colibri'::regnamespace \
         WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid() \
         AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         ORDER BY a.xact_start, c.relname LIMIT 1"
    );
    let rows = session.query(&sql, &[], Limit::ONE)?;
    let Some(row) = rows.row(0) else { return Ok(None) };
    Ok(text(&row, 0).zip(text(&row, 1)).map(|(table, holder)| (table.to_owned(), holder.to_owned())))
}

pub(super) const UNREADABLE: PgError = PgError::Usage("a stored value has an unexpected type");

/// Returns the row of a result that must have one.
pub(super) fn only(rows: &Rows) -> Result<PgRow<'_>, PgError> {
    rows.row(0).ok_or(PgError::Usage("a row that must exist is missing"))
}

pub(crate) fn integer(row: &PgRow<'_>, at: usize) -> Option<i64> {
    if let Ok(PgCell::Integer(number)) = row.cell(at) { Some(number) } else { None }
}

pub(crate) fn text<'a>(row: &PgRow<'a>, at: usize) -> Option<&'a str> {
    match row.cell(at) {
        Ok(PgCell::Text(bytes) | PgCell::Bytes(bytes)) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}
