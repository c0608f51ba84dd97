//! A writer without a database: it keeps rows and ledger in memory and takes events as the stored one does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use crate::domains::reputation::decay::decayed_score;
use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::event::{Acker, EventError, Gain, Kind, Penalty, Source, Step};
use crate::domains::reputation::gain::{EpochSums, GainOutcome, Ignored, gain_step};
use crate::domains::reputation::ledger::{Entry, dedupe_key};
use crate::domains::reputation::penalty::{Band, penalty_step};
use crate::domains::reputation::replay::Replay;
use crate::domains::reputation::standing::Standing;
use colibri_canonical::HexDigest;

pub type Key = (String, Domain);

/// An execution row.
pub fn row(node_id: &str, score: i64, last_activity_epoch: i64) -> Standing {
    Standing { score, ..Standing::unknown(node_id, Domain::Execution, last_activity_epoch) }
}

/// An imported gain in execution.
pub fn gain<'a>(
    event_id: &'a str,
    node_id: &'a str,
    nominal_delta: i64,
    acker: &'a str,
    epoch: i64,
) -> Gain<'a> {
    Gain {
        event_id,
        node_id,
        domain: Domain::Execution,
        nominal_delta,
        acker: Acker::Peer(acker),
        epoch,
        reason: "work",
        source: Source::Import,
    }
}

/// An imported offence in execution.
pub fn offence<'a>(event_id: &'a str, node_id: &'a str, band: Band, epoch: i64) -> Penalty<'a> {
    Penalty {
        event_id,
        node_id,
        domain: Domain::Execution,
        band,
        scar: false,
        epoch,
        reason: "offence",
        source: Source::Import,
    }
}

/// The result of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    Recorded(Step),
    Ignored(Ignored),
    Duplicate,
    Refused(EventError),
}

impl Taken {
    /// The step of an event that was recorded.
    pub fn step(self) -> Step {
        match self {
            Self::Recorded(step) => step,
            other => panic!("not recorded: {other:?}"),
        }
    }
}

/// Rows, and the ledger they came from.
#[derive(Debug, Default)]
pub struct World {
    pub rows: BTreeMap<Key, Standing>,
    pub ledger: Vec<Entry>,
    unledgered: BTreeSet<Key>,
    sums: BTreeMap<(Key, i64), EpochSums>,
    seen: BTreeSet<String>,
}

impl World {
    /// Puts a row in by hand.
    pub fn put(&mut self, row: Standing) {
        let key = (row.node_id.clone(), row.domain);
        self.unledgered.insert(key.clone());
        self.rows.insert(key, row);
    }

    pub fn get(&self, node_id: &str, domain: Domain) -> Option<&Standing> {
        self.rows.get(&(node_id.to_owned(), domain))
    }

    /// The execution score of `node_id` as a reader sees it at `epoch`.
    pub fn visible(&self, node_id: &str, epoch: i64) -> i64 {
        self.get(node_id, Domain::Execution).map_or(0, |row| decayed_score(row, epoch).unwrap())
    }

    pub fn gain(&mut self, gain: &Gain<'_>) -> Taken {
        if self.seen.contains(&dedupe_key(gain.event_id, gain.node_id, gain.domain, Kind::Gain, None)) {
            return Taken::Duplicate;
        }
        let key = (gain.node_id.to_owned(), gain.domain);
        let acker_row = gain.acker.id().and_then(|id| self.get(id, gain.domain));
        let sums = self.sums.get(&(key.clone(), gain.epoch)).copied().unwrap_or_default();
        let step = match gain_step(gain, self.rows.get(&key), acker_row, sums) {
            Ok(GainOutcome::Recorded(step)) => step,
            Ok(GainOutcome::Ignored(ignored)) => return Taken::Ignored(ignored),
            Err(error) => return Taken::Refused(error),
        };
        self.sums.insert((key, gain.epoch), sums.with(step.delta).unwrap());
        self.record(Entry::of_gain(gain, &step, self.next_id(), self.tip().as_str()), &step);
        Taken::Recorded(step)
    }

    pub fn punish(&mut self, penalty: &Penalty<'_>) -> Taken {
        let Penalty { event_id, node_id, domain, band, .. } = *penalty;
        if self.seen.contains(&dedupe_key(event_id, node_id, domain, Kind::Penalty, Some(band))) {
            return Taken::Duplicate;
        }
        match penalty_step(penalty, self.get(node_id, domain)) {
            Ok(step) => {
                self.record(Entry::of_penalty(penalty, &step, self.next_id(), self.tip().as_str()), &step);
                Taken::Recorded(step)
            }
            Err(error) => Taken::Refused(error),
        }
    }

    /// The hash of the last entry.
    pub fn tip(&self) -> HexDigest {
        self.ledger.last().map_or(HexDigest::ZERO, Entry::hash)
    }

    /// A walk along the ledger that knows which rows were put in by hand and got no entry.
    pub fn replay(&self) -> Replay {
        let entered =
            |key: &&Key| self.ledger.iter().any(|entry| entry.node_id == key.0 && entry.domain == key.1);
        Replay::new(self.unledgered.iter().filter(|key| !entered(key)).cloned())
    }

    fn next_id(&self) -> i64 {
        self.ledger.last().map_or(1, |entry| entry.history_id + 1)
    }

    fn record(&mut self, entry: Entry, step: &Step) {
        assert!(self.seen.insert(entry.dedupe_key()));
        self.rows.insert((entry.node_id.clone(), entry.domain), step.row.clone());
        self.ledger.push(entry);
    }
}

/// Calls `compute` `runs` times: all answers must be equal; equal errors agree too (rules#purity).
pub fn deterministic<T: PartialEq + Debug, E: PartialEq + Debug>(
    compute: impl Fn() -> Result<T, E>,
    runs: usize,
) -> Result<(), String> {
    if runs < 1 {
        return Err("at least one run is needed".to_owned());
    }
    let first = compute();
    for run in 2..=runs {
        let again = compute();
        if again != first {
            return Err(format!("run 1 gave {first:?}, run {run} {again:?}"));
        }
    }
    Ok(())
}
