//! The cache of rounds between calls (consensus#persistence).

use colibri_consensus::cache::{CAPACITY, Cache};
use colibri_consensus::history::History;
use colibri_consensus::stored::Mark;

use crate::support::id;

fn history(round_id: u64) -> History {
    History::new(round_id, &[id('A')], 100).unwrap()
}

fn mark(epoch: i64) -> Mark {
    Mark { epoch, level: "QUORUM".to_owned(), last_vote: Some((epoch, vec![7; 64])) }
}

#[test]
fn a_round_is_taken_as_it_was_put_or_not_at_all() {
    let mut cache = Cache::default();
    cache.put(1, mark(1), history(1));
    assert!(cache.take(2, &mark(1)).is_none());
    assert!(cache.take(1, &mark(1)).is_some());
    assert!(cache.is_empty(), "it is out until it is put back");
    let other_vote = Mark { last_vote: Some((1, vec![8; 64])), ..mark(1) };
    let other_level = Mark { level: "HARD".to_owned(), ..mark(1) };
    for changed in [mark(2), other_vote, other_level, Mark { last_vote: None, ..mark(1) }] {
        cache.put(1, mark(1), history(1));
        assert!(cache.take(1, &changed).is_none(), "{changed:?}");
        assert!(cache.is_empty());
    }
}

#[test]
fn what_was_changed_is_forgotten_when_rows_are_rolled_back() {
    let mut cache = Cache::default();
    cache.put(1, mark(1), history(1));
    cache.put_changed(2, mark(1), history(2));
    cache.put_changed(3, mark(1), history(3));
    // Read again after it was changed: it is still not known to be committed.
    let again = cache.take(3, &mark(1)).unwrap();
    cache.put(3, mark(1), again);
    cache.forget_changed();
    assert!(cache.take(2, &mark(1)).is_none() && cache.take(3, &mark(1)).is_none());
    assert!(cache.take(1, &mark(1)).is_some());
}

#[test]
fn the_round_used_longest_ago_goes_first() {
    let mut cache = Cache::default();
    let last = i64::try_from(CAPACITY).unwrap();
    for round_id in 1..=last {
        cache.put(round_id, mark(1), history(1));
    }
    let first = cache.take(1, &mark(1)).unwrap();
    cache.put(1, mark(1), first);
    cache.put(last + 1, mark(1), history(1));
    assert_eq!(cache.len(), CAPACITY);
    assert!(cache.take(2, &mark(1)).is_none());
    assert!(cache.take(1, &mark(1)).is_some() && cache.take(last + 1, &mark(1)).is_some());
}
