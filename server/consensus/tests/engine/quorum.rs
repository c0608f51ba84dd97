//! How many arbiters make a quorum (consensus#quorum).

use colibri_consensus::quorum::{QuorumError, max_faulty, quorum_threshold};

#[test]
fn table_of_quorums() {
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
fn honest_arbiters_are_a_quorum_and_two_quorums_share_one() {
    for n in (1..=100_000).chain([i64::MAX as u64]) {
        let (q, f) = (quorum_threshold(n).unwrap(), max_faulty(n).unwrap());
        assert_eq!(q + f, n, "liveness, n = {n}");
        assert!(2 * q - n > f, "safety, n = {n}");
    }
}
