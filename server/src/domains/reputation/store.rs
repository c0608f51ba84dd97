//! Reputation's SQL: rows in, rows out. `writer.rs` decides what may be written.

use colibri_runtime::handler::{Failure, Fault};

use super::domain::Domain;
use super::event::Kind;
use super::gain::EpochSums;
use super::ledger::Entry;
use super::penalty::Band;
use super::standing::{RowInvalid, Standing, StoredStanding};
use colibri_store::db::{Db, Row, RowError, Value};
use colibri_store::params;

/// The columns of [`StandingRow`], in its order.
const STANDING: &str = "node_id, domain, score, scar_bps, ban_until_epoch, last_activity_epoch";

/// A row of `reputations` as stored, borrowed from the statement that reads it and not yet checked.
#[derive(Debug, Clone, Copy)]
pub struct StandingRow<'a> {
    /// The node; `None` if the bytes are not text.
    pub node_id: Option<&'a str>,
    /// The domain; `None` if the bytes are not text.
    pub domain: Option<&'a str>,
    /// The score as last written.
    pub score: i64,
    /// The scar, which lowers the ceiling.
    pub scar_bps: i64,
    /// The first epoch without the ban.
    pub ban_until_epoch: Option<i64>,
    /// The last epoch with an event.
    pub last_activity_epoch: i64,
}

impl<'a> StandingRow<'a> {
    fn read(row: &Row<'a>) -> Result<Self, RowError> {
        Ok(Self {
            node_id: text(row, 0)?,
            domain: text(row, 1)?,
            score: row.get(2)?,
            scar_bps: row.get(3)?,
            ban_until_epoch: row.get(4)?,
            last_activity_epoch: row.get(5)?,
        })
    }

    /// Checks the row and returns it as a standing.
    ///
    /// # Errors
    /// [`RowInvalid`] names the first column that no writer can have written.
    pub fn check(&self) -> Result<Standing, RowInvalid> {
        let stored = StoredStanding {
            // A value that is not text is as invalid as an empty one.
            node_id: self.node_id.unwrap_or_default().to_owned(),
            domain: self.domain.unwrap_or_default().to_owned(),
            score: self.score,
            scar_bps: self.scar_bps,
            ban_until_epoch: self.ban_until_epoch,
            last_activity_epoch: self.last_activity_epoch,
        };
        stored.check()
    }
}

/// Borrows a column's text; `None` if the column is not text.
fn text<'a>(row: &Row<'a>, column: usize) -> Result<Option<&'a str>, RowError> {
    Ok(match row.get(column)? {
        Value::Text(text) => Some(text),
        _ => None,
    })
}

/// Hands over the rows of a query over [`STANDING`], until `take` returns `false`.
fn each_standing<E: From<Fault>>(
    db: &Db,
    rest: &str,
    params: &[Value<'_>],
    mut take: impl FnMut(&StandingRow<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    db.walk(&format!("SELECT {STANDING} FROM reputations {rest}"), params, |row| {
        take(&StandingRow::read(row).map_err(Fault::from)?)
    })
}

/// Returns a node's stored standing in a domain.
///
/// # Errors
/// [`RowInvalid`]; storage faults.
pub fn standing(db: &Db, node_id: &str, domain: Domain) -> Result<Option<Standing>, Failure<RowInvalid>> {
    let mut found = None;
    each_standing(db, "WHERE node_id = ?1 AND domain = ?2", params![node_id, domain.as_str()], |row| {
        found = Some(row.check().map_err(Failure::Domain)?);
        Ok::<_, Failure<RowInvalid>>(false)
    })?;
    Ok(found)
}

/// Returns a node's stored standings, ordered by the names of their domains.
///
/// # Errors
/// As [`standing`].
pub fn standings(db: &Db, node_id: &str) -> Result<Vec<Standing>, Failure<RowInvalid>> {
    let mut found = Vec::new();
    each_standing(db, "WHERE node_id = ?1 ORDER BY domain", params![node_id], |row| {
        found.push(row.check().map_err(Failure::Domain)?);
        Ok::<_, Failure<RowInvalid>>(true)
    })?;
    Ok(found)
}

/// Walks over a domain's rows by stored score, highest first, then by the bytes of the node's id, until `take`
/// returns `false`.
///
/// # Errors
/// Storage faults, and what `take` fails with.
pub fn each_by_score<E: From<Fault>>(
    db: &Db,
    domain: Domain,
    take: impl FnMut(&StandingRow<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    each_standing(
        db,
        "INDEXED BY idx_reputations_leaderboard WHERE domain = ?1 ORDER BY score DESC, node_id",
        params![domain.as_str()],
        take,
    )
}

/// Counts the standings of a domain.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_of_domain(db: &Db, domain: Domain) -> Result<i64, Fault> {
    let sql = "SELECT count(*) FROM reputations WHERE domain = ?1";
    db.query_one(sql, params![domain.as_str()], |row| row.get(0))
}

/// A row of `reputation_history` (reputation#tables).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEvent {
    /// Its number, in the order of writing.
    pub id: i64,
    /// The node whose standing changed.
    pub node_id: String,
    /// The domain.
    pub domain: Domain,
    /// The epoch.
    pub epoch: i64,
    /// The change, in basis points; not decayed.
    pub delta: i64,
    /// A free label.
    pub reason: String,
    /// The event that caused it.
    pub event_id: String,
}

/// Returns the events of a node in a domain, by epoch and id, highest first.
///
/// # Errors
/// [`RowInvalid`]; storage faults.
pub fn history(
    db: &Db,
    node_id: &str,
    domain: Domain,
    limit: i64,
    offset: i64,
) -> Result<Vec<HistoryEvent>, Failure<RowInvalid>> {
    let sql = "SELECT id, epoch, delta, reason, event_id FROM reputation_history \
        WHERE node_id = ?1 AND domain = ?2 ORDER BY epoch DESC, id DESC LIMIT ?3 OFFSET ?4";
    let mut events = Vec::new();
    db.walk(sql, params![node_id, domain.as_str(), limit, offset], |row| {
        events.push(event(row, node_id, domain)?);
        Ok::<_, Failure<RowInvalid>>(true)
    })?;
    Ok(events)
}

fn event(row: &Row<'_>, node_id: &str, domain: Domain) -> Result<HistoryEvent, Failure<RowInvalid>> {
    let invalid = |field| {
        Failure::Domain(RowInvalid { node_id: node_id.to_owned(), domain: domain.as_str().to_owned(), field })
    };
    let epoch: i64 = row.get(1).map_err(Fault::from)?;
    if epoch < 0 {
        return Err(invalid("epoch"));
    }
    let reason = text(row, 3).map_err(Fault::from)?.ok_or_else(|| invalid("reason"))?;
    let event_id = text(row, 4).map_err(Fault::from)?.ok_or_else(|| invalid("event_id"))?;
    Ok(HistoryEvent {
        id: row.get(0).map_err(Fault::from)?,
        node_id: node_id.to_owned(),
        domain,
        epoch,
        delta: row.get(2).map_err(Fault::from)?,
        reason: reason.to_owned(),
        event_id: event_id.to_owned(),
    })
}

/// Returns the length of an epoch, once it is fixed.
pub(super) fn epoch_seconds(db: &Db) -> Result<Option<u32>, Fault> {
    db.query_opt("SELECT epoch_seconds FROM reputation_clock WHERE id = 1", &[], |row| row.get(0))
}

/// Fixes the length of an epoch, unless it is fixed already.
pub(super) fn fix_epoch_seconds(db: &Db, seconds: u32, now_ms: i64) -> Result<(), Fault> {
    let sql =
        "INSERT INTO reputation_clock (id, epoch_seconds, set_at) VALUES (1, ?1, ?2) ON CONFLICT DO NOTHING";
    db.execute(sql, params![seconds, now_ms])
}

/// Returns the highest epoch of the ledger. Events without an entry do not count.
pub(super) fn highest_epoch(db: &Db) -> Result<Option<i64>, Fault> {
    let sql = "SELECT epoch FROM reputation_history INDEXED BY idx_history_epoch \
        WHERE EXISTS (SELECT 1 FROM reputation_ledger WHERE history_id = reputation_history.id) \
        ORDER BY epoch DESC LIMIT 1";
    db.query_opt(sql, &[], |row| row.get(0))
}

/// Returns whether an event was recorded under that key (reputation#ledger).
pub(super) fn is_recorded(db: &Db, key: &str) -> Result<bool, Fault> {
    db.query_one(
        "SELECT EXISTS (SELECT 1 FROM reputation_ledger WHERE dedupe_key = ?1)",
        params![key],
        |row| row.get(0),
    )
}

/// Returns the sum of changes that gains made to a node's score in a domain and epoch. Few events change a score
/// before it reaches the epoch's cap. The query skips the others, so its cost does not grow with the number of
/// events.
pub(super) fn epoch_sums(db: &Db, node_id: &str, domain: Domain, epoch: i64) -> Result<EpochSums, Fault> {
    let sql = "SELECT coalesce(CAST(sum(delta) FILTER (WHERE delta > 0) AS BIGINT), 0), \
        coalesce(-CAST(sum(delta) FILTER (WHERE delta < 0) AS BIGINT), 0) \
        FROM reputation_history INDEXED BY idx_history_moves \
        WHERE node_id = ?1 AND domain = ?2 AND epoch = ?3 AND delta <> 0 AND EXISTS \
        (SELECT 1 FROM reputation_ledger WHERE history_id = reputation_history.id AND kind = ?4)";
    db.query_one(sql, params![node_id, domain.as_str(), epoch, Kind::Gain.as_str()], |row| {
        Ok(EpochSums { gained: row.get(0)?, lost: row.get(1)? })
    })
}

/// Returns number and hash of the ledger's last entry; the hash is `None` if it is not text.
pub(super) fn ledger_tip(db: &Db) -> Result<Option<(i64, Option<String>)>, Fault> {
    let sql = "SELECT history_id, entry_hash FROM reputation_ledger ORDER BY history_id DESC LIMIT 1";
    db.query_opt(sql, &[], |row| Ok((row.get(0)?, text(row, 1)?.map(str::to_owned))))
}

/// Writes an entry's row of the history and returns its number.
pub(super) fn insert_event(db: &Db, entry: &Entry) -> Result<i64, Fault> {
    db.query_one(
        "INSERT INTO reputation_history (node_id, domain, epoch, delta, reason, event_id) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
        params![entry.node_id, entry.domain.as_str(), entry.epoch, entry.delta, entry.reason, entry.event_id],
        |row| row.get(0),
    )
}

/// Writes an entry's row of the ledger.
pub(super) fn insert_entry(
    db: &Db,
    entry: &Entry,
    key: &str,
    now_ms: i64,
    sequence_no: Option<i64>,
) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO reputation_ledger (history_id, dedupe_key, kind, source, band, nominal_delta, acker_id, \
         weight_bps, idle_epochs, score_before, score_settled, score_after, scar_before, scar_after, ban_after, \
         rule_version_hash, prev_hash, entry_hash, recorded_at, sequence_no) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
        params![
            entry.history_id,
            key,
            entry.kind.as_str(),
            entry.source.as_str(),
            entry.band.map(Band::as_str),
            entry.nominal_delta,
            entry.acker_id,
            entry.weight_bps,
            entry.idle_epochs,
            entry.score_before,
            entry.score_settled,
            entry.score_after,
            entry.scar_before,
            entry.scar_after,
            entry.ban_after,
            entry.rule_version_hash,
            entry.prev_hash,
            entry.hash().as_str(),
            now_ms,
            sequence_no,
        ],
    )
}

/// Replaces the stored standing.
pub(super) fn put_standing(db: &Db, row: &Standing) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO reputations (node_id, domain, score, scar_bps, ban_until_epoch, last_activity_epoch) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (node_id, domain) DO UPDATE SET score = excluded.score, \
         scar_bps = excluded.scar_bps, ban_until_epoch = excluded.ban_until_epoch, \
         last_activity_epoch = excluded.last_activity_epoch",
        params![
            row.node_id,
            row.domain.as_str(),
            row.score,
            row.scar_bps,
            row.ban_until_epoch,
            row.last_activity_epoch
        ],
    )
}
