//! The ledger taken again (reputation#replay), and what a forger who mends every later hash is still found by.

use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::event::{Kind, Source};
use crate::domains::reputation::ledger::Entry;
use crate::domains::reputation::penalty::Band;
use crate::domains::reputation::replay::{Checked, Fault, Mismatch, Replay, RowVerdict};
use crate::domains::reputation::standing::Standing;
use colibri_canonical::HexDigest;

use crate::domains::reputation::tests::run::worked_run;
use crate::domains::reputation::tests::support::{World, gain, row};

/// An entry's place from 0, what is done to it, and what is found.
type Forgery = (usize, fn(&mut Entry), &'static str);

/// The entries with their links made to fit.
pub fn rechained(mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut tip = HexDigest::ZERO;
    for entry in &mut entries {
        entry.prev_hash = tip.as_str().to_owned();
        tip = entry.hash();
    }
    entries
}

/// What the walk finds, entry by entry.
fn findings(mut replay: Replay, entries: &[Entry]) -> Vec<Mismatch> {
    entries.iter().filter_map(|entry| replay.push(entry, entry.hash().as_str()).err()).collect()
}

/// What is found first if entry `at` (from 0) is forged and the links are mended.
fn forged(at: usize, forge: impl Fn(&mut Entry)) -> String {
    let world = worked_run();
    let mut entries = world.ledger.clone();
    forge(&mut entries[at]);
    let found = findings(world.replay(), &rechained(entries));
    let first = found.first().expect("the forgery is found");
    assert_eq!(first.history_id as usize, at + 1, "{first}");
    first.fault.to_string()
}

#[test]
fn every_forged_number_is_named_at_its_entry() {
    let cases: [Forgery; 17] = [
        (0, |entry| entry.delta = 51, "delta is 51, not 50"),
        (0, |entry| entry.score_before = 1, "score_before is 1, not 0"),
        (0, |entry| entry.score_settled = 1, "score_settled is 1, not 0"),
        (0, |entry| entry.score_after = 51, "score_after is 51, not 50"),
        (0, |entry| entry.scar_before = 1, "scar_before is 1, not 0"),
        (0, |entry| entry.scar_after = 1, "scar_after is 1, not 0"),
        (0, |entry| entry.ban_after = Some(9), "ban_after is 9, not null"),
        (0, |entry| entry.weight_bps = 2_501, "weight_bps is 2501, not 2500"),
        (0, |entry| entry.nominal_delta = 201, "nominal_delta is 201, not 200"),
        (0, |entry| entry.band = Some(Band::Minor), "band is minor, not null"),
        (0, |entry| entry.domain = Domain::Social, "domain is social, not execution"),
        (3, |entry| entry.idle_epochs = 1, "idle_epochs is 1, not 2"),
        (3, |entry| entry.weight_bps = 1_001, "weight_bps is 1001, not 1000"),
        (3, |entry| entry.epoch = 105, "idle_epochs is 2, not 3"),
        (4, |entry| entry.nominal_delta = 1, "nominal_delta is 1, not 0"),
        (4, |entry| entry.acker_id = Some("bob".to_owned()), "acker_id is bob, not null"),
        (5, |entry| entry.ban_after = None, "ban_after is null, not 211"),
    ];
    for (at, forge, expected) in cases {
        assert_eq!(forged(at, forge), expected);
    }
}

#[test]
fn events_that_cannot_have_been_recorded_are_named() {
    let order = "alice/execution: epoch 99 is before 100, the last one";
    let range = "delta: 10001 is outside what an event may say";
    let cases: [Forgery; 13] = [
        (1, |entry| (entry.source, entry.nominal_delta) = (Source::Import, 10_001), range),
        (1, |entry| entry.epoch = 99, order),
        (
            1,
            |entry| entry.acker_id = Some("alice".to_owned()),
            "the gain counts for nothing: ignored_self_ack",
        ),
        (1, |entry| entry.weight_bps = 999, "weight_bps is 999, outside 1000 to 10000"),
        (1, |entry| entry.source = Source::Session, "no rule makes such a gain"),
        (1, |entry| entry.reason = "gift".to_owned(), "no rule makes such a gain"),
        (2, |entry| entry.acker_id = Some("bob".to_owned()), "session_sealed is not acknowledged so"),
        (0, |entry| entry.source = Source::Import, "an imported gain has an acknowledger"),
        (4, |entry| entry.band = None, "a penalty has a band"),
        (4, |entry| entry.reason = "penalty:severe:offence".to_owned(), "the reason does not name the band"),
        (4, |entry| entry.kind = Kind::Gain, "an imported gain has an acknowledger"),
        (6, |entry| entry.history_id = 6, "history_id is not above 6, the one before"),
        (4, |entry| entry.node_id = "colibri:x".to_owned(), "score_before is 219, not 0"),
    ];
    for (at, forge, expected) in cases {
        let world = worked_run();
        let mut entries = world.ledger.clone();
        forge(&mut entries[at]);
        let found = findings(world.replay(), &rechained(entries));
        assert_eq!(found[0].fault.to_string(), expected, "entry {}", at + 1);
    }
}

#[test]
fn a_forgery_without_mended_links_is_found_by_its_hash() {
    let world = worked_run();
    let stored: Vec<HexDigest> = world.ledger.iter().map(Entry::hash).collect();
    let mut replay = world.replay();
    for (entry, hash) in world.ledger.iter().zip(&stored) {
        let mut entry = entry.clone();
        // Nothing that the arithmetic looks at.
        entry.event_id.push('!');
        let mismatch = replay.push(&entry, hash.as_str()).unwrap_err();
        let expected = entry.hash().as_str().to_owned();
        let actual = hash.as_str().to_owned();
        assert_eq!(mismatch.fault, Fault::Differs { field: "entry_hash", expected, actual });
        assert_eq!(mismatch.history_id, entry.history_id);
    }
}

#[test]
fn a_missing_or_moved_entry_breaks_the_chain_there() {
    let world = worked_run();
    for gone in 0..world.ledger.len() - 1 {
        let mut entries = world.ledger.clone();
        entries.remove(gone);
        let found = findings(world.replay(), &entries);
        assert_eq!(found[0].history_id as usize, gone + 2);
        assert!(found[0].to_string().contains("alice/execution: prev_hash is "), "{}", found[0]);
    }
    let mut entries = world.ledger.clone();
    entries.swap(2, 3);
    assert_eq!(findings(world.replay(), &entries)[0].history_id, 4);
    // Even with links that fit, the scores do not.
    let mut entries = world.ledger.clone();
    entries.remove(3);
    let found = findings(world.replay(), &rechained(entries));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to_string(), "entry 5, alice/execution: score_before is 219, not 220");
}

#[test]
fn a_row_that_is_not_its_last_entry_is_named() {
    let world = worked_run();
    let alice = world.get("alice", Domain::Execution).unwrap();
    let verdict = |stored: &Standing| {
        let mut replay = world.replay();
        assert_eq!(findings_in(&mut replay, &world.ledger), 0);
        match replay.check_row(stored) {
            RowVerdict::Differs(fault) => fault.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(verdict(&Standing { score: 65, ..alice.clone() }), "score is 65, not 64");
    assert_eq!(verdict(&Standing { scar_bps: 0, ..alice.clone() }), "scar_bps is 0, not 5000");
    let freed = Standing { ban_until_epoch: None, ..alice.clone() };
    assert_eq!(verdict(&freed), "ban_until_epoch is null, not 211");
    let later = Standing { last_activity_epoch: 113, ..alice.clone() };
    assert_eq!(verdict(&later), "last_activity_epoch is 113, not 112");
}

fn findings_in(replay: &mut Replay, entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| replay.push(entry, entry.hash().as_str()).is_err()).count()
}

#[test]
fn missing_rows_are_left_over_and_rows_by_hand_are_told_apart() {
    let world = worked_run();
    let mut replay = world.replay();
    assert_eq!(findings_in(&mut replay, &world.ledger), 0);
    assert_eq!(replay.check_row(&row("bob", 6_000, 100)), RowVerdict::Unledgered);
    let left: Vec<&Standing> = replay.rows_left().collect();
    assert_eq!(left, [world.get("alice", Domain::Execution).unwrap()]);
}

#[test]
fn a_row_put_in_by_hand_cannot_be_built_upon() {
    let mut world = World::default();
    world.put(row("a", 6_000, 1));
    world.gain(&gain("e", "a", 100, "nobody", 1)).step();
    let found = findings(world.replay(), &world.ledger);
    assert_eq!(found[0].to_string(), "entry 1, a/execution: score_before is 6000, not 0");
}

#[test]
fn a_word_weighs_what_the_ledger_says_of_who_gave_it() {
    let world = worked_run();
    // If bob's row were not there, his word would have weighed the floor.
    let found = findings(Replay::new([]), &world.ledger);
    assert_eq!(found[0].to_string(), "entry 2, alice/execution: weight_bps is 6000, not 1000");
    // What he has is not known, so a strong word at the floor may be either.
    for after in [5_000, 5_020] {
        let mut world = World::default();
        world.put(row("bob", if after == 5_000 { 999 } else { 1_000 }, 5));
        for nth in 0..250 {
            world.gain(&gain(&nth.to_string(), "a", 200, "nobody", nth / 50 + 1)).step();
        }
        world.gain(&gain("last", "a", 200, "bob", 6)).step();
        assert_eq!(findings(world.replay(), &world.ledger), []);
    }
}

#[test]
fn entries_of_other_rules_are_checked_as_links_only() {
    let world = worked_run();
    let mut entries = world.ledger.clone();
    let entry = &mut entries[3];
    (entry.rule_version_hash, entry.score_after, entry.delta) = ("0".repeat(64), 164, -35);
    // The next one builds upon it under our rules.
    entries.truncate(4);
    let mut replay = world.replay();
    let checked: Vec<_> =
        rechained(entries).iter().map(|entry| replay.push(entry, entry.hash().as_str()).unwrap()).collect();
    assert_eq!(checked, [Checked::Whole, Checked::Whole, Checked::Whole, Checked::ChainOnly]);
    let left: Vec<i64> = replay.rows_left().map(|row| row.score).collect();
    assert_eq!(left, [164]);
    let mut entries = world.ledger.clone();
    entries[3].rule_version_hash = "0".repeat(64);
    entries[3].score_before = 1;
    let found = findings(world.replay(), &rechained(entries));
    assert_eq!(found[0].to_string(), "entry 4, alice/execution: score_before is 1, not 220");
}
