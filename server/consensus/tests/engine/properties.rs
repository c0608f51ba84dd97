//! Random messages and random histories (consensus#finality, "Property tests"). `COLIBRI_THETA_CASES` sets how many.

use colibri_consensus::finality::{FinalityError, FinalityMachine};
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{
    Certificate, Commit, EquivocationProof, Message, Reveal, ViewChange, ViewChangeReason, Vote, VoteType,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::reference::{Reference, Refused};
use crate::support::{AA, BB, CC, id, vote};

fn config(default: u32) -> ProptestConfig {
    let cases = std::env::var("COLIBRI_THETA_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases.unwrap_or(default)) }
}

fn integer() -> impl Strategy<Value = u64> {
    prop_oneof![0..3_u64, 0..=i64::MAX as u64, Just(i64::MAX as u64), Just((1 << 53) + 1)]
}

fn bytes<const N: usize>() -> impl Strategy<Value = [u8; N]> {
    vec(any::<u8>(), N).prop_map(|bytes| bytes.try_into().unwrap())
}

prop_compose! {
    fn any_vote()(
        round_id in integer(), merkle_root in bytes(), rule_version_hash in bytes(), key in bytes(),
        vote_type in prop::sample::select(vec![VoteType::Accept, VoteType::Reject, VoteType::Abstain]),
        timestamp_logical in integer(), signature in bytes(),
    ) -> Vote {
        let sender_id = SenderId::of(&key);
        Vote { round_id, merkle_root, rule_version_hash, sender_id, vote_type, timestamp_logical, signature }
    }
}

fn round_trip<M: Message + PartialEq + std::fmt::Debug>(message: &M) {
    let bytes = message.canonical().unwrap();
    assert_eq!(&M::decode(&bytes).unwrap(), message);
    // One byte less, or one more, gives an invalid message.
    assert!(M::decode(&bytes[..bytes.len() - 1]).is_err());
    assert!(M::decode(&[&bytes[..], b"\n"].concat()).is_err());
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn any_message_round_trips(
        votes in vec(any_vote(), 2..4), view in integer(), salt in bytes(), commit_hash in bytes(),
        signature in bytes(),
    ) {
        let vote = votes[0].clone();
        let Vote { round_id, sender_id, timestamp_logical, .. } = vote;
        round_trip(&vote);
        round_trip(&Commit { round_id, view, commit_hash, sender_id, timestamp_logical, signature });
        round_trip(&Reveal { round_id, view, vote, salt, sender_id, timestamp_logical, signature });
        let (current_leader, reason) = (votes[1].sender_id, ViewChangeReason::EquivocationObserved);
        round_trip(&ViewChange {
            round_id, view, current_leader, reason, sender_id, timestamp_logical, signature,
        });
        round_trip(&EquivocationProof {
            arbiter_id: sender_id,
            round_id,
            finality_level: colibri_consensus::finality::FinalityLevel::Absolute,
            signed_vote_a: votes[0].clone(),
            signed_vote_b: votes[1].clone(),
            evidence_hash: commit_hash,
        });
        round_trip(&Certificate { round_id, votes });
    }

    /// Any bytes that decode are in the only valid form, and nothing panics.
    #[test]
    fn mutated_bytes_decode_to_themselves_or_not_at_all(
        sound in any_vote(), edits in vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..4),
    ) {
        let mut bytes = Certificate { round_id: 1, votes: vec![sound] }.canonical().unwrap();
        for (place, byte, kind) in edits {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        if let Ok(message) = Certificate::decode(&bytes) {
            prop_assert_eq!(message.canonical().unwrap(), bytes);
        }
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(Vote::decode(&bytes).is_err() && Reveal::decode(&bytes).is_err());
    }
}

#[derive(Debug, Clone)]
enum Event {
    Vote { member: usize, root: u8, kind: u8, lead: u64, ahead: u64 },
    Equivocation { member: usize, ahead: u64 },
    Seal { ahead: u64 },
}

fn event() -> impl Strategy<Value = Event> {
    let ahead = prop_oneof![6 => Just(1_u64), 5 => Just(2), 1 => Just(0), 1 => Just(3)];
    let vote = (0..5_usize, 0..8_u8, 0..8_u8, 0..6_u64, ahead.clone());
    prop_oneof![
        24 => vote.prop_map(|(member, root, kind, lead, ahead)| {
            Event::Vote { member, root, kind, lead, ahead }
        }),
        1 => (0..5_usize, ahead).prop_map(|(member, ahead)| Event::Equivocation { member, ahead }),
        2 => (0..9_u64).prop_map(|ahead| Event::Seal { ahead }),
    ]
}

/// Drives both machines with the same events and compares what they say.
fn agree(n: usize, events: &[Event]) -> FinalityMachine {
    let names: Vec<SenderId> = "ABCD".chars().map(id).chain([SenderId::of(&[9; 32])]).collect();
    let mut machine = FinalityMachine::new(1, &names[..n], 4).unwrap();
    let mut reference = Reference::new(&names[..n], 4);
    let (mut epoch, mut time) = (1_u64, 0_u64);
    let template = vote('A', AA, 1);
    for event in events {
        // Mostly epochs advance by 0 or 1; `ahead` 0 asks for one that is over.
        let at = |ahead: u64| (epoch + ahead).saturating_sub(1);
        match *event {
            Event::Vote { member, root, kind, lead, ahead } => {
                time += 1;
                let vote = Vote {
                    sender_id: names[member],
                    merkle_root: if root < 6 {
                        AA
                    } else if root == 6 {
                        CC
                    } else {
                        BB
                    },
                    vote_type: [VoteType::Accept, VoteType::Reject, VoteType::Abstain]
                        [usize::from(kind.saturating_sub(5))],
                    // Sometimes a time that is not later than the last.
                    timestamp_logical: if lead == 0 { time.saturating_sub(4).max(1) } else { time },
                    ..template.clone()
                };
                let (got, expected) =
                    (machine.receive_vote(&vote, at(ahead)), reference.receive_vote(&vote, at(ahead)));
                let got = got.map_err(|error| match error {
                    FinalityError::EpochRegression { .. } => Refused::EpochRegression,
                    FinalityError::SafetyViolation(_) => Refused::SafetyViolation,
                    other => panic!("{other}"),
                });
                assert_eq!(got, expected, "{event:?}");
                epoch = epoch.max(at(ahead));
            }
            Event::Equivocation { member, ahead } => {
                let got = machine.observe_equivocation(at(ahead), &names[member]).is_ok();
                assert_eq!(got, reference.observe_equivocation(at(ahead), names[member]).is_ok());
                epoch = epoch.max(at(ahead));
            }
            Event::Seal { ahead } => {
                assert_eq!(
                    machine.seal_epoch(epoch + ahead, &[1; 32]),
                    Ok(reference.seal_epoch(epoch + ahead))
                );
            }
        }
        let steps: Vec<_> = machine.transitions().iter().map(|step| (step.to, step.epoch)).collect();
        assert_eq!((machine.current(), steps), (reference.level, reference.steps.clone()), "{event:?}");
    }
    machine
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn random_histories_agree_with_the_slow_machine(
        n in 1..=4_usize, events in vec(event(), 1..80),
    ) {
        agree(n, &events);
    }
}

/// The histories above are useful only if they reach all levels, and conflicts.
#[test]
fn random_histories_reach_every_level() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut reached = [0_usize; 5];
    for _ in 0..300 {
        let events = vec(event(), 1..80).new_tree(&mut runner).unwrap().current();
        for n in 1..=4 {
            reached[agree(n, &events).current() as usize] += 1;
        }
    }
    // At least one event is a vote or leaves the round as it was, so PENDING is rare.
    assert!(reached[1..].iter().all(|&count| count > 10), "{reached:?}");
}
