//! Acknowledged events (reputation#gains).

use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::event::{Acker, EventError, Gain, Kind, Source, is_reserved};
use crate::domains::reputation::gain::Ignored;
use crate::domains::reputation::penalty::Band;
use crate::domains::reputation::standing::Standing;

use crate::domains::reputation::tests::support::{Taken, World, gain, offence, row};

#[test]
fn vouching_for_oneself_counts_for_nothing_and_keeps_nothing_alive() {
    let mut world = World::default();
    world.put(row("a", 8_000, 100));
    let before = world.rows.clone();
    assert_eq!(world.gain(&gain("e", "a", 200, "a", 150)), Taken::Ignored(Ignored::SelfAck));
    assert_eq!(world.gain(&gain("f", "new", 200, "new", 150)), Taken::Ignored(Ignored::SelfAck));
    assert_eq!((world.rows, world.ledger.len()), (before, 0));
}

#[test]
fn a_banned_node_vouches_for_nobody_while_its_ban_lasts() {
    let mut world = World::default();
    world.put(Standing { ban_until_epoch: Some(211), ..row("bob", 9_000, 200) });
    for delta in [200, -200] {
        let event = format!("e{delta}");
        let taken = world.gain(&gain(&event, "a", delta, "bob", 210));
        assert_eq!(taken, Taken::Ignored(Ignored::BannedAcker));
    }
    assert_eq!(world.rows.len(), 1);
    let free = world.gain(&gain("e200", "a", 200, "bob", 211)).step();
    // The ban is over, the standing has decayed for eleven epochs.
    assert_eq!((free.weight_bps, free.delta), (5_124, 102));
}

#[test]
fn outcomes_have_the_names_of_the_chapter() {
    let names = [Ignored::SelfAck, Ignored::BannedAcker, Ignored::LowWeight].map(Ignored::as_str);
    assert_eq!(names, ["ignored_self_ack", "ignored_banned_acker", "ignored_low_weight"]);
}

#[test]
fn thirty_strong_gains_in_one_epoch_make_1000() {
    let mut world = World::default();
    world.put(row("bob", 10_000, 5));
    let deltas: Vec<i64> =
        (0..30).map(|nth| world.gain(&gain(&nth.to_string(), "a", 200, "bob", 5)).step().delta).collect();
    assert_eq!(deltas[..5], [200; 5]);
    assert_eq!(deltas[5..], [0; 25]);
    assert_eq!(world.visible("a", 5), 1_000);
    assert_eq!(world.ledger.len(), 30);
    // The next epoch has a cap of its own; the other domain has too.
    world.put(row("bob", 10_000, 6));
    assert_eq!(world.gain(&gain("next", "a", 1_500, "bob", 6)).step().delta, 1_000);
    world.put(Standing { domain: Domain::Social, ..row("bob", 10_000, 6) });
    let social = Gain { domain: Domain::Social, ..gain("next", "a", 1_500, "bob", 6) };
    assert_eq!(world.gain(&social).step().delta, 1_000);
}

#[test]
fn weak_words_lift_nobody_above_5000_and_a_strong_one_does() {
    let mut world = World::default();
    for epoch in 1..=100 {
        for nth in 0..60 {
            let step = world.gain(&gain(&format!("{epoch}/{nth}"), "a", 200, "nobody", epoch)).step();
            assert_eq!(step.weight_bps, 1_000);
            assert!(step.delta == 20 || step.delta == 0, "{step:?}");
        }
        assert_eq!(world.visible("a", epoch), (epoch * 1_000).min(5_000), "epoch {epoch}");
    }
    world.put(row("bob", 10_000, 101));
    assert_eq!(world.gain(&gain("strong", "a", 200, "bob", 101)).step().row.score, 5_200);
    // Above 5000 weak words add nothing, and take nothing either.
    let weak = world.gain(&gain("weak", "a", 200, "nobody", 101)).step();
    assert_eq!((weak.delta, weak.row.score), (0, 5_200));
}

#[test]
fn a_standing_of_exactly_1000_is_a_strong_word() {
    for (standing, expected) in [(999, 5_000), (1_000, 5_020)] {
        let mut world = World::default();
        world.put(row("a", 5_000, 5));
        world.put(row("bob", standing, 5));
        let step = world.gain(&gain("e", "a", 200, "bob", 5)).step();
        assert_eq!((step.weight_bps, step.row.score), (1_000, expected));
    }
}

#[test]
fn losses_need_a_word_that_counts_and_have_a_cap() {
    let mut world = World::default();
    world.put(row("a", 9_000, 5));
    world.put(row("weak", 999, 5));
    world.put(row("bob", 4_000, 5));
    for acker in ["weak", "nobody"] {
        assert_eq!(world.gain(&gain("e", "a", -500, acker, 5)), Taken::Ignored(Ignored::LowWeight));
    }
    assert_eq!((world.visible("a", 5), world.ledger.len()), (9_000, 0));
    let deltas: Vec<i64> =
        (0..10).map(|nth| world.gain(&gain(&nth.to_string(), "a", -500, "bob", 5)).step().delta).collect();
    assert_eq!(deltas[..5], [-200; 5]);
    assert_eq!(deltas[5..], [0; 5]);
    assert_eq!(world.visible("a", 5), 8_000);
    // The two caps are separate, and a penalty has none.
    world.put(row("strong", 10_000, 5));
    assert_eq!(world.gain(&gain("up", "a", 300, "strong", 5)).step().delta, 300);
    assert_eq!(world.punish(&offence("p", "a", Band::Severe, 5)).step().delta, -4_150);
}

#[test]
fn no_loss_goes_below_nothing() {
    let mut world = World::default();
    world.put(row("a", 100, 5));
    world.put(row("bob", 10_000, 5));
    let step = world.gain(&gain("e", "a", -700, "bob", 5)).step();
    assert_eq!((step.delta, step.row.score), (-100, 0));
    // Only what was taken counts towards the cap.
    world.gain(&gain("f", "a", 600, "bob", 5)).step();
    assert_eq!(world.gain(&gain("g", "a", -10_000, "bob", 5)).step().delta, -600);
}

#[test]
fn only_whole_idle_epochs_decay() {
    let settled = |epochs: &[i64]| {
        let mut world = World::default();
        world.put(row("a", 8_000, 10));
        let mut steps = epochs.iter().map(|&epoch| {
            // A strong word that adds one.
            world.put(row("bob", 10_000, epoch));
            world.gain(&gain(&epoch.to_string(), "a", 1, "bob", epoch)).step()
        });
        let last = steps.next_back().unwrap();
        (last.idle_epochs, last.score_settled, last.row.score)
    };
    let mut in_order = World::default();
    in_order.put(row("a", 8_000, 10));
    for epoch in [10, 11, 12] {
        in_order.put(row("bob", 10_000, epoch));
        let step = in_order.gain(&gain(&epoch.to_string(), "a", 1, "bob", epoch)).step();
        assert_eq!((step.idle_epochs, step.score_settled), (0, step.score_before));
    }
    assert_eq!(in_order.visible("a", 12), 8_003);
    assert_eq!(settled(&[12]), (1, 7_600, 7_601));
}

#[test]
fn the_first_event_after_long_idleness_does_not_bring_the_old_score_back() {
    let mut world = World::default();
    world.put(row("a", 8_000, 100));
    world.put(row("bob", 10_000, 150));
    let step = world.gain(&gain("e", "a", 1, "bob", 150)).step();
    assert_eq!((step.idle_epochs, step.score_settled, step.row.score), (49, 656, 657));
    assert_eq!((step.score_before, step.row.last_activity_epoch), (8_000, 150));
    let mut world = World::default();
    world.put(row("a", 8_000, 100));
    let step = world.punish(&offence("e", "a", Band::Minor, 150)).step();
    assert_eq!((step.idle_epochs, step.score_settled, step.row.score), (50, 624, 531));
    // However long it was.
    let mut world = World::default();
    world.put(row("a", 8_000, 0));
    let step = world.gain(&gain("e", "a", 1, "nobody", 1_000_000)).step();
    assert_eq!((step.idle_epochs, step.score_settled), (10_000, 19));
}

#[test]
fn events_that_cannot_be_are_refused_with_the_reason() {
    let mut world = World::default();
    world.put(row("a", 8_000, 100));
    let refused = |taken: Taken| match taken {
        Taken::Refused(error) => error.to_string(),
        other => panic!("taken: {other:?}"),
    };
    let order = "a/execution: epoch 99 is before 100, the last one";
    assert_eq!(refused(world.gain(&gain("e", "a", 1, "b", 99))), order);
    assert_eq!(refused(world.punish(&offence("e", "a", Band::Fraud, 99))), order);
    let reserved = "colibri:x: names beginning colibri: are the system's";
    assert_eq!(refused(world.gain(&gain("e", "colibri:x", 1, "b", 100))), reserved);
    assert_eq!(refused(world.punish(&offence("e", "colibri:x", Band::Fraud, 100))), reserved);
    let empty = "the event names no node";
    assert_eq!(refused(world.gain(&gain("e", "", 1, "b", 100))), empty);
    assert_eq!(refused(world.punish(&offence("e", "", Band::Fraud, 100))), empty);
    for delta in [0, 10_001, -10_001, i64::MIN] {
        let expected = format!("delta: {delta} is outside what an event may say");
        assert_eq!(refused(world.gain(&gain("e", "a", delta, "b", 100))), expected);
    }
    let past = EventError::Schema { field: "epoch", value: -1 };
    assert_eq!(world.gain(&gain("e", "z", 1, "b", -1)), Taken::Refused(past));
    assert!(is_reserved("colibri:") && !is_reserved("colibri") && !is_reserved("Colibri:x"));
    assert_eq!((world.rows.len(), world.ledger.len()), (1, 0));
}

#[test]
fn the_same_gain_is_recorded_once() {
    let mut world = World::default();
    world.gain(&gain("e", "a", 100, "b", 1)).step();
    assert_eq!(world.gain(&gain("e", "a", 500, "c", 2)), Taken::Duplicate);
    world.gain(&gain("e", "b", 100, "c", 2)).step();
    world.gain(&Gain { domain: Domain::Social, ..gain("e", "a", 100, "b", 2) }).step();
    assert_eq!(world.ledger.len(), 3);
}

#[test]
fn kinds_and_sources_have_their_stored_names() {
    for (kind, name) in [(Kind::Gain, "gain"), (Kind::Penalty, "penalty")] {
        assert_eq!((kind.as_str(), Kind::parse(name)), (name, Some(kind)));
    }
    let sources = [
        (Source::Task, "task"),
        (Source::Session, "session"),
        (Source::Equivocation, "equivocation"),
        (Source::Import, "import"),
    ];
    for (source, name) in sources {
        assert_eq!((source.as_str(), Source::parse(name)), (name, Some(source)));
    }
    assert_eq!((Kind::parse("Gain"), Source::parse("")), (None, None));
    assert_eq!((Acker::Peer("b").id(), Acker::System { weight_bps: 1 }.id()), (Some("b"), None));
}
