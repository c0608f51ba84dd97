//! From one view to the next, and how laggards follow.

use colibri_consensus::identity::SenderId;
use colibri_consensus::leader::select_leader;
use colibri_consensus::messages::{Certificate, SignedMessage, ViewChangeReason, Vote, VoteType};
use colibri_consensus::round::{Outgoing, RoundMessage, RoundState, RoundStateError, ZetaPayload};
use colibri_consensus::signing::Signer;

use crate::simulator::support::{committee, committee_of_type, only, revealed, tick_at, view_change};

#[test]
fn f_wishes_do_nothing_and_f_plus_1_make_a_node_join() {
    let (keys, mut rounds) = committee(7);
    let node = &mut rounds[0];
    node.begin().unwrap();
    node.take_outgoing();
    for _ in 0..3 {
        for key in &keys[1..3] {
            node.receive_view_change(&view_change(key, 0, 3)).unwrap();
        }
    }
    assert_eq!((node.state(), node.take_outgoing()), (RoundState::CommitPhase, vec![]));
    node.receive_view_change(&view_change(&keys[3], 0, 3)).unwrap();
    assert_eq!((node.state(), node.view()), (RoundState::ViewChange, 0));
    assert!(matches!(only(node), RoundMessage::ViewChange(change) if change.view == 0));
}

#[test]
fn q_wishes_lead_to_the_next_view_and_the_leader_that_the_hash_draws() {
    let (keys, mut rounds) = committee(7);
    let ids: Vec<SenderId> = keys.iter().map(Signer::sender_id).collect();
    let node = &mut rounds[0];
    node.begin().unwrap();
    for key in &keys[1..4] {
        node.receive_view_change(&view_change(key, 0, 3)).unwrap();
    }
    assert_eq!(node.view(), 0, "its own wish and three others are one short of five");
    node.receive_view_change(&view_change(&keys[4], 0, 3)).unwrap();
    assert_eq!((node.state(), node.view()), (RoundState::CommitPhase, 1));
    assert_eq!(node.leader(), *select_leader(&ids, &[0; 32], 1, 1).unwrap());
    let event = node.surroundings().events.last().unwrap();
    let ZetaPayload::ViewChangeAccepted { from_view, to_view, old_leader, new_leader, reasons } =
        &event.payload
    else {
        panic!("{event:?}");
    };
    assert_eq!((event.payload.event_type(), *from_view, *to_view), ("VIEW_CHANGE_ACCEPTED", 0, 1));
    assert_eq!((*old_leader, *new_leader), (ids[0], node.leader()));
    assert_eq!(reasons.get(&ViewChangeReason::Timeout), Some(&5));
}

#[test]
fn a_node_joins_the_highest_view_that_an_honest_node_can_be_in() {
    let (keys, mut rounds) = committee(7);
    let node = &mut rounds[0];
    node.begin().unwrap();
    // Two liars name absurd views; an honest node has reached view 4.
    node.receive_view_change(&view_change(&keys[1], i64::MAX as u64, 3)).unwrap();
    node.receive_view_change(&view_change(&keys[2], 1 << 40, 3)).unwrap();
    assert_eq!(node.view(), 0);
    node.receive_view_change(&view_change(&keys[3], 4, 3)).unwrap();
    assert_eq!((node.state(), node.view()), (RoundState::ViewChange, 4));
    assert_eq!(node.held().wishes, 4);
}

#[test]
fn wishes_of_nodes_that_have_gone_ahead_count_for_the_views_below() {
    let (keys, mut rounds) = committee(4);
    let node = &mut rounds[0];
    node.begin().unwrap();
    tick_at(node, 10_000);
    node.receive_view_change(&view_change(&keys[1], 1, 3)).unwrap();
    assert_eq!(node.view(), 0);
    node.receive_view_change(&view_change(&keys[2], 0, 3)).unwrap();
    assert_eq!((node.state(), node.view()), (RoundState::CommitPhase, 1));
}

#[test]
fn a_wish_is_said_again_every_thirty_seconds() {
    let (_, mut rounds) = committee(4);
    let node = &mut rounds[0];
    tick_at(node, 10_000);
    let said = only(node);
    tick_at(node, 39_999);
    assert!(node.take_outgoing().is_empty());
    tick_at(node, 40_000);
    assert_eq!(only(node), said);
    assert_eq!(node.trigger_view_change(ViewChangeReason::MalformedProposal), Ok(()), "it waits already");
    assert!(node.take_outgoing().is_empty());
}

#[test]
fn a_committee_of_one_that_rejects_goes_on_slowly_and_never_completes() {
    let (_, mut rounds) = committee_of_type(1, VoteType::Reject);
    let node = &mut rounds[0];
    node.begin().unwrap();
    assert_eq!((node.state(), node.view()), (RoundState::ViewChange, 0));
    let mut now = 0;
    for _ in 0..20 {
        now = node.next_deadline().unwrap();
        tick_at(node, now);
        let view = node.view();
        tick_at(node, now);
        assert_eq!((node.state(), node.view()), (RoundState::ViewChange, view));
    }
    assert!(now >= 30_000 * 20 && node.outcome().is_none());
}

#[test]
fn a_completed_node_answers_a_laggard_with_its_certificate() {
    let (keys, mut rounds) = committee(4);
    let reveals = revealed(&mut rounds[..3]);
    for reveal in &reveals[1..] {
        rounds[0].receive_reveal(reveal).unwrap();
    }
    rounds[0].take_outgoing();
    tick_at(&mut rounds[3], 10_000);
    let RoundMessage::ViewChange(wish) = only(&mut rounds[3]) else { panic!("a wish to leave") };
    rounds[0].receive_view_change(&wish).unwrap();
    let answer = rounds[0].take_outgoing();
    let certificate = rounds[0].certificate().unwrap();
    let to = Some(keys[3].sender_id());
    assert_eq!(answer, [Outgoing { to, message: RoundMessage::Certificate(certificate.clone()) }]);
    assert_eq!(rounds[3].receive_certificate(&certificate), Ok(()));
    assert_eq!(rounds[3].state(), RoundState::Completed);
    assert_eq!(rounds[3].outcome().unwrap().tuple, rounds[0].outcome().unwrap().tuple);
    assert_eq!(rounds[3].surroundings().quorums(), 1);
    assert_eq!(rounds[3].next_deadline(), None);
    let after = RoundStateError::WrongPhase(RoundState::Completed);
    assert_eq!(rounds[3].trigger_view_change(ViewChangeReason::Timeout), Err(after));
}

#[test]
fn certificates_that_show_no_quorum_are_refused() {
    let (keys, mut rounds) = committee(4);
    let reveals = revealed(&mut rounds[..3]);
    let good = Certificate { round_id: 1, votes: reveals.iter().map(|reveal| reveal.vote.clone()).collect() };
    let node = &mut rounds[3];
    let mut refused = |change: &dyn Fn(&mut Certificate)| {
        let mut certificate = good.clone();
        change(&mut certificate);
        let error = node.receive_certificate(&certificate).unwrap_err();
        assert_eq!((node.state(), node.outcome()), (RoundState::CommitPhase, None), "{error}");
        error.to_string()
    };
    let resigned = |index: usize, change: &dyn Fn(&mut Vote)| {
        let mut vote = good.votes[index].clone();
        change(&mut vote);
        vote.signed_by(&keys[index]).unwrap()
    };
    assert!(refused(&|certificate| certificate.votes.truncate(2)).contains("fewer votes"));
    assert!(refused(&|certificate| certificate.votes.clear()).contains("no votes"));
    assert!(refused(&|certificate| certificate.votes[1] = good.votes[0].clone()).contains("twice"));
    assert!(refused(&|certificate| certificate.votes.swap(0, 1)).contains("out of order"));
    let reject = resigned(2, &|vote| vote.vote_type = VoteType::Reject);
    assert!(refused(&|certificate| certificate.votes[2] = reject.clone()).contains("does not accept"));
    let other = resigned(2, &|vote| vote.merkle_root = [0xcc; 32]);
    assert!(refused(&|certificate| certificate.votes[2] = other.clone()).contains("different tuples"));
    assert!(refused(&|certificate| certificate.votes[2].signature[0] ^= 1).contains("signature"));
    assert!(refused(&|certificate| certificate.round_id = 2).contains("another round"));
    let bomb = resigned(2, &|vote| vote.timestamp_logical = i64::MAX as u64);
    assert!(refused(&|certificate| certificate.votes[2] = bomb.clone()).contains("logical time"));
    node.receive_certificate(&good).unwrap();
}
