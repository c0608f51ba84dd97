//! How many are enough (theta §5).

use std::collections::BTreeSet;

use colibri::domains::consensus::messages::{SignedMessage, Vote, VoteType};
use colibri::domains::consensus::quorum::{
    QuorumError, detect_double_vote, has_quorum, intersect, max_faulty, quorum_threshold,
};

use crate::consensus::support::{AA, CC, arbiter, id, vote, vote_of};

#[test]
fn theta_38_table_of_quorums() {
    let table = [
        (1, 0, 1),
        (2, 0, 2),
        (3, 0, 3),
        (4, 1, 3),
        (5, 1, 4),
        (6, 1, 5),
        (7, 2, 5),
        (8, 2, 6),
        (9, 2, 7),
        (10, 3, 7),
        (13, 4, 9),
        (31, 10, 21),
        (100, 33, 67),
    ];
    for (n, faulty, quorum) in table {
        assert_eq!((max_faulty(n), quorum_threshold(n)), (Ok(faulty), Ok(quorum)), "n = {n}");
    }
    assert_eq!(quorum_threshold(0), Err(QuorumError::BadN(0)));
    assert_eq!(max_faulty(0).unwrap_err().to_string(), "n must be >= 1; got 0");
    assert_eq!(quorum_threshold(u64::MAX), Err(QuorumError::BadN(u64::MAX)));
}

#[test]
fn theta_38_honest_arbiters_are_a_quorum_and_two_quorums_share_one() {
    for n in (1..=100_000).chain([i64::MAX as u64]) {
        let (q, f) = (quorum_threshold(n).unwrap(), max_faulty(n).unwrap());
        assert_eq!(q + f, n, "liveness, n = {n}");
        assert!(2 * q - n > f, "safety, n = {n}");
    }
}

#[test]
fn theta_5_only_distinct_accepting_members_make_a_quorum() {
    let committee: BTreeSet<_> = "ABCD".chars().map(id).collect();
    let three = [vote('A', AA, 1), vote('B', AA, 1), vote('C', AA, 1)];
    let cases: [(&str, Vec<Vote>, bool); 5] = [
        ("three of four", three.to_vec(), true),
        ("one of them twice", vec![vote('A', AA, 1), vote('A', AA, 2), vote('C', AA, 1)], false),
        ("one of them on another root", vec![vote('A', AA, 1), vote('B', AA, 1), vote('C', CC, 1)], false),
        (
            "one of them against it",
            vec![vote('A', AA, 1), vote('B', AA, 1), vote_of('C', AA, VoteType::Reject, 1)],
            false,
        ),
        ("none", Vec::new(), false),
    ];
    for (name, votes, expected) in cases {
        assert_eq!(has_quorum(&votes, &committee), Ok(expected), "{name}");
    }
    // n = 3 needs all three, and D is no member of it.
    let others: BTreeSet<_> = "ABD".chars().map(id).collect();
    assert_eq!(has_quorum(&three, &others), Ok(false));
    assert_eq!(has_quorum(&three, &BTreeSet::new()), Err(QuorumError::BadN(0)));
    assert_eq!(intersect(&committee, &others), others);
}

#[test]
fn theta_5_double_votes_come_in_the_order_of_arrival() {
    let (on_aa, on_cc, on_dd) = (vote('A', AA, 1), vote('A', CC, 2), vote('A', [0xdd; 32], 3));
    let again = vote_of('A', AA, VoteType::Reject, 4);
    let mut elsewhere = vote('A', CC, 5);
    elsewhere.round_id = 2;
    let elsewhere = elsewhere.signed_by(&arbiter('A')).unwrap();
    let votes = [vote('B', CC, 1), on_aa.clone(), elsewhere, on_cc.clone(), again.clone(), on_dd.clone()];
    let pairs = detect_double_vote(&id('A'), 1, &votes);
    assert_eq!(pairs, [(on_aa.clone(), on_cc.clone()), (on_aa.clone(), on_dd.clone()), (on_cc, on_dd)]);
    assert_eq!(detect_double_vote(&id('A'), 1, &[on_aa, again]), []);
}
