//! Signed time anchors (theta §11, case 56).

use std::collections::BTreeMap;

use colibri::domains::consensus::anchors::{
    DriftStatus, MonotonicityFault, STA_DRIFT_MS, STA_K_EPOCHS, STA_TOP_N, TimeAnchor, compute_median,
    detect_drift, eligible_publishers, peer_time, reject_replay, validate_monotonicity,
};
use colibri::domains::consensus::identity::SenderId;
use colibri::domains::consensus::messages::{Message, SignedMessage};
use colibri::domains::consensus::signing::{Signer, StrictEd25519};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::gossip::support::{arbiter, hex, signed, somebody};

/// An anchor that nobody signed.
fn said(publisher: u8, epoch: u64, timestamp_ms: u64) -> TimeAnchor {
    TimeAnchor { publisher: somebody(publisher), timestamp_ms, epoch, signature: [0; 64] }
}

fn median(said: &[TimeAnchor]) -> Option<u64> {
    compute_median(said, 20, STA_K_EPOCHS)
}

#[test]
fn theta_56_an_anchor_has_the_signature_of_theta_11() {
    let publisher = arbiter('A').sender_id();
    let anchor =
        signed(TimeAnchor { publisher, timestamp_ms: 1_700_000_000_000, epoch: 5, signature: [0; 64] });
    assert_eq!(
        String::from_utf8(anchor.signing_bytes().unwrap()).unwrap(),
        format!("{{\"epoch\":5,\"publisher\":\"{publisher}\",\"timestamp_ms\":1700000000000}}")
    );
    assert_eq!(
        hex(&anchor.signature),
        "608d032429fa8b8b5143ef123d73e4795b120b2b0bc6cb115892324f28515993657fa8ef5820ea4cac164585a7dfc3fc76e56f412f6289fa457cc977c1236201"
    );
    assert!(anchor.is_signed_by(&arbiter('A').public_key(), &StrictEd25519));
    assert!(!anchor.is_signed_by(&arbiter('B').public_key(), &StrictEd25519));
    assert_eq!(TimeAnchor::decode(&anchor.canonical().unwrap()), Ok(anchor.clone()));
    for change in [
        TimeAnchor { timestamp_ms: 1_700_000_000_001, ..anchor.clone() },
        TimeAnchor { epoch: 6, ..anchor.clone() },
        TimeAnchor { publisher: arbiter('B').sender_id(), ..anchor },
    ] {
        assert!(!change.is_signed_by(&arbiter('A').public_key(), &StrictEd25519));
    }
}

#[test]
fn theta_56_the_best_publishers_are_asked() {
    let mut ids: Vec<SenderId> = (1..=9).map(somebody).collect();
    ids.sort();
    let scores: BTreeMap<SenderId, i64> = ids.iter().copied().zip([5, 9, 5, -1, 9, 0, 5, 7, 3]).collect();
    let ranked = [1, 4, 7, 0, 2, 6, 8, 5, 3].map(|place: usize| ids[place]);
    assert_eq!(eligible_publishers(&scores, STA_TOP_N), ranked[..7], "equal scores by id");
    assert_eq!(eligible_publishers(&scores, 0), []);
    assert_eq!(eligible_publishers(&scores, 50), ranked);
}

#[test]
fn theta_56_medians() {
    let times = |times: &[u64]| -> Vec<TimeAnchor> {
        times.iter().zip(1..).map(|(time, publisher)| said(publisher, 20, *time)).collect()
    };
    for (given, expected) in [
        (&[1000, 1010, 1020][..], Some(1010)),
        (&[1020, 1000, 1010], Some(1010)),
        (&[1000, 1010], Some(1005)),
        (&[1001, 1002], Some(1001)),
        (&[7], Some(7)),
        (&[], None),
        (&[u64::MAX, u64::MAX - 1], Some(u64::MAX - 1)),
    ] {
        assert_eq!(median(&times(given)), expected, "{given:?}");
    }
    // Epochs 10 to 20 count; of each publisher, the latest.
    assert_eq!(median(&[said(1, 9, 5), said(2, 21, 7), said(3, 10, 100), said(4, 20, 200)]), Some(150));
    assert_eq!(median(&[said(1, 9, 5), said(2, 21, 7)]), None);
    let twice = [said(1, 15, 900), said(1, 14, 999), said(1, 15, 800), said(2, 20, 100)];
    assert_eq!(median(&twice), Some(500), "the greatest epoch, then the greatest time");
}

#[test]
fn theta_56_drift_is_beyond_thirty_seconds() {
    for (local, median, status) in [
        (130_000, 100_000, "ok"),
        (130_001, 100_000, "deprioritized"),
        (100_000, 130_000, "ok"),
        (100_000, 130_001, "deprioritized"),
        (0, u64::MAX, "deprioritized"),
        (5, 5, "ok"),
    ] {
        assert_eq!(detect_drift(local, median, STA_DRIFT_MS).as_str(), status, "{local}, {median}");
    }
    assert_eq!(detect_drift(1, 0, 0), DriftStatus::Deprioritized);
    assert_eq!(peer_time(1_000, -400), Some(600));
    assert_eq!(peer_time(1_000, -1_001), None);
}

#[test]
fn theta_56_time_goes_on_from_epoch_to_epoch() {
    let fault = |publisher, prev_epoch, prev_timestamp_ms, next_epoch, next_timestamp_ms| MonotonicityFault {
        publisher,
        prev_epoch,
        prev_timestamp_ms,
        next_epoch,
        next_timestamp_ms,
    };
    let (low, high) = {
        let mut ids = [somebody(1), somebody(2)];
        ids.sort();
        (ids[0], ids[1])
    };
    let said = |publisher, epoch, timestamp_ms| TimeAnchor { publisher, ..said(0, epoch, timestamp_ms) };
    let anchors = [
        said(high, 3, 50),
        said(high, 1, 100),
        said(high, 2, 100),
        said(low, 9, 10),
        said(low, 4, 10),
        // Twice in one epoch is no fault, nor is the same one again.
        said(low, 4, 5),
        said(high, 3, 50),
    ];
    assert_eq!(
        validate_monotonicity(&anchors),
        [fault(low, 4, 10, 9, 10), fault(high, 1, 100, 2, 100), fault(high, 2, 100, 3, 50)]
    );
    assert_eq!(validate_monotonicity(&[said(low, 1, 5), said(low, 2, 6), said(high, 1, 9)]), []);
}

#[test]
fn theta_56_replays_are_of_the_future_or_too_old() {
    for (epoch, current, rejected) in
        [(20, 20, false), (21, 20, true), (10, 20, false), (9, 20, true), (0, 10, false), (0, u64::MAX, true)]
    {
        assert_eq!(
            reject_replay(&said(1, epoch, 0), current, STA_K_EPOCHS),
            rejected,
            "{epoch} in {current}"
        );
    }
}

proptest! {
    /// Less than half of the publishers cannot move the median beyond what the others say.
    #[test]
    fn theta_56_a_minority_cannot_move_the_median(
        honest in vec(1_000_000..1_001_000_u64, 2..8),
        lies in vec(any::<u64>(), 0..8),
    ) {
        let lies = &lies[..lies.len().min(honest.len() - 1)];
        let anchors: Vec<_> =
            honest.iter().chain(lies).zip(1..).map(|(time, publisher)| said(publisher, 20, *time)).collect();
        let median = median(&anchors).unwrap();
        prop_assert!((1_000_000..1_001_000).contains(&median), "{median}");
    }

    #[test]
    fn theta_56_the_order_of_anchors_does_not_matter(
        anchors in vec((0..6_u8, 8..22_u64, 0..50_u64), 0..30),
        turn in any::<prop::sample::Index>(),
    ) {
        let anchors: Vec<_> =
            anchors.into_iter().map(|(publisher, epoch, time)| said(publisher, epoch, time)).collect();
        let mut turned = anchors.clone();
        turned.rotate_left(turn.index(anchors.len().max(1)));
        prop_assert_eq!(median(&anchors), median(&turned));
        prop_assert_eq!(validate_monotonicity(&anchors), validate_monotonicity(&turned));
    }
}
