//! The finality machine: worked traces, evidence and refusals (consensus#finality).

use colibri_consensus::canonical::sha256;
use colibri_consensus::finality::{FinalityError, FinalityLevel, FinalityMachine, VoteOutcome};
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{SignedMessage, Vote, VoteType};
use colibri_consensus::quorum::QuorumError;

use crate::support::{AA, CC, arbiter, hex, id, vote, vote_of};
use FinalityLevel::{Absolute, Hard, Pending, Quorum, Soft};

fn machine(names: &str) -> FinalityMachine {
    let committee: Vec<SenderId> = names.chars().map(id).collect();
    FinalityMachine::new(1, &committee, 100).unwrap()
}

/// Votes of several members on `root`, all received in `epoch`, with the epoch as their logical time.
fn receive(machine: &mut FinalityMachine, names: &str, root: [u8; 32], epoch: u64) {
    for name in names.chars() {
        let outcome = machine.receive_vote(&vote(name, root, epoch), epoch);
        assert_eq!(outcome, Ok(VoteOutcome::Counted), "{name} in epoch {epoch}");
    }
}

fn steps(machine: &FinalityMachine) -> Vec<(FinalityLevel, u64)> {
    machine.transitions().iter().map(|step| (step.to, step.epoch)).collect()
}

#[test]
fn trace_1_one_arbiter() {
    let mut machine = machine("A");
    receive(&mut machine, "A", AA, 1);
    assert_eq!(steps(&machine), [(Soft, 1), (Quorum, 1)]);
    receive(&mut machine, "A", AA, 2);
    assert_eq!(machine.current(), Hard);
    assert_eq!(machine.seal_epoch(101, &[0xdd; 32]), Ok(false));
    assert_eq!(machine.seal_epoch(102, &[0xdd; 32]), Ok(true));
    assert_eq!(steps(&machine), [(Soft, 1), (Quorum, 1), (Hard, 2), (Absolute, 102)]);
    assert_eq!(machine.seal_epoch(300, &[0xdd; 32]), Ok(false));
}

#[test]
fn trace_2_dissent_does_not_hinder() {
    let mut machine = machine("ABCD");
    for (names, level) in [("A", Soft), ("B", Soft), ("C", Quorum)] {
        receive(&mut machine, names, AA, 1);
        assert_eq!(machine.current(), level);
    }
    receive(&mut machine, "D", CC, 1);
    assert_eq!(machine.current(), Quorum);
    receive(&mut machine, "ABC", AA, 2);
    assert_eq!(steps(&machine), [(Soft, 1), (Quorum, 1), (Hard, 2)]);
}

#[test]
fn trace_3_epochs_must_be_adjacent() {
    let mut machine = machine("ABCD");
    for (name, epoch) in [("A", 1), ("B", 2), ("C", 3)] {
        receive(&mut machine, name, AA, epoch);
    }
    receive(&mut machine, "ABC", AA, 5);
    assert_eq!(machine.current(), Quorum);
    receive(&mut machine, "ABD", AA, 6);
    assert_eq!(steps(&machine), [(Soft, 1), (Quorum, 3), (Hard, 6)]);
}

#[test]
fn traces_4_and_6_an_equivocation_restarts_the_streak_and_the_window() {
    for (proven, hard) in [(1, 3), (2, 4)] {
        let mut machine = machine("ABCD");
        receive(&mut machine, "ABD", AA, 1);
        machine.observe_equivocation(proven, &id('D')).unwrap();
        for epoch in 2..=hard {
            assert_eq!(machine.current(), Quorum, "before epoch {epoch}");
            receive(&mut machine, "ABC", AA, epoch);
        }
        assert_eq!(steps(&machine), [(Soft, 1), (Quorum, 1), (Hard, hard)]);
        assert_eq!(machine.seal_epoch(hard + 99, &[0; 32]), Ok(false));
        assert_eq!(machine.seal_epoch(hard + 100, &[0; 32]), Ok(true));
    }
}

#[test]
fn trace_5_a_lone_equivocator_ends_its_round() {
    let mut machine = machine("A");
    receive(&mut machine, "A", AA, 1);
    machine.observe_equivocation(2, &id('A')).unwrap();
    for epoch in 3..6 {
        assert_eq!(machine.receive_vote(&vote('A', AA, epoch), epoch), Ok(VoteOutcome::Excluded));
    }
    assert_eq!(steps(&machine), [(Soft, 1), (Quorum, 1)]);
}

#[test]
fn an_equivocation_after_hard_restarts_the_window_once() {
    let mut machine = machine("ABCD");
    receive(&mut machine, "ABC", AA, 1);
    receive(&mut machine, "ABC", AA, 2);
    machine.observe_equivocation(50, &id('D')).unwrap();
    machine.observe_equivocation(60, &id('D')).unwrap();
    machine.observe_equivocation(60, &SenderId::of(&[7; 32])).unwrap();
    assert_eq!(machine.seal_epoch(149, &[0; 32]), Ok(false));
    assert_eq!(machine.seal_epoch(150, &[0; 32]), Ok(true));
}

#[test]
fn evidence_is_what_the_chapter_computed() {
    let mut alone = machine("A");
    receive(&mut alone, "A", AA, 1);
    alone.receive_vote(&vote('A', AA, 4), 2).unwrap();
    assert!(alone.seal_epoch(102, &[0xdd; 32]).unwrap());
    let expected = [
        (Some(474), "6edb3146674eb5619ec806149490cd83dd7c28706ebc03eeeaf6bd47d9e2e715"),
        (Some(479), "4e1c9c3120300e77ab6a56f3712a7c45ca03f4c0ea1bf8022822037785de9ca6"),
        (Some(492), "b16cd03d3623ee5678c45ea690ddff27d2d27cc10e689f326ab879bf1cd450cd"),
        (None, "119806ea88f53398be473b867ee75b1222608dee60c2744d587009fa7dea7803"),
    ];
    assert_eq!(alone.transitions().len(), expected.len());
    for (step, (length, digest)) in alone.transitions().iter().zip(expected) {
        assert_eq!(hex(&sha256(&[&step.evidence])), digest, "{}", step.to);
        assert!(length.is_none_or(|length| step.evidence.len() == length), "{}", step.to);
    }
    let mut four = machine("ABCD");
    receive(&mut four, "ABC", AA, 1);
    let quorum = &four.transitions()[1].evidence;
    let digest = "6e44ce955ee2db6222d9cb8baccdf2242b41fb782f2631e239975f3168cc34bd";
    assert_eq!((quorum.len(), hex(&sha256(&[quorum])).as_str()), (1_385, digest));
    assert!(hex(quorum).starts_with("7b22746167223a2271756f72756d222c22766f746573223a5b7b226d65726b6c"));
}

#[test]
fn two_votes_of_one_sender_are_one() {
    let mut machine = machine("ABCD");
    machine.receive_vote(&vote('A', AA, 1), 1).unwrap();
    machine.receive_vote(&vote('A', AA, 2), 1).unwrap();
    machine.receive_vote(&vote('B', AA, 1), 1).unwrap();
    assert_eq!(machine.current(), Soft);
}

#[test]
fn only_accept_counts() {
    let mut machine = machine("ABCD");
    for name in "ABC".chars() {
        let vote = vote_of(name, AA, VoteType::Reject, 1);
        assert_eq!(machine.receive_vote(&vote, 1), Ok(VoteOutcome::Recorded));
    }
    assert_eq!(machine.current(), Soft);
    receive(&mut machine, "ABC", AA, 2);
    let abstain = vote_of('D', AA, VoteType::Abstain, 2);
    assert_eq!(machine.receive_vote(&abstain, 2), Ok(VoteOutcome::Recorded));
    assert_eq!(steps(&machine), [(Soft, 1), (Quorum, 2)]);
}

#[test]
fn a_vote_cannot_be_shown_twice() {
    let mut machine = machine("A");
    let v1 = vote('A', AA, 1);
    machine.receive_vote(&v1, 1).unwrap();
    assert_eq!(machine.receive_vote(&v1, 2), Ok(VoteOutcome::Stale));
    assert_eq!(machine.current(), Quorum);
}

#[test]
fn epochs_never_go_back() {
    let mut machine = machine("ABCD");
    receive(&mut machine, "A", AA, 5);
    let back = FinalityError::EpochRegression { last: 5, got: 4 };
    assert_eq!(machine.receive_vote(&vote('B', AA, 9), 4), Err(back.clone()));
    assert_eq!(machine.observe_equivocation(4, &id('B')), Err(back));
    // B was neither counted nor excluded, nor was its time taken.
    receive(&mut machine, "BC", AA, 5);
    assert_eq!(steps(&machine), [(Soft, 5), (Quorum, 5)]);
}

#[test]
fn strangers_and_other_rounds_change_nothing() {
    let mut machine = machine("A");
    assert_eq!(machine.receive_vote(&vote('B', AA, 1), 9), Ok(VoteOutcome::NotMember));
    let elsewhere = Vote { round_id: 2, ..vote('A', AA, 1) }.signed_by(&arbiter('A')).unwrap();
    let refused = machine.receive_vote(&elsewhere, 9);
    assert_eq!(refused, Err(FinalityError::WrongRound { round_id: 1, got: 2 }));
    receive(&mut machine, "A", AA, 1);
    assert_eq!(machine.current(), Quorum);
}

#[test]
fn effects_wait_for_their_level() {
    let mut machine = machine("ABCD");
    let seen = |machine: &FinalityMachine| {
        let external = machine.require_external_effects_allowed().is_ok();
        (machine.current(), external, machine.require_irreversible_effects_allowed().is_ok())
    };
    assert_eq!(seen(&machine), (Pending, false, false));
    let refused = machine.require_external_effects_allowed().unwrap_err().to_string();
    assert_eq!(refused, "external effects require HARD finality; round 1 is PENDING");
    receive(&mut machine, "A", AA, 1);
    assert_eq!(seen(&machine), (Soft, false, false));
    receive(&mut machine, "BC", AA, 1);
    assert_eq!(seen(&machine), (Quorum, false, false));
    receive(&mut machine, "ABC", AA, 2);
    assert_eq!(seen(&machine), (Hard, true, false));
    let refused = machine.require_irreversible_effects_allowed().unwrap_err().to_string();
    assert_eq!(refused, "irreversible effects require ABSOLUTE finality; round 1 is HARD");
    assert!(machine.seal_epoch(102, &[0; 32]).unwrap());
    assert_eq!(seen(&machine), (Absolute, true, true));
}

#[test]
fn seals_come_after_the_window_and_are_32_bytes() {
    let mut machine = machine("A");
    for epoch in [1, 2] {
        assert_eq!(machine.seal_epoch(1_000, &[0; 32]), Ok(false), "below HARD");
        receive(&mut machine, "A", AA, epoch);
    }
    for length in [0, 31, 33] {
        assert_eq!(machine.seal_epoch(102, &vec![0; length]), Err(FinalityError::BadSealRoot(length)));
    }
    for epoch in [0, 2, 101] {
        assert_eq!(machine.seal_epoch(epoch, &[0; 32]), Ok(false), "epoch {epoch}");
    }
    assert_eq!(machine.current(), Hard);
}

#[test]
fn two_quorums_stop_the_round() {
    let mut machine = machine("ABCD");
    receive(&mut machine, "ABC", CC, 1);
    machine.receive_vote(&vote('B', AA, 2), 1).unwrap();
    machine.receive_vote(&vote('C', AA, 2), 1).unwrap();
    let last = vote('D', AA, 3);
    let Err(FinalityError::SafetyViolation(divergence)) = machine.receive_vote(&last, 1) else {
        panic!("no violation")
    };
    assert_eq!((divergence.round_id, divergence.timestamp_logical), (1, 3));
    assert_eq!(divergence.divergent_roots, [AA, CC], "sorted");
    for epoch in 4..9 {
        for name in "ABCD".chars() {
            for (root, time) in [(CC, 2 * epoch), (AA, 2 * epoch + 1)] {
                let outcome = machine.receive_vote(&vote(name, root, time), epoch);
                assert_eq!(outcome, Ok(VoteOutcome::Counted), "said once");
            }
        }
    }
    assert_eq!(machine.current(), Quorum);
    assert_eq!(machine.seal_epoch(1_000, &[0; 32]), Ok(false));
}

#[test]
fn what_cannot_be_a_round() {
    let new = |names: &str, window| {
        let committee: Vec<SenderId> = names.chars().map(id).collect();
        FinalityMachine::new(1, &committee, window).map(|machine| machine.current())
    };
    assert_eq!(new("", 100), Err(FinalityError::Quorum(QuorumError::BadN(0))));
    assert_eq!(new("ABA", 100), Err(FinalityError::DuplicateArbiter(id('A'))));
    assert_eq!(new("A", 0), Err(FinalityError::BadWindow));
    assert_eq!(new("A", 1), Ok(Pending));
}

#[test]
fn integers_stay_below_2_to_63() {
    let mut machine = machine("A");
    for (vote, epoch) in
        [(vote('A', AA, 1), 1 << 63), (Vote { timestamp_logical: 1 << 63, ..vote('A', AA, 1) }, 1)]
    {
        assert!(matches!(machine.receive_vote(&vote, epoch), Err(FinalityError::Serialization(_))));
    }
    assert!(matches!(machine.seal_epoch(1 << 63, &[0; 32]), Err(FinalityError::Serialization(_))));
    let last = i64::MAX as u64;
    machine.receive_vote(&vote('A', AA, 1), last - 1).unwrap();
    machine.receive_vote(&vote('A', AA, last), last).unwrap();
    assert_eq!(machine.current(), Hard);
    assert_eq!(machine.seal_epoch(last, &[0; 32]), Ok(false));
}
