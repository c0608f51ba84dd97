//! Writes changes of standings (reputation#gains, reputation#penalties). An event goes into the history, its numbers
//! become the ledger's next entry, and the row of `reputations` is updated accordingly.
//!
//! Everything happens inside the caller's savepoint. The pure rules are in `gain` and `penalty`; this module reads
//! their inputs from the tables. It reads all of them before it writes, so a refusal leaves no trace.

use colibri_runtime::handler::{Failure, Fault};

use super::event::{EventError, Gain, Kind, Penalty, Step};
use super::gain::{GainOutcome, Ignored, gain_step};
use super::ledger::{Entry, dedupe_key};
use super::penalty::{DoublePenaltyError, penalty_step};
use super::standing::RowInvalid;
use super::store;
use colibri_canonical::HexDigest;
use colibri_store::db::Db;

/// The time and the call of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// Milliseconds since the Unix epoch.
    pub now_ms: i64,
    /// The audit number of the call (store#ties); `None` outside calls.
    pub sequence_no: Option<i64>,
    /// The configured length of an epoch, in seconds; the first entry fixes it.
    pub epoch_seconds: u32,
}

/// Why an event cannot be recorded. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The event itself is invalid.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The offence was already penalised.
    #[error(transparent)]
    Double(#[from] DoublePenaltyError),
    /// A stored row that the event depends on is invalid.
    #[error(transparent)]
    Row(#[from] RowInvalid),
    /// The ledger cannot be continued.
    #[error(
        "the hash of ledger entry {history_id} is none; `colibri reputation verify` says what else is wrong"
    )]
    Ledger {
        /// The last entry.
        history_id: i64,
    },
}

/// The result of recording a gain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gained {
    /// It was recorded with these numbers.
    Recorded(Step),
    /// It had been recorded before.
    Duplicate,
    /// It is ignored; nothing was written.
    Ignored(Ignored),
}

/// Records an acknowledged event.
///
/// # Errors
/// [`Refusal`]; storage faults.
pub fn record_gain(db: &Db, recording: &Recording, gain: &Gain<'_>) -> Result<Gained, Failure<Refusal>> {
    let key = dedupe_key(gain.event_id, gain.node_id, gain.domain, Kind::Gain, None);
    if store::is_recorded(db, &key)? {
        return Ok(Gained::Duplicate);
    }
    let row = store::standing(db, gain.node_id, gain.domain).map_err(refused)?;
    let acker_row = match gain.acker.id() {
        Some(acker) => store::standing(db, acker, gain.domain).map_err(refused)?,
        None => None,
    };
    let sums = store::epoch_sums(db, gain.node_id, gain.domain, gain.epoch)?;
    let step = match gain_step(gain, row.as_ref(), acker_row.as_ref(), sums).map_err(event_refused)? {
        GainOutcome::Recorded(step) => step,
        GainOutcome::Ignored(ignored) => return Ok(Gained::Ignored(ignored)),
    };
    let prev_hash = tip(db)?;
    append(db, recording, &key, &step, Entry::of_gain(gain, &step, 0, prev_hash.as_str()))?;
    Ok(Gained::Recorded(step))
}

/// Records a penalty and returns its numbers.
///
/// # Errors
/// [`Refusal`], [`Refusal::Double`] among them; storage faults.
pub fn record_penalty(
    db: &Db,
    recording: &Recording,
    penalty: &Penalty<'_>,
) -> Result<Step, Failure<Refusal>> {
    let Penalty { event_id, node_id, domain, band, .. } = *penalty;
    let key = dedupe_key(event_id, node_id, domain, Kind::Penalty, Some(band));
    if store::is_recorded(db, &key)? {
        let double = DoublePenaltyError { event_id: event_id.to_owned(), band };
        return Err(Failure::Domain(double.into()));
    }
    let row = store::standing(db, node_id, domain).map_err(refused)?;
    let step = penalty_step(penalty, row.as_ref()).map_err(event_refused)?;
    let prev_hash = tip(db)?;
    append(db, recording, &key, &step, Entry::of_penalty(penalty, &step, 0, prev_hash.as_str()))?;
    Ok(step)
}

/// Returns the hash that the next entry continues: zeros for the first one. Reads it inside the transaction, because
/// other processes write too (store#sharing).
fn tip(db: &Db) -> Result<HexDigest, Failure<Refusal>> {
    let Some((history_id, hash)) = store::ledger_tip(db)? else { return Ok(HexDigest::ZERO) };
    let hash = hash.as_deref().and_then(HexDigest::parse);
    hash.ok_or(Failure::Domain(Refusal::Ledger { history_id }))
}

/// Writes a step: history, ledger, row, and with the first entry the length of an epoch. The history assigns the
/// entry's number.
fn append(db: &Db, recording: &Recording, key: &str, step: &Step, entry: Entry) -> Result<(), Fault> {
    if entry.prev_hash == HexDigest::ZERO.as_str() {
        store::fix_epoch_seconds(db, recording.epoch_seconds, recording.now_ms)?;
    }
    let history_id = store::insert_event(db, &entry)?;
    let entry = Entry { history_id, ..entry };
    store::insert_entry(db, &entry, key, recording.now_ms, recording.sequence_no)?;
    store::put_standing(db, &step.row)
}

fn refused(failure: Failure<RowInvalid>) -> Failure<Refusal> {
    match failure {
        Failure::Domain(row) => Failure::Domain(row.into()),
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}

fn event_refused(error: EventError) -> Failure<Refusal> {
    Failure::Domain(error.into())
}
