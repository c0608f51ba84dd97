//! The walk along the ledger: each entry by itself, against the one before it, and against the clock.

use super::super::pinned;
use colibri_runtime::kernel::rfc3339_ms;

use super::super::run::Run;
use super::calls::{self, Calls};
use super::tokens::Tokens;
use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::epoch::epoch_at;
use crate::domains::reputation::event::Source;
use crate::domains::reputation::ledger::Entry;
use crate::domains::reputation::replay::{Checked, Fault, Replay};
use crate::domains::reputation::ties::{Clock, LedgerRow, Stored};
use colibri_proof::checkpoint::{Checkpoint, PinnedEntry, ReputationPin};
use colibri_store::walk::Stop;

/// The longest epoch, in seconds (reputation#epochs).
const LONGEST_EPOCH: u32 = 31_536_000;

/// The state of the walk along the ledger.
pub struct Entries<'a> {
    pub(super) replay: Replay,
    pub(super) tokens: Tokens,
    calls: Calls,
    checkpoint: Option<&'a Checkpoint>,
    clock: Option<Clock>,
    pinned: ReputationPin,
    /// The pin as it was at the checkpoint's last entry.
    then: Option<ReputationPin>,
    last_id: i64,
    first_recorded_at: Option<i64>,
    highest_epoch: i64,
    other_rules: u64,
    scratch: Vec<u8>,
}

impl<'a> Entries<'a> {
    pub fn new(
        by_hand: Vec<(String, Domain)>,
        clock: Option<Clock>,
        checkpoint: Option<&'a Checkpoint>,
    ) -> Self {
        let pinned = ReputationPin::begin(clock.map(|clock| (clock.epoch_seconds, clock.set_at)));
        Self {
            replay: Replay::new(by_hand),
            tokens: Tokens::new(checkpoint),
            calls: Calls::default(),
            checkpoint,
            clock,
            pinned,
            then: None,
            last_id: 0,
            first_recorded_at: None,
            highest_epoch: 0,
            other_rules: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes the next row.
    pub fn take(&mut self, run: &mut Run<'_>, row: &LedgerRow) -> Result<(), Stop> {
        let id = row.history_id;
        if id != self.last_id.saturating_add(1) {
            let expected = self.last_id.saturating_add(1);
            found(run, id, "ENTRY_MISSING", || format!("entry {expected} is missing before entry {id}"));
        }
        self.last_id = id;
        self.pin(row);
        let entry = match &row.stored {
            Stored::Whole(entry) => entry,
            Stored::NoEvent => {
                found(run, id, "EVENT_MISSING", || format!("entry {id} has no event in the history"));
                return Ok(());
            }
            Stored::Unreadable => {
                found(run, id, "ENTRY_UNREADABLE", || {
                    format!("entry {id} holds a value that no entry can have")
                });
                return Ok(());
            }
        };
        self.behind_the_last(run, entry, row);
        if row.dedupe_key != entry.dedupe_key() {
            found(run, id, "DEDUPE_KEY", || format!("entry {id} has another event's dedupe_key"));
        }
        self.beside_the_clock(run, entry, row);
        self.calls.take(run, entry, row)?;
        self.tokens.take(run, entry, row.recorded_at)?;
        self.highest_epoch = self.highest_epoch.max(entry.epoch);
        Ok(())
    }

    /// Checks the values that follow from the entries before.
    fn behind_the_last(&mut self, run: &mut Run<'_>, entry: &Entry, row: &LedgerRow) {
        match self.replay.push(entry, &row.entry_hash) {
            Ok(Checked::Whole) => {}
            Ok(Checked::ChainOnly) => self.other_rules += 1,
            Err(mismatch) => {
                let code = match &mismatch.fault {
                    Fault::Differs { field: "prev_hash", .. } => "CHAIN_BROKEN",
                    Fault::Differs { field: "entry_hash", .. } => "ENTRY_CHANGED",
                    Fault::Differs { .. } | Fault::Impossible(_) => "ENTRY_WRONG",
                };
                found(run, row.history_id, code, || mismatch.to_string());
            }
        }
    }

    /// Checks that the entry's epoch is the present one of its time, or the highest before it if that was higher. An
    /// import's epoch may be any up to that. This confirms the length of an epoch, which no hash covers.
    fn beside_the_clock(&mut self, run: &mut Run<'_>, entry: &Entry, row: &LedgerRow) {
        self.first_recorded_at.get_or_insert(row.recorded_at);
        let seconds = self.clock.and_then(|clock| u32::try_from(clock.epoch_seconds).ok());
        let Some(seconds) = seconds.filter(|seconds| (1..=LONGEST_EPOCH).contains(seconds)) else { return };
        let present = epoch_at(row.recorded_at, seconds).max(self.highest_epoch);
        let fits = match entry.source {
            Source::Import => entry.epoch <= present,
            Source::Task | Source::Session | Source::Equivocation => entry.epoch == present,
        };
        if !fits {
            found(run, row.history_id, "EPOCH_MISMATCH", || {
                let (id, epoch, at) = (row.history_id, entry.epoch, rfc3339_ms(row.recorded_at));
                format!(
                    "entry {id} is of epoch {epoch}; at {at}, by epochs of {seconds} seconds, it was {present}"
                )
            });
        }
    }

    fn pin(&mut self, row: &LedgerRow) {
        let entry = PinnedEntry {
            entry_hash: &row.entry_hash,
            history_id: row.history_id,
            recorded_at: row.recorded_at,
            sequence_no: row.sequence_no,
        };
        self.pinned.add_entry(&entry, &mut self.scratch);
        if self.checkpoint.is_some_and(|checkpoint| checkpoint.reputation.entries == self.pinned.entries) {
            self.then = Some(self.pinned);
        }
    }

    /// Returns the number of the last entry, 0 without any.
    pub fn last_id(&self) -> i64 {
        self.last_id
    }

    /// Returns the number of entries tied to an import.
    pub fn of_imports(&self) -> i64 {
        self.calls.of_imports
    }

    /// Checks that the clock was set once, with the first entry.
    pub fn finish_clock(&self, run: &mut Run<'_>, clocks: &[Clock]) {
        let subject = || "reputation_clock".to_owned();
        match (clocks, self.first_recorded_at) {
            ([], None) => {}
            ([], Some(_)) => run.found("CLOCK_MISSING", || {
                (subject(), "the ledger has entries, and reputation_clock has no row".to_owned())
            }),
            ([clock], Some(at)) if clock.id == 1 && clock.set_at == at => {
                let seconds = u32::try_from(clock.epoch_seconds);
                if !seconds.is_ok_and(|seconds| (1..=LONGEST_EPOCH).contains(&seconds)) {
                    let message = format!("an epoch cannot have {} seconds", clock.epoch_seconds);
                    run.found("CLOCK_CHANGED", || (subject(), message));
                }
            }
            _ => run.found("CLOCK_CHANGED", || {
                (subject(), "reputation_clock is not the one row that the first entry set".to_owned())
            }),
        }
    }

    /// Counts for the report, and returns the values for a checkpoint.
    pub fn finish(mut self, run: &mut Run<'_>) -> ReputationPin {
        run.count("entries", self.pinned.entries.unsigned_abs());
        run.count("entries under other rules, chain only", self.other_rules);
        run.count("tokens", self.tokens.count().unsigned_abs());
        self.pinned.tokens = self.tokens.pin();
        if let Some(checkpoint) = self.checkpoint {
            let mut then = match checkpoint.reputation.entries {
                0 => ReputationPin::NONE,
                _ => self.then.unwrap_or(self.pinned),
            };
            then.tokens = self.tokens.pin_then();
            pinned::compare_reputation(checkpoint, run, &then);
        }
        self.pinned
    }
}

/// Records a finding about an entry.
pub(super) fn found(run: &mut Run<'_>, id: i64, code: &'static str, what: impl FnOnce() -> String) {
    run.found(code, || (format!("{} {id}", calls::LEDGER), what()));
}
