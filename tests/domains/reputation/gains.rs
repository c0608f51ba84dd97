//! The writer's gain step over real tables.

use colibri::domains::reputation::domain::Domain;
use colibri::domains::reputation::event::{Acker, EventError, Gain, Source};
use colibri::domains::reputation::gain::Ignored;
use colibri::domains::reputation::penalty::Band;
use colibri::domains::reputation::writer::{Gained, Refusal, record_gain};
use colibri_runtime::handler::Failure;
use colibri_test_support::engine;
use serde_json::json;

use crate::reputation::world::{RECORDING, World, entries, gain};

const UNACKED: Acker<'_> = Acker::System { weight_bps: 2500 };

/// Records a gain that the case has made.
fn recorded(world: &World, gain: &Gain<'_>) -> Result<Gained, Failure<Refusal>> {
    let gained = record_gain(world.db(), &RECORDING, gain);
    engine::settle(world.db());
    gained
}

#[test]
fn the_worked_run_gives_its_numbers() {
    let mut world = World::new();
    world.put("bob", "execution", 6000, 100);
    let task = |event_id, acker, epoch| Gain {
        event_id,
        node_id: "alice",
        domain: Domain::Execution,
        nominal_delta: 200,
        acker,
        epoch,
        reason: "task_done",
        source: Source::Task,
    };
    let record = |world: &World, gain: Gain<'_>| match recorded(world, &gain) {
        Ok(Gained::Recorded(_)) => {}
        other => panic!("{gain:?}: {other:?}"),
    };
    record(&world, task("task:t1", UNACKED, 100));
    record(&world, task("task:t2", Acker::Peer("bob"), 100));
    let sealed = Gain {
        nominal_delta: 50,
        reason: "session_sealed",
        source: Source::Session,
        ..task("session:s", Acker::System { weight_bps: 10_000 }, 101)
    };
    record(&world, sealed);
    record(&world, task("task:t3", Acker::Peer("carol"), 104));
    world.penalise_for("dispute", ("alice", Domain::Execution), Band::Minor, 110).unwrap();
    world.penalise_for("fraud", ("alice", Domain::Execution), Band::Fraud, 111).unwrap();
    record(&world, task("task:t4", Acker::Peer("bob"), 112));

    let told: Vec<_> = entries(&world.sql)
        .into_iter()
        .map(|(entry, ..)| {
            json!([
                entry.epoch,
                entry.idle_epochs,
                entry.score_before,
                entry.score_settled,
                entry.weight_bps,
                entry.delta,
                entry.score_after,
                entry.scar_after,
                entry.ban_after
            ])
        })
        .collect();
    let expected = json!([
        [100, 0, 0, 0, 2500, 50, 50, 0, null],
        [100, 0, 50, 50, 6000, 120, 170, 0, null],
        [101, 0, 170, 170, 10_000, 50, 220, 0, null],
        [104, 2, 220, 199, 1000, 20, 219, 0, null],
        [110, 6, 219, 164, 10_000, -24, 140, 0, null],
        [111, 1, 140, 133, 10_000, -133, 0, 5000, 211],
        [112, 0, 0, 0, 3246, 64, 64, 5000, 211],
    ]);
    assert_eq!(json!(told), expected);
    let first = entries(&world.sql).remove(0).2;
    assert_eq!(first, "f6132c03a0499703348455388f0e45598940b1aca2259e797c5c94807b6e531e");
    let row = world.row("alice", "execution", 112);
    assert_eq!(
        (&row["score"], &row["scar_bps"], &row["ban_until_epoch"]),
        (&json!(64), &json!(5000), &json!(211))
    );
}

#[test]
fn ones_own_word_and_a_banned_ones_count_for_nothing() {
    let mut world = World::new();
    world.put("alice", "execution", 8000, 100);
    world.put_row("bob", "execution", (9000, 0), Some(200), 150);
    let before = world.rows();
    let own = world.try_gain("alice", (200, Acker::Peer("alice")), 150).unwrap();
    assert_eq!(own, Gained::Ignored(Ignored::SelfAck));
    let banned = world.try_gain("alice", (200, Acker::Peer("bob")), 199).unwrap();
    assert_eq!(banned, Gained::Ignored(Ignored::BannedAcker));
    let newcomer = world.try_gain("new", (200, Acker::Peer("bob")), 199).unwrap();
    assert_eq!(newcomer, Gained::Ignored(Ignored::BannedAcker));
    assert_eq!(world.rows(), before);
    assert_eq!(world.row("alice", "execution", 150)["last_activity_epoch"], 100);
    // The ban is over at its end.
    world.gain("alice", (200, Acker::Peer("bob")), 200);
}

#[test]
fn an_epoch_gives_a_thousand_at_most() {
    let mut world = World::new();
    world.put("bob", "execution", 10_000, 7);
    let deltas: Vec<i64> = (0..30).map(|_| world.gain("alice", (200, Acker::Peer("bob")), 7).delta).collect();
    assert_eq!(deltas, [&[200; 5][..], &[0; 25][..]].concat());
    assert_eq!(world.score("alice", 7), 1000);
    assert_eq!(world.events_of("alice").iter().filter(|event| event["delta"] == 0).count(), 25);
    // Another epoch has a cap of its own, and so have another node and domain.
    assert_eq!(world.gain("alice", (1000, Acker::Peer("bob")), 8).delta, 950);
    assert_eq!(world.gain("other", (200, Acker::Peer("bob")), 7).delta, 200);
}

#[test]
fn rows_that_nobody_entered_in_the_ledger_use_up_no_cap() {
    let mut world = World::new();
    world.remember("alice", "execution", 7, 900);
    world.put("bob", "execution", 10_000, 7);
    assert_eq!(world.gain("alice", (1000, Acker::Peer("bob")), 7).delta, 1000);
}

#[test]
fn weak_words_lift_nobody_above_five_thousand() {
    let mut world = World::new();
    for epoch in 0..100 {
        // The writer's connection commits each statement by itself; a transaction makes this quick.
        world.db().execute("BEGIN", &[]).unwrap();
        for _ in 0..60 {
            world.gain("alice", (200, Acker::Peer("nobody")), epoch);
        }
        world.db().execute("COMMIT", &[]).unwrap();
        engine::settle(world.db());
        let expected = (1000 * (epoch + 1)).min(5000);
        assert_eq!(world.score("alice", epoch), expected, "epoch {epoch}");
    }
    world.put("bob", "execution", 10_000, 100);
    assert_eq!(world.gain("alice", (200, Acker::Peer("bob")), 100).row.score, 5200);
    // A higher score stays where it is; it is only not lifted.
    assert_eq!(world.gain("alice", (200, UNACKED), 100).row.score, 5200);
}

#[test]
fn who_is_unknown_hurts_nobody() {
    let mut world = World::new();
    world.put("alice", "execution", 8000, 100);
    world.put("low", "execution", 999, 100);
    world.put("bob", "execution", 4000, 100);
    let before = world.rows();
    for acker in ["low", "ghost"] {
        let ignored = world.try_gain("alice", (-500, Acker::Peer(acker)), 100).unwrap();
        assert_eq!(ignored, Gained::Ignored(Ignored::LowWeight), "{acker}");
    }
    assert_eq!(world.rows(), before);
    let deltas: Vec<i64> =
        (0..10).map(|_| world.gain("alice", (-500, Acker::Peer("bob")), 100).delta).collect();
    assert_eq!(deltas, [&[-200; 5][..], &[0; 5][..]].concat());
    // Gains of the same epoch have a cap of their own, and penalties none.
    assert_eq!(world.gain("alice", (1000, Acker::Peer("bob")), 100).delta, 400);
    assert_eq!(world.penalise("alice", Band::Severe, 100).delta, -3700);
    assert_eq!(world.gain("alice", (-500, Acker::Peer("bob")), 100).delta, 0);
}

#[test]
fn only_whole_idle_epochs_decay() {
    let mut world = World::new();
    world.put("busy", "execution", 8000, 10);
    world.put("idle", "execution", 8000, 10);
    world.put("bob", "execution", 10_000, 12);
    for epoch in [11, 12] {
        assert_eq!(world.gain("busy", (1, Acker::Peer("bob")), epoch).idle_epochs, 0);
    }
    let step = world.gain("idle", (1, Acker::Peer("bob")), 12);
    assert_eq!((step.idle_epochs, step.score_settled, step.row.score), (1, 7600, 7601));
    assert_eq!((world.score("busy", 12), world.score("idle", 12)), (8002, 7601));
}

#[test]
fn an_event_after_long_idleness_brings_nothing_back() {
    let mut world = World::new();
    for node_id in ["alice", "carol"] {
        world.put(node_id, "execution", 8000, 100);
    }
    world.put("bob", "execution", 10_000, 150);
    assert_eq!(world.gain("alice", (1, Acker::Peer("bob")), 150).row.score, 657);
    assert_eq!(world.penalise("carol", Band::Minor, 150).row.score, 531);
    assert_eq!((world.score("alice", 150), world.score("carol", 150)), (657, 531));
}

#[test]
fn a_repeated_event_is_a_duplicate_before_anything_else() {
    let world = World::new();
    let first = gain("e", "alice", (100, UNACKED), 9);
    assert!(matches!(recorded(&world, &first), Ok(Gained::Recorded(_))));
    let before = world.rows();
    // The same event with any other content, even with an epoch before the last one.
    let again = Gain { nominal_delta: -7, epoch: 3, acker: Acker::Peer("alice"), reason: "other", ..first };
    assert_eq!(recorded(&world, &again), Ok(Gained::Duplicate));
    assert_eq!(world.rows(), before);
    // The same id in another domain is another event.
    let other = Gain { domain: Domain::Social, ..first };
    assert!(matches!(recorded(&world, &other), Ok(Gained::Recorded(_))));
    world.assert_ledger_is_sound();
}

#[test]
fn events_that_cannot_be_recorded_leave_no_trace() {
    let mut world = World::new();
    world.gain("alice", (100, UNACKED), 9);
    let before = world.rows();
    let refused = |world: &mut World, node_id: &str, nominal_delta: i64, epoch: i64| match world.try_gain(
        node_id,
        (nominal_delta, UNACKED),
        epoch,
    ) {
        Err(Failure::Domain(Refusal::Event(error))) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&mut world, "", 100, 9), EventError::NodeEmpty);
    assert!(matches!(refused(&mut world, "colibri:gc", 100, 9), EventError::NodeReserved { .. }));
    assert!(matches!(refused(&mut world, "alice", 100, 8), EventError::EpochOrder { .. }));
    for nominal_delta in [0, 10_001, -10_001, i64::MIN] {
        assert!(matches!(refused(&mut world, "new", nominal_delta, 9), EventError::Schema { .. }));
    }
    assert_eq!(world.rows(), before);
}
