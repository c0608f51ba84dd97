//! Rows, the fold of scores and decay (reputation#standing, reputation#not-built, reputation#decay): cases 11 to 13, 17, and the arithmetic of 22, 23, 39, 41.

use colibri::domains::reputation::decay::{
    apply_decay, apply_decay_batch, decayed, decayed_score, rate_for, settle,
};
use colibri::domains::reputation::domain::{DOMAINS, Domain};
use colibri::domains::reputation::score::{AckedEvent, compute_score};
use colibri::domains::reputation::snapshot::{model_node, reliability_bps, snapshot};
use colibri::domains::reputation::standing::{Standing, StoredStanding};
use colibri::rules::integer::{IntegerError, decay};
use proptest::prelude::*;

use crate::reputation::support::row;

fn event(epoch: i64, id: i64, delta: i64, ack: i64) -> AckedEvent {
    // The acknowledger's name is its standing, so that the lookup needs no table.
    AckedEvent { epoch, id, delta, acker_id: ack.to_string() }
}

fn fold(events: &[AckedEvent], scar: i64) -> Result<i64, IntegerError> {
    compute_score("alice", Domain::Execution, events, |id, _| id.parse().unwrap(), |_, _| scar)
}

fn worked() -> Vec<AckedEvent> {
    vec![event(1, 1, 500, 10_000), event(1, 2, 300, 50_000), event(2, 3, -200, 2_500), event(3, 4, 7, 1_500)]
}

#[test]
fn lambda_11_the_worked_fold_is_751_in_any_order() {
    let mut events = worked();
    assert_eq!(fold(&events, 0), Ok(751));
    assert_eq!(fold(&events, 9_500), Ok(500));
    events.reverse();
    assert_eq!(fold(&events, 0), Ok(751));
    assert_eq!(fold(&[], 0), Ok(0));
    assert_eq!(fold(&[event(1, 1, -200, 10_000), event(1, 2, -1, 1)], 0), Ok(0));
    // A standing below 0 counts as 0.
    assert_eq!(fold(&[event(1, 1, 500, -10_000)], 0), Ok(0));
    assert_eq!(fold(&worked(), 10_000), Ok(0));
    assert_eq!(fold(&worked(), 10_001), Err(IntegerError::AboveBpsMax { value: 10_001 }));
    assert!(matches!(
        fold(&[event(1, 1, i64::MAX, 10_000), event(1, 2, 1, 10_000)], 0),
        Err(IntegerError::Overflow { operation: "safe_add", .. })
    ));
}

#[test]
fn lambda_11_lookups_are_asked_for_the_node_the_domain_and_the_acknowledger() {
    let ack = |id: &str, domain: Domain| if (id, domain) == ("bob", Domain::Social) { 10_000 } else { 0 };
    let scar = |id: &str, domain: Domain| if (id, domain) == ("alice", Domain::Social) { 9_000 } else { 0 };
    let events = [AckedEvent { epoch: 1, id: 1, delta: 2_000, acker_id: "bob".to_owned() }];
    assert_eq!(compute_score("alice", Domain::Social, &events, ack, scar), Ok(1_000));
    assert_eq!(compute_score("carol", Domain::Social, &events, ack, scar), Ok(2_000));
    assert_eq!(compute_score("alice", Domain::Execution, &events, ack, scar), Ok(0));
}

#[test]
fn lambda_12_decay_changes_the_score_alone_and_not_its_argument() {
    let scarred = Standing { scar_bps: 1_000, ban_until_epoch: Some(7), ..row("a", 8_000, 100) };
    let before = scarred.clone();
    let after = apply_decay(&scarred, 110).unwrap();
    assert_eq!(after, Standing { score: 4_793, ..before.clone() });
    assert_eq!(scarred, before);
    for epoch in [100, 99, 0, -5] {
        assert_eq!(apply_decay(&scarred, epoch).unwrap(), before, "epoch {epoch}");
    }
    assert_eq!(apply_decay(&scarred, 10_101), Err(IntegerError::EpochCeiling { epochs: 10_001 }));
    assert_eq!(apply_decay(&scarred, 10_100).unwrap().score, 19);
}

/// A line of the table of reputation#decay: the domain, scores after 1, 2, 5, 10, 50 and 100 epochs from 10000, the first epoch at
/// or below 5000, where it rests and since when.
type Line = (Domain, [i64; 6], i64, i64, i64);

#[test]
fn lambda_13_the_decay_table() {
    let table: [Line; 5] = [
        (Domain::Execution, [9_500, 9_025, 7_739, 5_991, 777, 70], 14, 19, 133),
        (Domain::Commissioning, [9_700, 9_409, 8_589, 7_378, 2_193, 490], 23, 33, 206),
        (Domain::Arbitration, [9_000, 8_100, 5_905, 3_489, 56, 9], 7, 9, 72),
        (Domain::Governance, [9_800, 9_604, 9_040, 8_174, 3_658, 1_346], 35, 49, 291),
        (Domain::Social, [9_900, 9_801, 9_510, 9_045, 6_066, 3_689], 70, 99, 516),
    ];
    for (domain, scores, halved, rest, since) in table {
        let after = |epochs| decay(10_000, rate_for(domain), epochs).unwrap();
        assert_eq!([1, 2, 5, 10, 50, 100].map(after), scores, "{domain}");
        assert!(after(halved) <= 5_000 && after(halved - 1) > 5_000, "{domain}");
        assert!(after(since) == rest && after(since - 1) > rest && after(10_000) == rest, "{domain}");
    }
}

#[test]
fn lambda_17_a_ban_ends_with_its_last_epoch() {
    let banned = Standing { ban_until_epoch: Some(211), ..row("a", 0, 111) };
    for (epoch, expected) in [(0, true), (111, true), (210, true), (211, false), (212, false)] {
        assert_eq!(banned.banned(epoch), expected, "epoch {epoch}");
    }
    assert!(!row("a", 0, 111).banned(0));
}

#[test]
fn lambda_22_the_worked_reads_of_one_row() {
    let stored = row("a", 8_000, 100);
    let reads = [(100, 8_000), (101, 7_600), (102, 7_220), (110, 4_793), (150, 624), (196, 67), (99, 8_000)];
    for (epoch, expected) in reads {
        assert_eq!(decayed(&stored, epoch).unwrap(), row("a", expected, 100), "epoch {epoch}");
        assert_eq!(decayed_score(&stored, epoch), Ok(expected), "epoch {epoch}");
    }
}

#[test]
fn lambda_23_no_epoch_is_too_far() {
    for epoch in [10_101, 9_007_199_254_740_991, i64::MAX] {
        assert_eq!(decayed(&row("a", 8_000, 100), epoch).unwrap().score, 19, "epoch {epoch}");
        assert_eq!(decayed_score(&row("a", 8_000, 100), epoch), Ok(19), "epoch {epoch}");
    }
    let latest = row("a", 8_000, i64::MAX);
    assert_eq!(decayed(&latest, i64::MAX).unwrap(), latest);
    assert_eq!(decayed_score(&latest, i64::MIN), Ok(8_000));
}

#[test]
fn lambda_39_a_row_that_no_event_can_have_left_is_named() {
    let sound = StoredStanding {
        node_id: "n".to_owned(),
        domain: "social".to_owned(),
        score: 4_000,
        scar_bps: 6_000,
        ban_until_epoch: None,
        last_activity_epoch: 0,
    };
    let standing = sound.clone().check().unwrap();
    assert_eq!((standing.domain, standing.ceiling()), (Domain::Social, 4_000));
    let broken = [
        (StoredStanding { node_id: String::new(), ..sound.clone() }, "/social: node_id"),
        (StoredStanding { domain: "Social".to_owned(), ..sound.clone() }, "n/Social: domain"),
        (StoredStanding { domain: "karma".to_owned(), score: -1, ..sound.clone() }, "n/karma: domain"),
        (StoredStanding { score: 4_001, ..sound.clone() }, "n/social: score"),
        (StoredStanding { score: 20_000, scar_bps: 0, ..sound.clone() }, "n/social: score"),
        (StoredStanding { score: -1, ..sound.clone() }, "n/social: score"),
        (StoredStanding { scar_bps: 10_001, ..sound.clone() }, "n/social: scar_bps"),
        (StoredStanding { scar_bps: -1, ..sound.clone() }, "n/social: scar_bps"),
        (StoredStanding { scar_bps: i64::MIN, ..sound.clone() }, "n/social: scar_bps"),
        (StoredStanding { last_activity_epoch: -1, ..sound }, "n/social: last_activity_epoch"),
    ];
    for (stored, field) in broken {
        assert_eq!(stored.check().unwrap_err().to_string(), format!("REPUTATION_ROW_INVALID: {field}"));
    }
}

#[test]
fn domains_are_a_closed_set_in_two_orders() {
    let names = ["execution", "commissioning", "arbitration", "governance", "social"];
    assert_eq!(DOMAINS.map(Domain::as_str), names);
    assert_eq!(names.map(Domain::parse), DOMAINS.map(Some));
    for bad in ["Execution", "karma", "", "execution "] {
        assert_eq!(Domain::parse(bad), None, "{bad:?}");
    }
    let mut sorted = DOMAINS;
    sorted.sort();
    let listed = ["arbitration", "commissioning", "execution", "governance", "social"];
    assert_eq!(sorted.map(|domain| domain.to_string()), listed);
}

#[test]
fn lambda_41_ten_thousand_rows_decay_in_one_batch_in_their_order() {
    let domain = |at: i64| DOMAINS[at as usize % 5];
    let rows: Vec<Standing> =
        (0..10_000).map(|at| Standing { domain: domain(at), ..row(&at.to_string(), at, at % 700) }).collect();
    let batch = apply_decay_batch(&rows, 700).unwrap();
    assert_eq!(batch.len(), rows.len());
    for (stored, read) in rows.iter().zip(&batch) {
        assert_eq!(*read, apply_decay(stored, 700).unwrap());
    }
    assert_eq!(
        apply_decay_batch(&[row("a", 1, 10_001), row("b", 1, 0)], 10_001),
        Err(IntegerError::EpochCeiling { epochs: 10_001 })
    );
}

#[test]
fn snapshots_are_of_one_domain_and_reliability_of_one_row() {
    let rows = [
        row("b", 8_000, 100),
        row("a", 5_000, 102),
        Standing { domain: Domain::Social, ..row("c", 9_000, 102) },
    ];
    let scores = snapshot(&rows, Domain::Execution, 102).unwrap();
    let expected = [("a".to_owned(), 5_000), ("b".to_owned(), 7_220)];
    assert_eq!(scores.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(model_node("claude"), "model:claude");
    assert_eq!(reliability_bps(Some(&row("model:claude", 8_000, 100)), 150), Ok(624));
    assert_eq!(reliability_bps(None, 150), Ok(0));
}

proptest! {
    /// The properties that reputation#not-built names.
    #[test]
    fn folds_do_not_depend_on_order_and_grow_with_gains(
        mut events in prop::collection::vec((0_i64..5, -10_000_i64..=10_000, -500_i64..12_000), 0..12),
        scar in 0_i64..=10_000,
        turns in any::<usize>(),
    ) {
        let build = |events: &[(i64, i64, i64)]| -> Vec<AckedEvent> {
            let numbered = events.iter().zip(1..);
            numbered.map(|(&(epoch, delta, ack), id)| event(epoch, id, delta, ack)).collect()
        };
        let mut listed = build(&events);
        let score = fold(&listed, scar).unwrap();
        prop_assert!((0..=10_000 - scar).contains(&score));
        if !listed.is_empty() {
            let by = turns % listed.len();
            listed.rotate_left(by);
        }
        prop_assert_eq!(fold(&listed, scar), Ok(score));
        for (_, _, ack) in &mut events {
            *ack = (*ack).min(10_000);
        }
        prop_assert_eq!(fold(&build(&events), scar), Ok(score));
        for (_, delta, _) in &mut events {
            *delta = delta.abs();
        }
        let gains = build(&events);
        let sums: Vec<i64> = (0..=gains.len()).map(|count| fold(&gains[..count], scar).unwrap()).collect();
        prop_assert!(sums.is_sorted());
    }

    /// Decay never raises a score, and takes the same in one step as in several.
    #[test]
    fn decay_is_monotone_and_the_same_in_steps(
        score in 0_i64..=10_000,
        domain in prop::sample::select(DOMAINS.to_vec()),
        (first, second) in (0_i64..800, 0_i64..800),
    ) {
        let halfway = settle(score, domain, first).unwrap();
        let whole = settle(score, domain, first + second).unwrap();
        prop_assert_eq!(settle(halfway, domain, second), Ok(whole));
        prop_assert!(whole <= halfway && halfway <= score && whole >= 0);
        let lower = score.saturating_sub(second).max(0);
        prop_assert!(settle(lower, domain, first).unwrap() <= halfway);
    }
}
