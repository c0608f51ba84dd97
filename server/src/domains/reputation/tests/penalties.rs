//! Offences (reputation#penalties).

use crate::domains::reputation::domain::{DOMAINS, Domain};
use crate::domains::reputation::event::Penalty;
use crate::domains::reputation::penalty::{
    BAN_DURATION_EPOCHS, Band, HistoryEvent, SEVERITY_BANDS, apply_penalty, damage_for, reported_reason,
    stored_reason,
};
use crate::domains::reputation::standing::Standing;
use crate::rules::integer::IntegerError;

use crate::domains::reputation::tests::support::{World, gain, offence, row};

#[test]
fn the_penalty_table() {
    let table = [
        (10_000, [8_500, 7_000, 5_000, 2_000, 0]),
        (7_777, [6_611, 5_444, 3_889, 1_556, 0]),
        (1, [1, 1, 1, 1, 0]),
        (0, [0, 0, 0, 0, 0]),
    ];
    for (score, expected) in table {
        for (band, after) in SEVERITY_BANDS.into_iter().zip(expected) {
            let penalised = apply_penalty(&row("a", score, 5), band, 7, "e", "why", false).unwrap();
            let history_event = HistoryEvent {
                node_id: "a".to_owned(),
                domain: Domain::Execution,
                epoch: 7,
                delta: after - score,
                reason: "why".to_owned(),
                event_id: "e".to_owned(),
            };
            assert_eq!(penalised.history_event, history_event, "{score} {band:?}");
            let standing = Standing {
                score: after,
                scar_bps: if band == Band::Fraud { 5_000 } else { 0 },
                ban_until_epoch: matches!(band, Band::Critical | Band::Fraud).then_some(107),
                ..row("a", score, 7)
            };
            assert_eq!(penalised.row, standing, "{score} {band:?}");
        }
    }
}

#[test]
fn bands_have_their_names_and_damage() {
    assert_eq!(SEVERITY_BANDS.map(Band::as_str), ["minor", "moderate", "severe", "critical", "fraud"]);
    assert_eq!(SEVERITY_BANDS.map(damage_for), [1_500, 3_000, 5_000, 8_000, 10_000]);
    assert_eq!(BAN_DURATION_EPOCHS, 100);
    for band in SEVERITY_BANDS {
        assert_eq!(Band::parse(band.as_str()), Some(band));
    }
    assert_eq!((Band::parse("Minor"), Band::parse("")), (None, None));
}

#[test]
fn fraud_halves_the_ceiling_each_time_for_good() {
    let mut standing = row("a", 8_000, 111);
    let ceilings = [5_000, 2_500, 1_250, 625, 312, 156, 78, 39, 19, 9, 4, 2, 1, 0, 0];
    for (times, ceiling) in (1..).zip(ceilings) {
        standing = apply_penalty(&standing, Band::Fraud, 111, "e", "fraud", false).unwrap().row;
        let left = (standing.score, standing.scar_bps, standing.ban_until_epoch);
        assert_eq!(left, (0, 10_000 - ceiling, Some(211)), "fraud {times}");
        assert_eq!(standing.ceiling(), ceiling);
    }
}

#[test]
fn a_scar_can_be_asked_for_and_caps_the_score() {
    let scarred = apply_penalty(&row("a", 9_000, 0), Band::Critical, 50, "e", "why", true).unwrap().row;
    assert_eq!((scarred.score, scarred.scar_bps, scarred.ban_until_epoch), (1_800, 5_000, Some(150)));
    // What the damage leaves may still be above the new ceiling.
    let capped = apply_penalty(&row("a", 9_000, 0), Band::Minor, 50, "e", "why", true).unwrap();
    assert_eq!((capped.row.score, capped.row.scar_bps, capped.row.ban_until_epoch), (5_000, 5_000, None));
    assert_eq!(capped.history_event.delta, -4_000);
}

#[test]
fn a_later_ban_never_shortens_an_earlier_one() {
    let banned_until = |until| {
        let banned = Standing { ban_until_epoch: Some(until), ..row("a", 100, 50) };
        apply_penalty(&banned, Band::Critical, 50, "e", "why", false).unwrap().row.ban_until_epoch
    };
    assert_eq!(banned_until(500), Some(500));
    assert_eq!(banned_until(60), Some(150));
    // Lighter bands leave it as it is.
    let banned = Standing { ban_until_epoch: Some(60), ..row("a", 100, 50) };
    let severe = apply_penalty(&banned, Band::Severe, 50, "e", "why", false).unwrap().row;
    assert_eq!(severe.ban_until_epoch, Some(60));
    // An older epoch does not set the activity back.
    assert_eq!(
        apply_penalty(&banned, Band::Minor, 3, "e", "why", false).unwrap().row.last_activity_epoch,
        50
    );
    let beyond = apply_penalty(&banned, Band::Critical, i64::MAX, "e", "why", false);
    assert!(matches!(beyond, Err(IntegerError::Overflow { operation: "safe_add", .. })));
}

#[test]
fn the_ledger_refuses_the_same_event_node_and_band_only() {
    let mut world = World::default();
    world.put(row("a", 8_000, 1));
    world.punish(&offence("e", "a", Band::Minor, 1)).step();
    assert_eq!(
        world.punish(&offence("e", "a", Band::Minor, 2)),
        crate::domains::reputation::tests::support::Taken::Duplicate
    );
    world.punish(&offence("e", "a", Band::Moderate, 2)).step();
    world.punish(&offence("e", "b", Band::Minor, 2)).step();
    world.punish(&Penalty { domain: Domain::Social, ..offence("e", "a", Band::Minor, 2) }).step();
    world.gain(&gain("e", "a", 1, "b", 2)).step();
    assert_eq!(world.ledger.len(), 5);
}

#[test]
fn stored_reasons_name_their_band() {
    assert_eq!(stored_reason(Band::Severe, "a:b"), "penalty:severe:a:b");
    assert_eq!(reported_reason(Band::Severe, "penalty:severe:a:b"), Some("a:b"));
    for other in ["penalty:minor:a", "penalty:severe", "severe:a", ""] {
        assert_eq!(reported_reason(Band::Severe, other), None, "{other:?}");
    }
}

#[test]
fn fraud_everywhere_binds_a_new_node_and_gains_stop_at_its_ceiling() {
    let mut world = World::default();
    for domain in DOMAINS {
        let step = world.punish(&Penalty { domain, ..offence("e", "a", Band::Fraud, 10) }).step();
        let expected =
            Standing { scar_bps: 5_000, ban_until_epoch: Some(110), ..Standing::unknown("a", domain, 10) };
        assert_eq!((step.row, step.delta, step.idle_epochs), (expected, 0, 0));
    }
    for epoch in 10..20 {
        world.put(row("bob", 10_000, epoch));
        for nth in 0..6 {
            world.gain(&gain(&format!("{epoch}/{nth}"), "a", 200, "bob", epoch)).step();
        }
        let score = world.visible("a", epoch);
        assert_eq!(score, ((epoch - 9) * 1_000).min(5_000), "epoch {epoch}");
    }
}
