//! The SQL of verification: reputation's rows exactly as stored, tampered ones included.

use colibri_runtime::handler::Fault;

use super::{LedgerRow, Stored, StoredToken, TokenPlace};
use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::event::{Kind, Source};
use crate::domains::reputation::ledger::Entry;
use crate::domains::reputation::penalty::Band;
use crate::domains::reputation::standing::{RowInvalid, Standing, StoredStanding};
use colibri_store::db::{Db, Row, RowError, Value};
use colibri_store::params;
use colibri_store::walk::Stop;

/// Counts the entries by their numbering, which is dense. SQLite would count all rows one by one.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_entries(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT coalesce(max(history_id), 0) FROM reputation_ledger", &[], |row| row.get(0))
}

/// Hands over all entries in their order.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn each_entry(db: &Db, take: impl FnMut(&LedgerRow) -> Result<(), Stop>) -> Result<(), Stop> {
    entries(db, "ORDER BY l.history_id", &[], take)
}

/// Hands over the entries that name a call, in their order.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn entries_of_call(
    db: &Db,
    (first, last): (i64, i64),
    take: impl FnMut(&LedgerRow) -> Result<(), Stop>,
) -> Result<(), Stop> {
    entries(db, "WHERE l.history_id BETWEEN ?1 AND ?2 ORDER BY l.history_id", params![first, last], take)
}

fn entries(
    db: &Db,
    rest: &str,
    params: &[Value<'_>],
    mut take: impl FnMut(&LedgerRow) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let sql = format!(
        "SELECT l.history_id, h.id, h.node_id, h.domain, h.epoch, h.delta, h.reason, h.event_id, l.kind, l.source, \
         l.band, l.nominal_delta, l.acker_id, l.weight_bps, l.idle_epochs, l.score_before, l.score_settled, \
         l.score_after, l.scar_before, l.scar_after, l.ban_after, l.rule_version_hash, l.prev_hash, l.entry_hash, \
         l.dedupe_key, l.recorded_at, l.sequence_no \
         FROM reputation_ledger AS l LEFT JOIN reputation_history AS h ON h.id = l.history_id {rest}"
    );
    db.walk(&sql, params, |row| {
        take(&ledger_row(row).map_err(Fault::from)?)?;
        Ok(true)
    })
}

fn ledger_row(row: &Row<'_>) -> Result<LedgerRow, RowError> {
    let stored = match row.get::<Option<i64>>(1)? {
        None => Stored::NoEvent,
        Some(_) => entry(row).map_or(Stored::Unreadable, |entry| Stored::Whole(Box::new(entry))),
    };
    Ok(LedgerRow {
        history_id: row.get(0)?,
        stored,
        entry_hash: lossy(row, 23)?,
        dedupe_key: lossy(row, 24)?,
        recorded_at: row.get(25)?,
        sequence_no: row.get(26)?,
    })
}

/// Reads a text, with U+FFFD for malformed bytes. Such a text differs from every text that the server wrote.
fn lossy(row: &Row<'_>, column: usize) -> Result<String, RowError> {
    Ok(match row.get(column)? {
        Value::Text(text) => text.to_owned(),
        Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    })
}

/// Returns the entry, if every column holds a valid value.
fn entry(row: &Row<'_>) -> Option<Entry> {
    let text = |column| row.get::<String>(column).ok();
    let number = |column| row.get::<i64>(column).ok();
    Some(Entry {
        history_id: number(0)?,
        node_id: text(2)?,
        domain: Domain::parse(&text(3)?)?,
        epoch: number(4)?,
        delta: number(5)?,
        reason: text(6)?,
        event_id: text(7)?,
        kind: Kind::parse(&text(8)?)?,
        source: Source::parse(&text(9)?)?,
        band: match row.get::<Option<String>>(10).ok()? {
            Some(band) => Some(Band::parse(&band)?),
            None => None,
        },
        nominal_delta: number(11)?,
        acker_id: row.get(12).ok()?,
        weight_bps: number(13)?,
        idle_epochs: number(14)?,
        score_before: number(15)?,
        score_settled: number(16)?,
        score_after: number(17)?,
        scar_before: number(18)?,
        scar_after: number(19)?,
        ban_after: row.get(20).ok()?,
        rule_version_hash: text(21)?,
        prev_hash: text(22)?,
    })
}

/// Hands over the numbers of events without an entry.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn each_event_without_entry(db: &Db, mut take: impl FnMut(i64) -> Result<(), Stop>) -> Result<(), Stop> {
    let sql = "SELECT id FROM reputation_history AS h \
               WHERE NOT EXISTS (SELECT 1 FROM reputation_ledger AS l WHERE l.history_id = h.id) ORDER BY id";
    db.walk(sql, &[], |row| {
        take(row.get(0).map_err(Fault::from)?)?;
        Ok(true)
    })
}

/// Returns the rows that no entry is about.
///
/// # Errors
/// [`Fault::Storage`].
pub fn unledgered(db: &Db) -> Result<Vec<(String, Domain)>, Fault> {
    let sql = "SELECT node_id, domain FROM reputations AS r WHERE NOT EXISTS \
               (SELECT 1 FROM reputation_history AS h JOIN reputation_ledger AS l ON l.history_id = h.id \
                WHERE h.node_id = r.node_id AND h.domain = r.domain) ORDER BY node_id, domain";
    let rows: Vec<Option<(String, Domain)>> =
        db.query_all(sql, &[], |row| Ok(row.get::<String>(0).ok().zip(Domain::parse(&lossy(row, 1)?))))?;
    Ok(rows.into_iter().flatten().collect())
}

/// Hands over all rows of standings, by node and domain.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn each_standing(
    db: &Db,
    mut take: impl FnMut(Result<Standing, RowInvalid>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let sql = "SELECT node_id, domain, score, scar_bps, ban_until_epoch, last_activity_epoch \
               FROM reputations ORDER BY node_id, domain";
    db.walk(sql, &[], |row| {
        let stored = || -> Result<StoredStanding, RowError> {
            Ok(StoredStanding {
                node_id: lossy(row, 0)?,
                domain: lossy(row, 1)?,
                score: row.get(2)?,
                scar_bps: row.get(3)?,
                ban_until_epoch: row.get(4)?,
                last_activity_epoch: row.get(5)?,
            })
        };
        take(stored().map_err(Fault::from)?.check())?;
        Ok(true)
    })
}

/// A row of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// 1 in the only row that should exist.
    pub id: i64,
    /// The length of an epoch in seconds.
    pub epoch_seconds: i64,
    /// Milliseconds since the Unix epoch.
    pub set_at: i64,
}

/// Returns the rows of the clock, a few at most.
///
/// # Errors
/// [`Fault::Storage`].
pub fn clocks(db: &Db) -> Result<Vec<Clock>, Fault> {
    db.query_all("SELECT id, epoch_seconds, set_at FROM reputation_clock ORDER BY id LIMIT 3", &[], |row| {
        Ok(Clock { id: row.get(0)?, epoch_seconds: row.get(1)?, set_at: row.get(2)? })
    })
}

/// Returns the next token made after the one at `rowid`.
///
/// # Errors
/// [`Fault::Storage`].
pub fn next_token(db: &Db, rowid: i64) -> Result<Option<TokenPlace>, Fault> {
    let sql = "SELECT rowid, id, node_id, level, domain, scenario, counterparty, action, outcome_class, outcome_delta, \
               witnesses, created_at, promoted_from, feature_hash \
               FROM experience_tokens WHERE rowid > ?1 ORDER BY rowid LIMIT 1";
    db.query_opt(sql, params![rowid], |row| {
        Ok(TokenPlace { rowid: row.get(0)?, id: lossy(row, 1)?, token: token(row) })
    })
}

fn token(row: &Row<'_>) -> Option<StoredToken> {
    let text = |column| row.get::<String>(column).ok();
    let optional = |column| row.get::<Option<String>>(column).ok();
    Some(StoredToken {
        node_id: text(2)?,
        level: text(3)?,
        domain: text(4)?,
        scenario: optional(5)?,
        counterparty: optional(6)?,
        action: text(7)?,
        outcome_class: text(8)?,
        outcome_delta: row.get(9).ok()?,
        witnesses: text(10)?,
        created_at: row.get(11).ok()?,
        promoted_from: optional(12)?,
        feature_hash: optional(13)?,
    })
}

/// Returns the ids of witnesses, a few at most.
///
/// # Errors
/// [`Fault::Storage`].
pub fn witnesses(db: &Db) -> Result<Vec<String>, Fault> {
    db.query_all("SELECT witness_id FROM mcp_witnesses ORDER BY rowid LIMIT 3", &[], |row| lossy(row, 0))
}
