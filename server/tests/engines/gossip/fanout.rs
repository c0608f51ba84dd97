//! The number of peers (theta §10.4, case 56).

use std::collections::BTreeMap;

use colibri::domains::consensus::fanout::{FanoutTracker, compute_fanout};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::gossip::support::somebody;

#[test]
fn theta_56_fanout_by_score() {
    let table = [
        (0, 10),
        (3, 10),
        (5, 10),
        (6, 9),
        (7, 8),
        (10, 5),
        (11, 4),
        (12, 3),
        (-1, 10),
        (-100, 10),
        (13, 3),
        (100, 3),
        (i64::MIN, 10),
        (i64::MAX, 3),
    ];
    for (score, fanout) in table {
        assert_eq!(compute_fanout(score), fanout, "score {score}");
    }
}

#[test]
fn theta_56_score_is_who_answered_within_the_period() {
    let mut tracker = FanoutTracker::default();
    assert_eq!((tracker.current_score(), tracker.current_fanout()), (0, 10));
    (1..=8).for_each(|peer| tracker.track_exchange(somebody(peer), true, 3));
    tracker.track_exchange(somebody(9), false, 4);
    tracker.track_exchange(somebody(1), false, 9);
    assert_eq!(tracker.recompute_if_due(4, 0, None), None, "four epochs");
    assert_eq!((tracker.current_score(), tracker.current_fanout()), (0, 10));
    assert_eq!(tracker.recompute_if_due(5, 0, None), Some(8));
    assert_eq!((tracker.current_score(), tracker.current_fanout()), (8, 7));
    assert_eq!(
        (tracker.recompute_if_due(8, 3, None), tracker.peers()),
        (Some(8), 9),
        "the cutoff is inclusive"
    );
    assert_eq!(tracker.recompute_if_due(9, 8, None), None);
    assert_eq!(tracker.recompute_if_due(9, 8, Some(1)), Some(0), "but a period may be given");
    assert_eq!(tracker.peers(), 1, "only peer 1 was spoken to since, in vain");
    (1..=20).for_each(|peer| tracker.track_exchange(somebody(peer), true, 10));
    assert_eq!(tracker.recompute_if_due(15, 10, None), Some(12), "at most 12");
    assert_eq!(tracker.current_fanout(), 3);
    assert_eq!(tracker.recompute_if_due(0, 15, None), None, "time that goes back is not due");
}

/// The definition: all exchanges are kept, and looked through.
#[derive(Default)]
struct Defined(BTreeMap<u8, Vec<(u64, bool)>>);

impl Defined {
    fn score(&mut self, current: u64, period: u64) -> i64 {
        let cutoff = current.saturating_sub(period);
        self.0.values_mut().for_each(|said| said.retain(|(epoch, _)| *epoch >= cutoff));
        self.0.retain(|_, said| !said.is_empty());
        let answered = self.0.values().filter(|said| said.iter().any(|(_, ok)| *ok)).count();
        i64::try_from(answered).unwrap().min(12)
    }
}

proptest! {
    #[test]
    fn theta_56_what_is_forgotten_never_matters(
        steps in vec((0..20_u8, any::<bool>(), 0..40_u64, 0..5_u8), 0..120),
    ) {
        let (mut tracker, mut defined) = (FanoutTracker::new(5), Defined::default());
        for (peer, ok, epoch, kind) in steps {
            if kind > 0 {
                tracker.track_exchange(somebody(peer), ok, epoch);
                defined.0.entry(peer).or_default().push((epoch, ok));
            } else if let Some(score) = tracker.recompute_if_due(epoch, 0, None) {
                prop_assert_eq!(score, defined.score(epoch, 5));
                prop_assert_eq!(tracker.peers(), defined.0.len());
            }
        }
    }
}
