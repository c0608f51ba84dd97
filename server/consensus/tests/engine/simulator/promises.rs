//! Promises, votes and phases: phases, and the round of a single arbiter.

use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{Commit, Reveal, SignedMessage, ViewChangeReason, Vote, VoteType};
use colibri_consensus::round::{Entries, RoundConfig, RoundMessage, RoundState, RoundStateError};
use colibri_consensus::signing::Signer;
use colibri_test_support::dice::Dice;

use crate::simulator::desk::Desk;
use crate::simulator::keys::{Key, Scheme};
use crate::simulator::support::{
    Round, commit_in, commit_of, committee, config, only, revealed, tick_at, view_change,
};

#[test]
fn three_of_four_promises_begin_the_reveal_phase() {
    let (_, mut rounds) = committee(4);
    let commits: Vec<Commit> = rounds.iter_mut().map(commit_of).collect();
    let node = &mut rounds[0];
    assert_eq!(node.my_reveal(), Err(RoundStateError::WrongPhase(RoundState::CommitPhase)));
    node.receive_commit(&commits[1]).unwrap();
    node.receive_commit(&commits[1]).unwrap();
    assert_eq!(node.state(), RoundState::CommitPhase, "a promise heard twice is one");
    node.receive_commit(&commits[2]).unwrap();
    assert_eq!(node.state(), RoundState::RevealPhase);
    let reveal = node.my_reveal().unwrap();
    assert_eq!(only(node), RoundMessage::Reveal(reveal));
    node.receive_commit(&commits[3]).unwrap();
    assert_eq!(node.held().ballots, 5, "the fourth promise came late and counts: 4 promises, 1 vote");
}

#[test]
fn a_reveal_with_another_salt_is_refused_and_its_vote_is_not_counted() {
    let (keys, mut rounds) = committee(4);
    let reveals = revealed(&mut rounds);
    let before = rounds[0].held();
    let mut wrong = reveals[1].clone();
    wrong.salt[0] ^= 1;
    let wrong = wrong.signed_by(&keys[1]).unwrap();
    assert_eq!(rounds[0].receive_reveal(&wrong), Err(RoundStateError::CommitMismatch));
    assert_eq!(rounds[0].held().ballots, before.ballots);
    rounds[0].receive_reveal(&reveals[1]).unwrap();
    rounds[0].receive_reveal(&reveals[2]).unwrap();
    assert_eq!(rounds[0].state(), RoundState::Completed);
    assert_eq!(rounds[0].surroundings().quorums(), 1);
}

#[test]
fn the_commit_phase_ends_at_exactly_ten_seconds_and_at_twenty_in_view_1() {
    let (keys, mut rounds) = committee(4);
    let node = &mut rounds[0];
    node.begin().unwrap();
    node.take_outgoing();
    tick_at(node, 9_999);
    assert_eq!((node.state(), node.next_deadline()), (RoundState::CommitPhase, Some(10_000)));
    tick_at(node, 10_000);
    assert_eq!(node.state(), RoundState::ViewChange);
    tick_at(node, 10_000);
    assert!(
        matches!(only(node), RoundMessage::ViewChange(change) if change.reason == ViewChangeReason::Timeout)
    );
    for key in &keys[1..3] {
        node.receive_view_change(&view_change(key, 0, 9)).unwrap();
    }
    assert_eq!((node.state(), node.view()), (RoundState::CommitPhase, 1));
    node.take_outgoing();
    tick_at(node, 29_999);
    assert_eq!((node.state(), node.next_deadline()), (RoundState::CommitPhase, Some(30_000)));
    tick_at(node, 30_000);
    assert_eq!(node.state(), RoundState::ViewChange, "view 1 has twice the time");
}

#[test]
fn the_reveal_phase_ends_after_ten_seconds_and_names_who_kept_silent() {
    let (keys, mut rounds) = committee(4);
    let reveals = revealed(&mut rounds);
    let node = &mut rounds[0];
    node.receive_reveal(&reveals[1]).unwrap();
    tick_at(node, 9_999);
    assert_eq!((node.state(), node.surroundings().silent.len()), (RoundState::RevealPhase, 0));
    tick_at(node, 10_000);
    assert_eq!(node.state(), RoundState::ViewChange);
    assert_eq!(node.surroundings().silent, [keys[2].sender_id(), keys[3].sender_id()]);
}

#[test]
fn a_view_that_overran_its_ceiling_blames_nobody() {
    let (_, mut rounds) = committee(4);
    revealed(&mut rounds);
    tick_at(&mut rounds[0], 60_000);
    assert_eq!(rounds[0].state(), RoundState::ViewChange);
    assert!(rounds[0].surroundings().silent.is_empty());
}

#[test]
fn first_checks_refuse_in_their_order_and_change_nothing() {
    let (keys, mut rounds) = committee(4);
    let strangers = Scheme::Ed25519.key([9; 32]);
    let commit = commit_of(&mut rounds[1]);
    let node = &mut rounds[0];
    let refused = |node: &mut Round, change: &dyn Fn(&mut Commit), signer: Option<&Key>| {
        let mut commit = commit.clone();
        change(&mut commit);
        let commit = signer.map_or(commit.clone(), |signer| commit.signed_by(signer).unwrap());
        let (held, logical) = (node.held(), node.surroundings().logical);
        let error = node.receive_commit(&commit).unwrap_err();
        assert_eq!((node.held(), node.surroundings().logical), (held, logical), "{error}");
        error
    };
    let mine = Some(&keys[1]);
    assert_eq!(refused(node, &|commit| commit.round_id = 2, None), RoundStateError::WrongRound);
    let stranger = strangers.sender_id();
    assert_eq!(
        refused(node, &|commit| commit.sender_id = stranger, Some(&strangers)),
        RoundStateError::UnknownSender
    );
    assert_eq!(refused(node, &|commit| commit.view = 7, None), RoundStateError::BadSignature);
    assert_eq!(refused(node, &|_| (), Some(&keys[2])), RoundStateError::BadSignature);
    for time in [0, (1 << 32) + 1, i64::MAX as u64] {
        let late = |commit: &mut Commit| commit.timestamp_logical = time;
        assert_eq!(refused(node, &late, mine), RoundStateError::ClockJump, "{time}");
    }
    let change = |node: &mut Round, index: usize| node.receive_view_change(&view_change(&keys[index], 0, 5));
    change(node, 1).unwrap();
    change(node, 2).unwrap();
    assert_eq!(node.view(), 1);
    assert_eq!(refused(node, &|_| (), None), RoundStateError::StaleView);
    node.receive_commit(&commit_in(&keys[1], 1, [1; 32])).unwrap();
    node.receive_commit(&commit_in(&keys[1], 1, [1; 32])).unwrap();
    assert_eq!(
        node.receive_commit(&commit_in(&keys[1], 1, [2; 32])),
        Err(RoundStateError::ConflictingCommit)
    );
}

#[test]
fn messages_of_later_views_wait_and_one_sender_cannot_crowd_out_another() {
    let (keys, mut rounds) = committee(4);
    let node = &mut rounds[0];
    node.receive_commit(&commit_in(&keys[2], 1, [7; 32])).unwrap();
    for view in 1..50 {
        node.receive_commit(&commit_in(&keys[1], view, [1; 32])).unwrap();
        node.receive_commit(&commit_in(&keys[1], view, [1; 32])).unwrap();
    }
    assert_eq!(node.held().backlog, 4 + 1);
    node.receive_view_change(&view_change(&keys[1], 0, 7)).unwrap();
    node.receive_view_change(&view_change(&keys[2], 0, 7)).unwrap();
    assert_eq!(
        (node.view(), node.held().backlog, node.held().ballots),
        (1, 4, 2),
        "own promise and the one kept"
    );
}

/// Without this rule the simulator stops a committee of four with one faulty member (`clock_creep`).
#[test]
fn logical_time_follows_f_plus_1_members_and_not_one() {
    let (keys, mut rounds) = committee(4);
    let node = &mut rounds[0];
    for step in 1..=3 {
        let time = (1 << 32) - step;
        node.receive_view_change(&view_change(&keys[1], 0, time)).unwrap();
        assert_eq!(node.surroundings().logical.now(), 0);
    }
    let far = view_change(&keys[1], 0, 2 << 32);
    assert_eq!(node.receive_view_change(&far), Err(RoundStateError::ClockJump));
    node.receive_commit(&commit_in(&keys[2], 0, [1; 32])).unwrap();
    assert_eq!(node.surroundings().logical.now(), 6, "the time of the second to show one");
}

#[test]
fn the_vote_is_locked_and_a_view_begins_once() {
    let (keys, mut rounds) = committee(4);
    let node = &mut rounds[0];
    let first = commit_of(node);
    assert_eq!(node.begin(), Err(RoundStateError::AlreadyBegun));
    for key in &keys[1..4] {
        node.receive_view_change(&view_change(key, 0, 9)).unwrap();
    }
    let commits: Vec<_> = node.take_outgoing().into_iter().map(|out| out.message).collect();
    let [RoundMessage::ViewChange(_), RoundMessage::Commit(second)] = commits.as_slice() else {
        panic!("{commits:?}");
    };
    assert_eq!((first.view, second.view), (0, 1));
    assert_ne!(first.commit_hash, second.commit_hash, "a new view has a new salt");
    for key in &keys[1..3] {
        node.receive_commit(&commit_in(key, 1, [1; 32])).unwrap();
    }
    assert_eq!(node.my_reveal().unwrap().vote.group(), node.config().tuple, "and the same tuple");
    assert_eq!(node.begin(), Err(RoundStateError::AlreadyBegun));
}

#[test]
fn a_round_that_does_not_fit_together_is_refused() {
    let (keys, _) = committee(4);
    let made = |change: &dyn Fn(&mut RoundConfig)| {
        let mut config = config(&keys, &keys[0], VoteType::Accept);
        change(&mut config);
        Round::new(config, keys[0].clone(), Scheme::Ed25519, Desk::new(Dice::new(0))).map(|_| ())
    };
    assert_eq!(made(&|_| ()), Ok(()));
    let stranger = Scheme::Ed25519.key([9; 32]).sender_id();
    let other = keys[1].sender_id();
    type Change<'a> = &'a dyn Fn(&mut RoundConfig);
    let wrong: [Change<'_>; 6] = [
        &|config| config.committee.clear(),
        &|config| config.arbiter_id = stranger,
        &|config| config.arbiter_id = other,
        &|config| config.leader = stranger,
        &|config| config.tuple.round_id = 2,
        &|config| *config.committee.get_mut(&other).unwrap() = [3; 32],
    ];
    for (index, change) in wrong.into_iter().enumerate() {
        assert!(matches!(made(change), Err(RoundStateError::Config(_))), "{index}");
    }
}

#[test]
fn a_revealed_vote_is_checked_like_its_message() {
    let (keys, mut rounds) = committee(4);
    let reveals = revealed(&mut rounds);
    let node = &mut rounds[0];
    let mut refused = |change: &dyn Fn(&mut Reveal)| {
        let mut reveal = reveals[1].clone();
        change(&mut reveal);
        node.receive_reveal(&reveal.signed_by(&keys[1]).unwrap()).unwrap_err()
    };
    assert_eq!(refused(&|reveal| reveal.vote.signature[5] ^= 1), RoundStateError::BadSignature);
    assert_eq!(refused(&|reveal| reveal.vote = reveals[2].vote.clone()), RoundStateError::UnknownSender);
    let vote = |change: &dyn Fn(&mut Vote)| {
        let mut vote = reveals[1].vote.clone();
        change(&mut vote);
        vote.signed_by(&keys[1]).unwrap()
    };
    let elsewhere = vote(&|vote| vote.round_id = 2);
    assert_eq!(refused(&|reveal| reveal.vote = elsewhere.clone()), RoundStateError::WrongRound);
    let bomb = vote(&|vote| vote.timestamp_logical = i64::MAX as u64);
    assert_eq!(refused(&|reveal| reveal.vote = bomb.clone()), RoundStateError::ClockJump);
    let other = vote(&|vote| vote.merkle_root = [0xcc; 32]);
    assert_eq!(refused(&|reveal| reveal.vote = other.clone()), RoundStateError::CommitMismatch);
    let convicted: Vec<SenderId> = rounds[0].equivocations().proofs().keys().copied().collect();
    assert_eq!(convicted, [keys[1].sender_id()], "the refused vote still convicts");
}

#[test]
fn a_convicted_arbiter_does_not_count_and_is_the_reason_given() {
    let (keys, mut rounds) = committee(4);
    let reveals = revealed(&mut rounds);
    let node = &mut rounds[0];
    node.receive_reveal(&reveals[1]).unwrap();
    let mut other = reveals[1].clone();
    other.vote.merkle_root = [0xcc; 32];
    other.vote = other.vote.signed_by(&keys[1]).unwrap();
    let other = other.signed_by(&keys[1]).unwrap();
    assert_eq!(node.receive_reveal(&other), Err(RoundStateError::CommitMismatch));
    node.receive_reveal(&reveals[2]).unwrap();
    assert_eq!(node.state(), RoundState::RevealPhase, "three accept, one of them convicted");
    node.take_outgoing();
    tick_at(node, 10_000);
    let RoundMessage::ViewChange(change) = only(node) else { panic!("a wish to leave") };
    assert_eq!(change.reason, ViewChangeReason::EquivocationObserved);
}

#[test]
fn t7_one_arbiter_completes_by_its_own_promise_vote_and_count() {
    let (_, mut rounds) = committee(1);
    let node = &mut rounds[0];
    let commit = node.begin().unwrap();
    assert_eq!(node.state(), RoundState::Completed);
    assert_eq!(node.entries(), Entries { commit: 1, reveal: 1, verify: 1, view_change: 0 });
    let outcome = node.outcome().unwrap();
    let reveal = node.my_reveal().unwrap();
    let times = (outcome.votes[0].timestamp_logical, commit.timestamp_logical, reveal.timestamp_logical);
    assert_eq!((outcome.view, times), (0, (1, 2, 3)));
    let sent: Vec<_> = node.take_outgoing().into_iter().map(|out| out.message).collect();
    assert_eq!(sent, [RoundMessage::Commit(commit), RoundMessage::Reveal(reveal)]);
}
