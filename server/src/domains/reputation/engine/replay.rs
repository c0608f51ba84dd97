//! Replays the ledger from empty (reputation#replay): each entry must follow from the entries before it, and the last
//! entry of a node and domain must match its row. Pure.

mod fault;

use std::collections::{BTreeMap, BTreeSet};

use super::automatic::{AUTOMATIC_EVENTS, Vouching};
use super::domain::Domain;
use super::event::{Acker, EventError, Gain, Kind, Penalty, Source, Step, admit, check_nominal};
use super::gain::{ACK_FLOOR_BPS, ACK_MAX_BPS, EpochSums, Weight, weigh, weighed_step};
use super::ledger::Entry;
use super::pack::LAMBDA_RULES_HASH;
use super::penalty::{penalty_step, reported_reason};
use super::standing::Standing;
use colibri_canonical::HexDigest;
use fault::{entry_fields, first_difference, row_fields, same};

pub(crate) use fault::RowVerdict;
pub use fault::{Checked, Fault, Mismatch};

/// A node's standing in one domain during the walk, and the changes that gains made in its last epoch.
#[derive(Debug)]
struct Live {
    row: Standing,
    sums: EpochSums,
}

/// A walk along the ledger, in the order of `history_id`. Holds one standing per node and domain.
#[derive(Debug)]
pub struct Replay {
    live: BTreeMap<(String, Domain), Live>,
    unledgered: BTreeSet<(String, Domain)>,
    last_id: i64,
    tip: String,
}

impl Replay {
    /// Makes a walk before its first entry. `unledgered` are the rows without entries; their weight as acknowledgers
    /// cannot be known.
    pub fn new(unledgered: impl IntoIterator<Item = (String, Domain)>) -> Self {
        Self {
            live: BTreeMap::new(),
            unledgered: unledgered.into_iter().collect(),
            last_id: 0,
            tip: HexDigest::ZERO.as_str().to_owned(),
        }
    }

    /// Returns the hash of the last entry pushed; 64 zeros before the first.
    pub fn tip(&self) -> &str {
        &self.tip
    }

    /// Checks the next entry against everything before it, then adopts it, so that one fault is not reported again
    /// with each later entry.
    ///
    /// # Errors
    /// [`Mismatch`] with the first fault.
    pub fn push(&mut self, entry: &Entry, entry_hash: &str) -> Result<Checked, Mismatch> {
        let checked = self.check(entry, entry_hash);
        self.adopt(entry, entry_hash);
        checked.map_err(|fault| Mismatch {
            history_id: entry.history_id,
            node_id: entry.node_id.clone(),
            domain: entry.domain,
            fault,
        })
    }

    /// Compares a stored row with its last entry. Each row is compared once; [`Replay::rows_left`] returns the rest.
    pub(crate) fn check_row(&mut self, stored: &Standing) -> RowVerdict {
        let Some(live) = self.live.remove(&(stored.node_id.clone(), stored.domain)) else {
            return RowVerdict::Unledgered;
        };
        if live.row == *stored {
            return RowVerdict::Sound;
        }
        RowVerdict::Differs(first_difference(row_fields(&live.row), row_fields(stored)))
    }

    /// Returns the standings whose stored rows were not compared, by node and domain. After all rows, these are the
    /// missing ones.
    pub(crate) fn rows_left(&self) -> impl Iterator<Item = &Standing> {
        self.live.values().map(|live| &live.row)
    }

    fn check(&self, entry: &Entry, entry_hash: &str) -> Result<Checked, Fault> {
        same("prev_hash", &self.tip, &entry.prev_hash)?;
        same("entry_hash", entry.hash().as_str(), entry_hash)?;
        if entry.history_id <= self.last_id {
            let why = format!("history_id is not above {}, the one before", self.last_id);
            return Err(Fault::Impossible(why));
        }
        let live = self.live.get(&(entry.node_id.clone(), entry.domain));
        let row = live.map(|live| &live.row);
        same("score_before", &row.map_or(0, |row| row.score), &entry.score_before)?;
        same("scar_before", &row.map_or(0, |row| row.scar_bps), &entry.scar_before)?;
        if entry.rule_version_hash != LAMBDA_RULES_HASH {
            return Ok(Checked::ChainOnly);
        }
        let expected = match entry.kind {
            Kind::Gain => self.gain_again(entry, live)?,
            Kind::Penalty => penalty_again(entry, row, &self.tip)?,
        };
        if expected == *entry {
            return Ok(Checked::Whole);
        }
        Err(first_difference(entry_fields(&expected), entry_fields(entry)))
    }

    /// Recomputes the entry of a gain.
    fn gain_again(&self, entry: &Entry, live: Option<&Live>) -> Result<Entry, Fault> {
        let gain = Gain {
            event_id: &entry.event_id,
            node_id: &entry.node_id,
            domain: entry.domain,
            nominal_delta: entry.nominal_delta,
            acker: acker(entry)?,
            epoch: entry.epoch,
            reason: &entry.reason,
            source: entry.source,
        };
        let row = live.map(|live| &live.row);
        check_nominal(gain.nominal_delta).map_err(impossible)?;
        admit(gain.node_id, gain.domain, gain.epoch, row).map_err(impossible)?;
        let sums = live.map(|live| live.sums_in(entry.epoch)).unwrap_or_default();
        let step = |weight| weighed_step(&gain, row, weight, sums).map_err(|error| impossible(error.into()));
        let again = |step: &Step| Entry::of_gain(&gain, step, entry.history_id, &self.tip);
        if let Some(weight) = self.unknowable(&gain, entry.weight_bps)? {
            // At the floor, the peer's standing may have been at the floor or below it.
            let strong = again(&step(Weight { weak: false, ..weight })?);
            let weak_too = weight.weak && strong != *entry;
            return if weak_too { Ok(again(&step(weight)?)) } else { Ok(strong) };
        }
        let acker_row = gain.acker.id().and_then(|id| self.live.get(&(id.to_owned(), gain.domain)));
        match weigh(&gain, acker_row.map(|live| &live.row)).map_err(|error| impossible(error.into()))? {
            Ok(weight) => Ok(again(&step(weight)?)),
            Err(ignored) => {
                Err(Fault::Impossible(format!("the gain counts for nothing: {}", ignored.as_str())))
            }
        }
    }

    /// Returns the weight that an entry claims, if its acknowledger's standing is not in the ledger and so cannot be
    /// known.
    fn unknowable(&self, gain: &Gain<'_>, weight_bps: i64) -> Result<Option<Weight>, Fault> {
        let Some(id) = gain.acker.id().filter(|id| *id != gain.node_id) else { return Ok(None) };
        let key = (id.to_owned(), gain.domain);
        if self.live.contains_key(&key) || !self.unledgered.contains(&key) {
            return Ok(None);
        }
        if !(ACK_FLOOR_BPS..=ACK_MAX_BPS).contains(&weight_bps) {
            let why = format!("weight_bps is {weight_bps}, outside {ACK_FLOOR_BPS} to {ACK_MAX_BPS}");
            return Err(Fault::Impossible(why));
        }
        let weak = weight_bps == ACK_FLOOR_BPS && gain.nominal_delta > 0;
        Ok(Some(Weight { bps: weight_bps, weak }))
    }

    /// Adopts the state that the entry claims after it.
    fn adopt(&mut self, entry: &Entry, entry_hash: &str) {
        let key = (entry.node_id.clone(), entry.domain);
        let sums = self.live.get(&key).map(|live| live.sums_in(entry.epoch)).unwrap_or_default();
        let row = Standing {
            node_id: entry.node_id.clone(),
            domain: entry.domain,
            score: entry.score_after,
            scar_bps: entry.scar_after,
            ban_until_epoch: entry.ban_after,
            last_activity_epoch: entry.epoch,
        };
        // Sums can overflow only through a forged delta, which was reported already.
        let sums = match entry.kind {
            Kind::Gain => sums.with(entry.delta).unwrap_or(sums),
            Kind::Penalty => sums,
        };
        self.live.insert(key, Live { row, sums });
        self.last_id = entry.history_id;
        self.tip = entry_hash.to_owned();
    }
}

impl Live {
    /// Returns the changes that gains made in `epoch` so far. Epochs never go back, so the sums of the last one
    /// suffice.
    fn sums_in(&self, epoch: i64) -> EpochSums {
        if self.row.last_activity_epoch == epoch { self.sums } else { EpochSums::default() }
    }
}

/// Returns the acknowledger of a recorded gain. Events that the server reports must match their rule.
fn acker(entry: &Entry) -> Result<Acker<'_>, Fault> {
    let peer = entry.acker_id.as_deref();
    if entry.source == Source::Import {
        let missing = || Fault::Impossible("an imported gain has an acknowledger".to_owned());
        return peer.map(Acker::Peer).ok_or_else(missing);
    }
    let rule = AUTOMATIC_EVENTS
        .into_iter()
        .find(|rule| rule.source == entry.source && rule.reason == entry.reason)
        .ok_or_else(|| Fault::Impossible("no rule makes such a gain".to_owned()))?;
    same("domain", &rule.domain, &entry.domain)?;
    same("nominal_delta", &rule.nominal_delta, &entry.nominal_delta)?;
    match (peer, rule.vouching) {
        (Some(peer), Vouching::Peer | Vouching::PeerOrSystem) => Ok(Acker::Peer(peer)),
        (None, Vouching::System | Vouching::PeerOrSystem) => {
            Ok(Acker::System { weight_bps: rule.weight_bps })
        }
        _ => Err(Fault::Impossible(format!("{} is not acknowledged so", rule.reason))),
    }
}

/// Recomputes the entry of a penalty.
fn penalty_again(entry: &Entry, row: Option<&Standing>, tip: &str) -> Result<Entry, Fault> {
    let band = entry.band.ok_or_else(|| Fault::Impossible("a penalty has a band".to_owned()))?;
    let reason = reported_reason(band, &entry.reason);
    let reason = reason.ok_or_else(|| Fault::Impossible("the reason does not name the band".to_owned()))?;
    let penalty = Penalty {
        event_id: &entry.event_id,
        node_id: &entry.node_id,
        domain: entry.domain,
        band,
        // The ledger does not record whether a scar was requested, only whether one was left.
        scar: entry.scar_after != entry.scar_before,
        epoch: entry.epoch,
        reason,
        source: entry.source,
    };
    let step = penalty_step(&penalty, row).map_err(impossible)?;
    Ok(Entry::of_penalty(&penalty, &step, entry.history_id, tip))
}

fn impossible(error: EventError) -> Fault {
    Fault::Impossible(error.to_string())
}
