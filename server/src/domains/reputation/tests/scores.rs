//! Rows and decay (reputation#standing, reputation#decay).

use crate::domains::reputation::decay::{apply_decay, decayed, decayed_score, rate_for, settle};
use crate::domains::reputation::domain::{DOMAINS, Domain};
use crate::domains::reputation::standing::{Standing, StoredStanding};
use crate::rules::integer::{IntegerError, decay};
use proptest::prelude::*;

use crate::domains::reputation::tests::support::row;

#[test]
fn decay_changes_the_score_alone_and_not_its_argument() {
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
fn the_decay_table() {
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
fn a_ban_ends_with_its_last_epoch() {
    let banned = Standing { ban_until_epoch: Some(211), ..row("a", 0, 111) };
    for (epoch, expected) in [(0, true), (111, true), (210, true), (211, false), (212, false)] {
        assert_eq!(banned.banned(epoch), expected, "epoch {epoch}");
    }
    assert!(!row("a", 0, 111).banned(0));
}

#[test]
fn the_worked_reads_of_one_row() {
    let stored = row("a", 8_000, 100);
    let reads = [(100, 8_000), (101, 7_600), (102, 7_220), (110, 4_793), (150, 624), (196, 67), (99, 8_000)];
    for (epoch, expected) in reads {
        assert_eq!(decayed(&stored, epoch).unwrap(), row("a", expected, 100), "epoch {epoch}");
        assert_eq!(decayed_score(&stored, epoch), Ok(expected), "epoch {epoch}");
    }
}

#[test]
fn no_epoch_is_too_far() {
    for epoch in [10_101, 9_007_199_254_740_991, i64::MAX] {
        assert_eq!(decayed(&row("a", 8_000, 100), epoch).unwrap().score, 19, "epoch {epoch}");
        assert_eq!(decayed_score(&row("a", 8_000, 100), epoch), Ok(19), "epoch {epoch}");
    }
    let latest = row("a", 8_000, i64::MAX);
    assert_eq!(decayed(&latest, i64::MAX).unwrap(), latest);
    assert_eq!(decayed_score(&latest, i64::MIN), Ok(8_000));
}

#[test]
fn a_row_that_no_event_can_have_left_is_named() {
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
        (StoredStanding { node_id: String::new(), ..sound.clone() }, ("", "social", "node_id")),
        (StoredStanding { domain: "Social".to_owned(), ..sound.clone() }, ("n", "Social", "domain")),
        (StoredStanding { domain: "karma".to_owned(), score: -1, ..sound.clone() }, ("n", "karma", "domain")),
        (StoredStanding { score: 4_001, ..sound.clone() }, ("n", "social", "score")),
        (StoredStanding { score: 20_000, scar_bps: 0, ..sound.clone() }, ("n", "social", "score")),
        (StoredStanding { score: -1, ..sound.clone() }, ("n", "social", "score")),
        (StoredStanding { scar_bps: 10_001, ..sound.clone() }, ("n", "social", "scar_bps")),
        (StoredStanding { scar_bps: -1, ..sound.clone() }, ("n", "social", "scar_bps")),
        (StoredStanding { scar_bps: i64::MIN, ..sound.clone() }, ("n", "social", "scar_bps")),
        (StoredStanding { last_activity_epoch: -1, ..sound }, ("n", "social", "last_activity_epoch")),
    ];
    for (stored, (node, domain, field)) in broken {
        let text = format!("the stored standing of {node} in {domain} has an impossible {field}");
        assert_eq!(stored.check().unwrap_err().to_string(), text);
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

proptest! {
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
