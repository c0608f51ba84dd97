//! Equivocation: detected and proven (consensus#equivocation).

use colibri_consensus::equivocation::{
    EquivocationDetector, EquivocationError, InvalidProof, build_equivocation_proof,
    verify_equivocation_proof,
};
use colibri_consensus::finality::FinalityLevel;
use colibri_consensus::messages::{EquivocationProof, SignedMessage, Vote, VoteType};
use colibri_consensus::signing::{Signer, StrictEd25519};

use crate::support::{AA, CC, arbiter, hex, id, vote, vote_of};

const EVIDENCE: &str = "e7830a3378b9a466c861e979810f819f3abe43beb04fa7914108289af0f6daa2";

fn proof() -> EquivocationProof {
    build_equivocation_proof(&vote('A', AA, 1), &vote('A', CC, 4), FinalityLevel::Quorum).unwrap()
}

fn verdict(proof: &EquivocationProof, name: char) -> Result<(), InvalidProof> {
    verify_equivocation_proof(proof, &arbiter(name).public_key(), &StrictEd25519)
}

fn in_round(vote: Vote, round_id: u64) -> Vote {
    Vote { round_id, ..vote }.signed_by(&arbiter('A')).unwrap()
}

#[test]
fn the_hash_is_the_same_whichever_vote_comes_first() {
    let (v1, vx) = (vote('A', AA, 1), vote('A', CC, 4));
    for proof in [
        build_equivocation_proof(&v1, &vx, FinalityLevel::Hard).unwrap(),
        build_equivocation_proof(&vx, &v1, FinalityLevel::Pending).unwrap(),
    ] {
        assert_eq!(hex(&proof.evidence_hash), EVIDENCE);
        assert_eq!((&proof.signed_vote_a, &proof.signed_vote_b), (&v1, &vx));
        assert_eq!(verdict(&proof, 'A'), Ok(()));
    }
}

#[test]
fn votes_that_prove_nothing_are_refused() {
    let v1 = vote('A', AA, 1);
    let build = |other: &Vote| build_equivocation_proof(&v1, other, FinalityLevel::Soft).unwrap_err();
    assert_eq!(build(&vote('A', AA, 2)), EquivocationError::SameTuple);
    assert_eq!(build(&vote_of('A', AA, VoteType::Reject, 2)), EquivocationError::SameTuple);
    assert_eq!(build(&vote('B', CC, 2)), EquivocationError::DifferentSenders);
    assert_eq!(build(&in_round(vote('A', CC, 2), 2)), EquivocationError::DifferentRounds);
}

type Alter = fn(&mut EquivocationProof);

#[test]
fn each_reason_is_reached() {
    let cases: [(&str, Alter, InvalidProof); 11] = [
        ("a's signature", |proof| proof.signed_vote_a.signature[0] ^= 1, InvalidProof::SigAInvalid),
        ("a's text", |proof| proof.signed_vote_a.timestamp_logical += 1, InvalidProof::SigAInvalid),
        ("another arbiter", |proof| proof.arbiter_id = id('B'), InvalidProof::SigAInvalid),
        ("b's signature", |proof| proof.signed_vote_b.signature[63] ^= 1, InvalidProof::SigBInvalid),
        ("b is another's", |proof| proof.signed_vote_b = vote('B', CC, 4), InvalidProof::SigBInvalid),
        ("same tuple", |proof| proof.signed_vote_b = vote('A', AA, 9), InvalidProof::SameTuple),
        ("proof's round", |proof| proof.round_id = 2, InvalidProof::DifferentRoundOrLevel),
        (
            "b's round",
            |proof| proof.signed_vote_b = in_round(vote('A', CC, 4), 2),
            InvalidProof::DifferentRoundOrLevel,
        ),
        (
            "b signed under another name",
            |proof| {
                let vote = Vote { sender_id: id('B'), ..vote('A', CC, 4) };
                proof.signed_vote_b = vote.signed_by(&arbiter('A')).unwrap();
            },
            InvalidProof::DifferentRoundOrLevel,
        ),
        ("hash", |proof| proof.evidence_hash[0] ^= 1, InvalidProof::EvidenceHashMismatch),
        (
            "order",
            |proof| std::mem::swap(&mut proof.signed_vote_a, &mut proof.signed_vote_b),
            InvalidProof::EvidenceHashMismatch,
        ),
    ];
    for (name, alter, expected) in cases {
        let mut altered = proof();
        alter(&mut altered);
        assert_eq!(verdict(&altered, 'A'), Err(expected), "{name}: {}", expected.as_str());
    }
    assert_eq!(verdict(&proof(), 'B'), Err(InvalidProof::SigAInvalid));
}

#[test]
fn a_detector_proves_each_arbiter_once_against_its_first_vote() {
    let mut detector = EquivocationDetector::default();
    let mut observe = |vote: &Vote| detector.observe(vote, FinalityLevel::Soft).unwrap();
    assert_eq!(observe(&vote('A', AA, 1)), None);
    assert_eq!(observe(&vote_of('A', AA, VoteType::Abstain, 2)), None);
    assert_eq!(observe(&vote('B', CC, 2)), None, "another arbiter");
    let found = observe(&vote('A', CC, 4)).unwrap();
    assert_eq!(hex(&found.evidence_hash), EVIDENCE);
    assert_eq!(observe(&vote('A', [0xdd; 32], 5)), None, "proven already");
    assert!(detector.is_proven(&id('A')) && !detector.is_proven(&id('B')));
    assert_eq!(detector.proofs().len(), 1);
}
