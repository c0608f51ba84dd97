//! Properties over random histories: scores stay in their bounds, penalties raise nothing that is visible, decay is the same
//! however often it is read, and the ledger, taken again from empty, gives the rows exactly.
//!
//! `COLIBRI_HISTORIES=100000 cargo test -p colibri --lib reputation::tests::histories` runs a hundred thousand.

use crate::domains::reputation::automatic::{AutomaticEvent, SESSION_SEALED, TASK_DONE};
use crate::domains::reputation::decay::{decayed, decayed_score, settle};
use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::event::{Acker, Gain, Kind, Penalty, Source, Step as Taken};
use crate::domains::reputation::penalty::{Band, SEVERITY_BANDS};
use crate::domains::reputation::replay::{Checked, RowVerdict};
use crate::domains::reputation::standing::Standing;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::domains::reputation::tests::model::Model;
use crate::domains::reputation::tests::replay::rechained;
use crate::domains::reputation::tests::support::{Taken as Outcome, World};

/// Histories without the variable.
const HISTORIES: u32 = 1_000;
/// Few, so that they meet; the last one never owns a row.
const NODES: [&str; 4] = ["alice", "bob", "carol", "nobody"];
const DOMAINS: [Domain; 2] = [Domain::Execution, Domain::Arbitration];

/// Places of three of the numbers that are forged.
const WEIGHT: usize = 1;
const SCAR_AFTER: usize = 7;
const BAN_AFTER: usize = 8;

#[derive(Debug, Clone)]
enum Event {
    Acknowledged { acker: usize, nominal: i64 },
    TaskDone,
    SessionSealed,
    Offence { band: Band, scar: bool },
}

#[derive(Debug, Clone)]
struct Step {
    event: Event,
    /// Few again: some are duplicates.
    event_no: u8,
    node: usize,
    domain: usize,
    /// How far the clock moves before the event.
    epochs: i64,
}

fn step() -> impl Strategy<Value = Step> {
    let nominal = prop_oneof![3 => 1_i64..=10_000, 1 => -10_000_i64..0];
    let event = prop_oneof![
        8 => (0_usize..4, nominal).prop_map(|(acker, nominal)| Event::Acknowledged { acker, nominal }),
        2 => Just(Event::TaskDone),
        2 => Just(Event::SessionSealed),
        2 => (prop::sample::select(SEVERITY_BANDS.to_vec()), any::<bool>())
            .prop_map(|(band, scar)| Event::Offence { band, scar }),
    ];
    let epochs = prop_oneof![6 => Just(0_i64), 5 => 1_i64..3, 2 => 3_i64..120, 1 => 10_000_i64..30_000];
    (event, any::<u8>(), 0_usize..3, 0_usize..2, epochs)
        .prop_map(|(event, event_no, node, domain, epochs)| Step { event, event_no, node, domain, epochs })
}

/// The world, the model beside it, and the clock.
#[derive(Default)]
struct History {
    world: World,
    model: Model,
    epoch: i64,
}

impl History {
    /// A standing that an earlier life left.
    fn put(&mut self, row: Standing) {
        self.model.put(&row);
        self.world.put(row);
    }

    fn take(&mut self, step: &Step) -> Result<(), TestCaseError> {
        self.epoch += step.epochs;
        let (node_id, domain, epoch) = (NODES[step.node], DOMAINS[step.domain], self.epoch);
        let before = self.world.get(node_id, domain).cloned();
        let event_id = format!("e{}", step.event_no);
        let gain = Gain {
            event_id: &event_id,
            node_id,
            domain,
            nominal_delta: 1,
            acker: Acker::Peer(node_id),
            epoch,
            reason: "work",
            source: Source::Import,
        };
        let system = |rule: AutomaticEvent| Gain {
            domain: rule.domain,
            nominal_delta: rule.nominal_delta,
            acker: Acker::System { weight_bps: rule.weight_bps },
            reason: rule.reason,
            source: rule.source,
            ..gain
        };
        match step.event {
            Event::Acknowledged { acker, nominal } => {
                let acker = Acker::Peer(NODES[acker]);
                self.gain(&Gain { nominal_delta: nominal, acker, ..gain })
            }
            Event::TaskDone => self.gain(&system(TASK_DONE)),
            Event::SessionSealed => self.gain(&system(SESSION_SEALED)),
            Event::Offence { band, scar } => {
                let (reason, source) = ("offence", Source::Import);
                let penalty =
                    Penalty { event_id: &event_id, node_id, domain, band, scar, epoch, reason, source };
                self.punish(&penalty, before)
            }
        }
    }

    fn gain(&mut self, gain: &Gain<'_>) -> Result<(), TestCaseError> {
        let key = (gain.node_id.to_owned(), gain.domain);
        let (row, count) = (self.world.rows.get(&key).cloned(), self.world.ledger.len());
        let recorded = self.model.gain(gain);
        match self.world.gain(gain) {
            Outcome::Recorded(taken) => {
                prop_assert!(recorded, "the model ignores {gain:?}");
                let weak = gain.acker.id().is_none() || taken.weight_bps < 1_000;
                prop_assert!(!weak || taken.row.score <= taken.score_settled.max(5_000));
                let before = row.map_or(0, |row| decayed_score(&row, gain.epoch).unwrap());
                // One idle epoch is forgiven; gains and losses have their cap.
                prop_assert!(taken.delta.abs() <= 1_000 && taken.score_settled >= before);
                in_bounds(&taken)
            }
            _ => {
                prop_assert!(!recorded, "the model records {gain:?}");
                prop_assert_eq!(self.world.rows.get(&key), row.as_ref());
                prop_assert_eq!(self.world.ledger.len(), count);
                Ok(())
            }
        }
    }

    fn punish(&mut self, penalty: &Penalty<'_>, before: Option<Standing>) -> Result<(), TestCaseError> {
        let recorded = self.model.punish(penalty);
        let Outcome::Recorded(taken) = self.world.punish(penalty) else {
            prop_assert!(!recorded, "the model records {penalty:?}");
            return Ok(());
        };
        prop_assert!(recorded && taken.delta <= 0);
        // Now and at any later epoch, less is visible than without the penalty.
        for later in [0, 1, 7, 600] {
            let visible = |row: &Standing| decayed_score(row, penalty.epoch + later).unwrap();
            let without = before.as_ref().map_or(0, visible);
            prop_assert!(visible(&taken.row) <= without, "{later} epochs later");
        }
        let ban = before.and_then(|row| row.ban_until_epoch);
        prop_assert!(taken.row.ban_until_epoch >= ban, "{penalty:?} shortened a ban");
        in_bounds(&taken)
    }

    /// Reads store nothing, so many of them are as good as one; and each is what settling in steps gives.
    fn reads_agree(&self, epochs: &[i64]) -> Result<(), TestCaseError> {
        for row in self.world.rows.values() {
            let mut last = row.score;
            let mut settled = (row.score, row.last_activity_epoch);
            let mut at = row.last_activity_epoch;
            for further in epochs {
                at += further;
                let read = decayed(row, at).unwrap();
                prop_assert!((0..=last).contains(&read.score), "{row:?} at {at}");
                settled = (settle(settled.0, row.domain, at - settled.1).unwrap(), at);
                prop_assert_eq!(read.score, settled.0);
                prop_assert_eq!(&Standing { score: row.score, ..read.clone() }, row);
                last = read.score;
            }
        }
        Ok(())
    }

    fn replays(&self) -> Result<(), TestCaseError> {
        let mut replay = self.world.replay();
        for entry in &self.world.ledger {
            prop_assert_eq!(replay.push(entry, entry.hash().as_str()), Ok(Checked::Whole));
        }
        for row in self.world.rows.values() {
            let entered = self
                .world
                .ledger
                .iter()
                .any(|entry| (&entry.node_id, entry.domain) == (&row.node_id, row.domain));
            let expected = if entered { RowVerdict::Sound } else { RowVerdict::Unledgered };
            prop_assert_eq!(replay.check_row(row), expected);
        }
        prop_assert_eq!(replay.rows_left().next(), None);
        Ok(())
    }
}

fn in_bounds(taken: &Taken) -> Result<(), TestCaseError> {
    let row = &taken.row;
    prop_assert!((0..=10_000).contains(&row.score) && row.score <= 10_000 - row.scar_bps, "{row:?}");
    prop_assert!((taken.scar_before..=10_000).contains(&row.scar_bps), "{taken:?}");
    prop_assert!((0..=taken.score_before).contains(&taken.score_settled), "{taken:?}");
    prop_assert_eq!(taken.delta, row.score - taken.score_settled);
    Ok(())
}

fn runner() -> TestRunner {
    let histories = std::env::var("COLIBRI_HISTORIES").ok();
    let cases = histories.map_or(HISTORIES, |count| count.parse().expect("COLIBRI_HISTORIES is a count"));
    TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() })
}

#[test]
fn histories_keep_bounds_agree_with_the_model_and_replay_exactly() {
    let reads = prop::collection::vec(0_i64..200, 1..5);
    let histories = (prop::collection::vec(step(), 1..30), reads);
    let result = runner().run(&histories, |(steps, reads)| {
        let mut history = History::default();
        for step in &steps {
            history.take(step)?;
        }
        prop_assert_eq!(&history.world.rows, &history.model.standings());
        history.reads_agree(&reads)?;
        history.replays()
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Rows that no entry is about vouch for others; a forged number in any entry is found there, even if every later hash was
/// made to fit.
#[test]
fn histories_with_one_forged_number_do_not_replay() {
    let histories = (
        prop::collection::vec(step(), 4..20),
        1_000_i64..=10_000,
        any::<prop::sample::Index>(),
        0..=BAN_AFTER,
        prop::sample::select(vec![-1_i64, 1, 500]),
    );
    let result = runner().run(&histories, |(steps, standing, at, field, by)| {
        let mut history = History::default();
        for domain in DOMAINS {
            history.put(Standing { score: standing, ..Standing::unknown("nobody", domain, 0) });
        }
        for step in &steps {
            history.take(step)?;
        }
        prop_assert_eq!(&history.world.rows, &history.model.standings());
        history.replays()?;
        if history.world.ledger.is_empty() {
            return Ok(());
        }
        let at = at.index(history.world.ledger.len());
        let mut forged = history.world.ledger.clone();
        let entry = &mut forged[at];
        if field == SCAR_AFTER && entry.kind == Kind::Penalty && entry.scar_before >= 9_000 {
            // Scars grow by so little up there that the forged one may be one that could be asked for.
            return Ok(());
        }
        if field == WEIGHT && entry.acker_id.as_deref() == Some("nobody") {
            // What this one's word weighed is not in the ledger.
            return Ok(());
        }
        if field == BAN_AFTER {
            entry.ban_after = Some(entry.ban_after.unwrap_or(0) + by);
        } else {
            let numbers: [&mut i64; BAN_AFTER] = [
                &mut entry.delta,
                &mut entry.weight_bps,
                &mut entry.idle_epochs,
                &mut entry.score_before,
                &mut entry.score_settled,
                &mut entry.score_after,
                &mut entry.scar_before,
                &mut entry.scar_after,
            ];
            *numbers[field] += by;
        }
        let mut replay = history.world.replay();
        let found = rechained(forged)
            .iter()
            .map(|entry| replay.push(entry, entry.hash().as_str()).err())
            .position(|found| found.is_some());
        prop_assert_eq!(found, Some(at));
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}
