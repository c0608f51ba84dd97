//! Leaders and committees (consensus#leader).

use std::collections::BTreeMap;

use colibri_consensus::ecvrf::VrfError;
use colibri_consensus::leader::select_leader;
use colibri_consensus::vrf::{Candidate, vrf_eval, vrf_sortition};

use crate::vrf::support::{AA, SEEDS, hex, key, sender_id};

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

#[test]
fn leaders_are_those_of_theta_9_7() {
    let ids = ["arb-a", "arb-b", "arb-c", "arb-d"];
    for (round, view, leader) in [(1, 0, "arb-c"), (1, 1, "arb-c"), (2, 0, "arb-d"), (7, 3, "arb-b")] {
        assert_eq!(select_leader(&ids, &AA, round, view), Ok(&leader), "round {round}, view {view}");
    }
    let ids = SEEDS.map(sender_id);
    let name = |round, view| {
        let leader = select_leader(&ids, &[0; 32], round, view).unwrap();
        NAMES[ids.iter().position(|id| id == leader).unwrap()]
    };
    for (round, view, leader) in [(1, 0, "B"), (1, 1, "D"), (1, 2, "A"), (2, 0, "C"), (3, 0, "D")] {
        assert_eq!(name(round, view), leader, "round {round}, view {view}");
    }
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    (1..=10_000).for_each(|round| *counts.entry(name(round, 0)).or_default() += 1);
    assert_eq!(counts, BTreeMap::from([("A", 2475), ("B", 2444), ("C", 2590), ("D", 2491)]));
}

#[test]
fn order_and_repetition_of_the_list_do_not_matter() {
    let (sorted, listed) = (["a", "b", "c"], ["c", "a", "b", "a", "c"]);
    for round in 0..50 {
        assert_eq!(select_leader(&sorted, &AA, round, 0), select_leader(&listed, &AA, round, 0));
    }
    assert_eq!(select_leader::<String>([], &AA, 1, 0), Err(VrfError::EmptyArbiters));
    assert_eq!(VrfError::EmptyArbiters.to_string(), "arbiters must be non-empty");
    assert_eq!(select_leader(&["only"], &AA, u64::MAX, u64::MAX), Ok(&"only"));
}

fn candidates(input: &[u8]) -> Vec<Candidate> {
    let candidate = |(name, seed): (&str, &str)| {
        let key = key(seed);
        let proof = vrf_eval(&AA, input, &key).unwrap().proof;
        Candidate { id: name.to_owned(), public_key: key.public_key(), proof }
    };
    NAMES.into_iter().zip(SEEDS).map(candidate).collect()
}

#[test]
fn a_committee_is_drawn_by_outputs() {
    let input = 1_u64.to_be_bytes();
    let mut candidates = candidates(&input);
    let drawn = |candidates: &[Candidate], count| {
        let drawn = vrf_sortition(candidates, &AA, &input, count);
        drawn.iter().map(|place| format!("{} {}", place.id, &hex(&place.output)[..8])).collect::<Vec<_>>()
    };
    let all = ["A 859e6b8d", "B 882a45ad", "D d2737ad4", "C e3b6f222"];
    for count in 0..6 {
        assert_eq!(drawn(&candidates, count), all[..count.min(4)]);
    }
    candidates.reverse();
    candidates.extend(candidates.clone());
    assert_eq!(drawn(&candidates, 9), all, "one place each, in the same order");
    candidates.truncate(4);
    for candidate in candidates.iter_mut().filter(|candidate| candidate.id == "A") {
        candidate.proof[79] ^= 1;
    }
    assert_eq!(drawn(&candidates, 2), all[1..3], "a proof that does not verify draws nothing");
    assert!(vrf_sortition(&candidates, &AA, &2_u64.to_be_bytes(), 4).is_empty(), "proofs for another input");
}

#[test]
fn equal_outputs_are_ordered_by_id() {
    let input = 1_u64.to_be_bytes();
    let twins: Vec<Candidate> =
        ["y", "x"].map(|id| Candidate { id: id.to_owned(), ..candidates(&input)[0].clone() }).into();
    let ids: Vec<_> = vrf_sortition(&twins, &AA, &input, 2).into_iter().map(|place| place.id).collect();
    assert_eq!(ids, ["x", "y"]);
}
