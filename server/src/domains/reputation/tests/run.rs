//! The worked run of reputation#ledger and the vector of reputation#ledger.

use crate::domains::reputation::automatic::{
    AutomaticEvent, SESSION_SEALED, TASK_COMMISSIONED, TASK_DONE, session_sealed_id, task_commissioned_id,
    task_done_id,
};
use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::event::{Acker, Gain};
use crate::domains::reputation::ledger::{Entry, dedupe_key};
use crate::domains::reputation::pack::LAMBDA_RULES_HASH;
use crate::domains::reputation::penalty::Band;
use crate::domains::reputation::replay::{Checked, RowVerdict};
use crate::rules::canonical::canonicalize;
use proptest::prelude::*;
use serde_json::json;

use crate::domains::reputation::tests::support::{World, offence, row};

/// A gain of alice's that the server reports.
fn automatic<'a>(rule: AutomaticEvent, event_id: &'a str, reviewer: Option<&'a str>, epoch: i64) -> Gain<'a> {
    Gain {
        event_id,
        node_id: "alice",
        domain: rule.domain,
        nominal_delta: rule.nominal_delta,
        acker: reviewer.map_or(Acker::System { weight_bps: rule.weight_bps }, Acker::Peer),
        epoch,
        reason: rule.reason,
        source: rule.source,
    }
}

/// The seven events.
pub fn worked_run() -> World {
    let mut world = World::default();
    world.put(row("bob", 6_000, 100));
    world.gain(&automatic(TASK_DONE, "task:t1", None, 100)).step();
    world.gain(&automatic(TASK_DONE, "task:t2", Some("bob"), 100)).step();
    world.gain(&automatic(SESSION_SEALED, "session:s1", None, 101)).step();
    world.gain(&automatic(TASK_DONE, "task:t3", Some("carol"), 104)).step();
    world.punish(&offence("p1", "alice", Band::Minor, 110)).step();
    world.punish(&offence("p2", "alice", Band::Fraud, 111)).step();
    world.gain(&automatic(TASK_DONE, "task:t4", Some("bob"), 112)).step();
    world
}

#[test]
fn the_worked_run() {
    // Epoch, idle, before, settled, weight, delta, after, scar, banned until.
    let table = [
        ([100, 0, 0, 0, 2_500, 50, 50, 0], None),
        ([100, 0, 50, 50, 6_000, 120, 170, 0], None),
        ([101, 0, 170, 170, 10_000, 50, 220, 0], None),
        ([104, 2, 220, 199, 1_000, 20, 219, 0], None),
        ([110, 6, 219, 164, 10_000, -24, 140, 0], None),
        ([111, 1, 140, 133, 10_000, -133, 0, 5_000], Some(211)),
        ([112, 0, 0, 0, 3_246, 64, 64, 5_000], Some(211)),
    ];
    let world = worked_run();
    assert_eq!(world.visible("bob", 112), 3_246);
    assert_eq!(world.ledger.len(), table.len());
    for (entry, (numbers, ban)) in world.ledger.iter().zip(table) {
        let found = [
            entry.epoch,
            entry.idle_epochs,
            entry.score_before,
            entry.score_settled,
            entry.weight_bps,
            entry.delta,
            entry.score_after,
            entry.scar_after,
        ];
        assert_eq!((found, entry.ban_after), (numbers, ban), "entry {}", entry.history_id);
    }
    let alice = world.get("alice", Domain::Execution).unwrap();
    assert_eq!((alice.score, alice.scar_bps, alice.ban_until_epoch), (64, 5_000, Some(211)));
    assert_eq!(alice.last_activity_epoch, 112);
}

#[test]
fn the_first_entry_has_the_hash_of_the_chapter() {
    let world = worked_run();
    let first = &world.ledger[0];
    let text = format!(
        r#"{{"acker_id":null,"ban_after":null,"band":null,"delta":50,"domain":"execution","epoch":100,"event_id":"task:t1","history_id":1,"idle_epochs":0,"kind":"gain","node_id":"alice","nominal_delta":200,"prev_hash":"{}","reason":"task_done","rule_version_hash":"{LAMBDA_RULES_HASH}","scar_after":0,"scar_before":0,"score_after":50,"score_before":0,"score_settled":0,"source":"task","weight_bps":2500}}"#,
        "0".repeat(64)
    );
    assert_eq!(String::from_utf8(first.message()).unwrap(), text);
    let hash = first.hash();
    assert_eq!(hash.as_str(), "f6132c03a0499703348455388f0e45598940b1aca2259e797c5c94807b6e531e");
    assert_eq!(world.ledger[1].prev_hash, hash.as_str());
    assert_eq!(first.dedupe_key(), r#"["task:t1","alice","execution","gain",""]"#);
    assert_eq!(world.ledger[4].dedupe_key(), r#"["p1","alice","execution","penalty","minor"]"#);
    assert_eq!(world.ledger[4].reason, "penalty:minor:offence");
}

#[test]
fn the_run_follows_from_its_own_ledger() {
    let world = worked_run();
    let mut replay = world.replay();
    for entry in &world.ledger {
        assert_eq!(replay.push(entry, entry.hash().as_str()), Ok(Checked::Whole));
    }
    assert_eq!(replay.tip(), world.tip().as_str());
    let verdicts: Vec<RowVerdict> = world.rows.values().map(|row| replay.check_row(row)).collect();
    assert_eq!(verdicts, [RowVerdict::Sound, RowVerdict::Unledgered]);
    assert_eq!(replay.rows_left().count(), 0);
}

#[test]
fn automatic_events_have_the_numbers_and_ids_of_the_chapter() {
    let numbers = [TASK_DONE, TASK_COMMISSIONED, SESSION_SEALED]
        .map(|rule| (rule.reason, rule.domain.as_str(), rule.nominal_delta, rule.weight_bps));
    let expected = [
        ("task_done", "execution", 200, 2_500),
        ("task_commissioned", "commissioning", 100, 10_000),
        ("session_sealed", "execution", 50, 10_000),
    ];
    assert_eq!(numbers, expected);
    assert_eq!(task_done_id("t"), "task:t:done");
    assert_eq!(task_commissioned_id("t"), "task:t:commissioned");
    assert_eq!(session_sealed_id("s", "a"), "session:s:a");
}

proptest! {
    /// The writer of known keys and the project's one encoder agree, for any texts.
    #[test]
    fn entries_are_hashed_as_the_general_encoder_writes_them(
        texts in prop::array::uniform5(any::<String>()),
        acker_id in any::<Option<String>>(),
        numbers in prop::array::uniform10(any::<i64>()),
        ban_after in any::<Option<i64>>(),
        at in 0_usize..7,
    ) {
        let [event_id, node_id, reason, rule_version_hash, prev_hash] = texts;
        let [history_id, epoch, delta, nominal_delta, weight_bps, idle_epochs, score_before, score_settled,
            score_after, scar_before] = numbers;
        let entry = Entry {
            history_id, event_id, node_id, epoch, delta, reason, nominal_delta, acker_id, weight_bps, idle_epochs,
            score_before, score_settled, score_after, scar_before, scar_after: history_id, ban_after,
            rule_version_hash, prev_hash, ..worked_run().ledger[at].clone()
        };
        let band = entry.band.map(Band::as_str);
        let object = json!({
            "weight_bps": entry.weight_bps, "source": entry.source.as_str(), "score_settled": entry.score_settled,
            "score_before": entry.score_before, "score_after": entry.score_after, "scar_before": entry.scar_before,
            "scar_after": entry.scar_after, "rule_version_hash": entry.rule_version_hash, "reason": entry.reason,
            "prev_hash": entry.prev_hash, "nominal_delta": entry.nominal_delta, "node_id": entry.node_id,
            "kind": entry.kind.as_str(), "idle_epochs": entry.idle_epochs, "history_id": entry.history_id,
            "event_id": entry.event_id, "epoch": entry.epoch, "domain": entry.domain.as_str(), "delta": entry.delta,
            "band": band, "ban_after": entry.ban_after, "acker_id": entry.acker_id,
        });
        prop_assert_eq!(String::from_utf8(entry.message()).unwrap(), canonicalize(&object).unwrap());
        let key = json!([entry.event_id, entry.node_id, entry.domain.as_str(), entry.kind.as_str(), band.unwrap_or("")]);
        let (event, node) = (&entry.event_id, &entry.node_id);
        prop_assert_eq!(dedupe_key(event, node, entry.domain, entry.kind, entry.band), canonicalize(&key).unwrap());
    }
}
