//! Equivocation: proofs and punishment (theta §8).

use colibri::domains::consensus::canonical::sha256;
use colibri::domains::consensus::equivocation::{
    DoublePenalty, EquivocationDetector, EquivocationError, InvalidProof, NotApplied, Reputation,
    SlashPenalty, Slashed, apply_equivocation_slash, build_equivocation_proof, evidence_hash_hex,
    verify_equivocation_proof,
};
use colibri::domains::consensus::finality::FinalityLevel;
use colibri::domains::consensus::messages::{EquivocationProof, SignedMessage, Vote, VoteType};
use colibri::domains::consensus::signing::{Signer, StrictEd25519};

use crate::consensus::support::{AA, CC, arbiter, id, vote, vote_of};

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
fn theta_54_the_hash_is_the_same_whichever_vote_comes_first() {
    let (v1, vx) = (vote('A', AA, 1), vote('A', CC, 4));
    for proof in [
        build_equivocation_proof(&v1, &vx, FinalityLevel::Hard).unwrap(),
        build_equivocation_proof(&vx, &v1, FinalityLevel::Pending).unwrap(),
    ] {
        assert_eq!(evidence_hash_hex(&proof), EVIDENCE);
        assert_eq!((&proof.signed_vote_a, &proof.signed_vote_b), (&v1, &vx));
        assert_eq!(verdict(&proof, 'A'), Ok(()));
    }
}

#[test]
fn theta_54_votes_that_prove_nothing_are_refused() {
    let v1 = vote('A', AA, 1);
    let build = |other: &Vote| build_equivocation_proof(&v1, other, FinalityLevel::Soft).unwrap_err();
    assert_eq!(build(&vote('A', AA, 2)), EquivocationError::SameTuple);
    assert_eq!(build(&vote_of('A', AA, VoteType::Reject, 2)), EquivocationError::SameTuple);
    assert_eq!(build(&vote('B', CC, 2)), EquivocationError::DifferentSenders);
    assert_eq!(build(&in_round(vote('A', CC, 2), 2)), EquivocationError::DifferentRounds);
}

type Alter = fn(&mut EquivocationProof);

#[test]
fn theta_54_each_reason_is_reached() {
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

/// Lambda as far as the chapter needs it: it writes down what it was asked for.
#[derive(Default)]
struct Ledger {
    penalties: Vec<SlashPenalty>,
    refuses: bool,
}

impl Reputation for Ledger {
    type HistoryEvent = usize;

    fn apply_penalty(&mut self, penalty: &SlashPenalty) -> Result<usize, DoublePenalty> {
        if self.refuses {
            return Err(DoublePenalty);
        }
        self.penalties.push(penalty.clone());
        Ok(self.penalties.len())
    }
}

fn slash(proof: &EquivocationProof, ledger: &mut Ledger, seen: &mut Slashed) -> Result<usize, NotApplied> {
    apply_equivocation_slash(proof, &arbiter('A').public_key(), &StrictEd25519, ledger, seen, 12)
}

#[test]
fn theta_54_a_fault_is_punished_once() {
    let (mut ledger, mut seen) = (Ledger::default(), Slashed::default());
    assert_eq!(slash(&proof(), &mut ledger, &mut seen), Ok(1));
    let [penalty] = ledger.penalties.as_slice() else { panic!("one penalty") };
    assert_eq!(
        (penalty.arbiter_id, penalty.band, penalty.domain, penalty.epoch, penalty.scar),
        (id('A'), "critical", "arbitration", 12, true)
    );
    assert_eq!((penalty.event_id.as_str(), penalty.reason.as_str()), (EVIDENCE, "equivocation in round 1"));
    assert_eq!(slash(&proof(), &mut ledger, &mut seen), Err(NotApplied::Duplicate));
    let pair = build_equivocation_proof(&vote('A', [0xdd; 32], 7), &vote('A', CC, 4), FinalityLevel::Soft);
    assert_eq!(slash(&pair.unwrap(), &mut ledger, &mut seen), Err(NotApplied::Duplicate), "second pair");
    let (one, two) = (in_round(vote('A', AA, 8), 2), in_round(vote('A', CC, 9), 2));
    let elsewhere = build_equivocation_proof(&one, &two, FinalityLevel::Soft).unwrap();
    assert_eq!(slash(&elsewhere, &mut ledger, &mut seen), Ok(2), "another round is another fault");
}

#[test]
fn theta_54_what_is_not_punished_is_not_remembered() {
    let (mut ledger, mut seen) = (Ledger { refuses: true, ..Ledger::default() }, Slashed::default());
    let refused = slash(&proof(), &mut ledger, &mut seen).unwrap_err();
    assert_eq!((refused, refused.as_str()), (NotApplied::LambdaDoubleJeopardy, "lambda_double_jeopardy"));
    let mut forged = proof();
    forged.evidence_hash = sha256(&[b"something else"]);
    let refused = slash(&forged, &mut ledger, &mut seen).unwrap_err();
    assert_eq!(refused, NotApplied::InvalidProof(InvalidProof::EvidenceHashMismatch));
    assert_eq!(seen, Slashed::default());
    ledger.refuses = false;
    assert_eq!(slash(&proof(), &mut ledger, &mut seen), Ok(1));
}

#[test]
fn theta_8_a_detector_proves_each_arbiter_once_against_its_first_vote() {
    let mut detector = EquivocationDetector::default();
    let mut observe = |vote: &Vote| detector.observe(vote, FinalityLevel::Soft).unwrap();
    assert_eq!(observe(&vote('A', AA, 1)), None);
    assert_eq!(observe(&vote_of('A', AA, VoteType::Abstain, 2)), None);
    assert_eq!(observe(&vote('B', CC, 2)), None, "another arbiter");
    let found = observe(&vote('A', CC, 4)).unwrap();
    assert_eq!(evidence_hash_hex(&found), EVIDENCE);
    assert_eq!(observe(&vote('A', [0xdd; 32], 5)), None, "proven already");
    assert!(detector.is_proven(&id('A')) && !detector.is_proven(&id('B')));
    assert_eq!(detector.proofs().len(), 1);
}
