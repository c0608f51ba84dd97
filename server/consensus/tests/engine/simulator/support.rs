//! Rounds driven by hand, with real signatures.

use colibri_consensus::canonical::Hash;
use colibri_consensus::messages::{
    Commit, Reveal, SignedMessage, ViewChange, ViewChangeReason, VoteGroup, VoteType,
};
use colibri_consensus::round::{RoundConfig, RoundMessage, committee_of};
use colibri_consensus::signing::Signer;
use colibri_test_support::dice::Dice;

use crate::simulator::desk::Desk;
use crate::simulator::keys::{Key, Scheme};

pub type Round = colibri_consensus::Round<Key, Scheme, Desk>;

const RULES: Hash = [0xbb; 32];
const ROOT: Hash = [0xaa; 32];

/// Makes `n` nodes that vote on the same tuple, in the order of their ids; none has begun.
pub fn committee(n: usize) -> (Vec<Key>, Vec<Round>) {
    committee_of_type(n, VoteType::Accept)
}

pub fn committee_of_type(n: usize, vote_type: VoteType) -> (Vec<Key>, Vec<Round>) {
    let seeds = Dice::new(51);
    let mut keys: Vec<Key> = (0..n).map(|_| Scheme::Ed25519.key(seeds.bytes())).collect();
    keys.sort_by_key(Signer::sender_id);
    let rounds = keys.iter().map(|key| round(&keys, key, vote_type)).collect();
    (keys, rounds)
}

pub fn config(keys: &[Key], key: &Key, vote_type: VoteType) -> RoundConfig {
    let public_keys: Vec<_> = keys.iter().map(Signer::public_key).collect();
    RoundConfig {
        round_id: 1,
        committee: committee_of(&public_keys),
        arbiter_id: key.sender_id(),
        leader: keys[0].sender_id(),
        prev_merkle_root: [0; 32],
        tuple: VoteGroup { round_id: 1, merkle_root: ROOT, rule_version_hash: RULES },
        vote_type,
    }
}

pub fn round(keys: &[Key], key: &Key, vote_type: VoteType) -> Round {
    let desk = Desk::new(Dice::new(1).stream(u64::from(key.public_key()[0])));
    Round::new(config(keys, key, vote_type), key.clone(), Scheme::Ed25519, desk).unwrap()
}

/// Sets the time to `now` and lets the node do what is due.
pub fn tick_at(round: &mut Round, now: u64) {
    round.surroundings_mut().now = now;
    round.tick().unwrap();
}

/// Returns the only message that waits to be sent.
pub fn only(round: &mut Round) -> RoundMessage {
    let mut outgoing = round.take_outgoing();
    assert_eq!(outgoing.len(), 1, "{outgoing:?}");
    outgoing.remove(0).message
}

pub fn commit_of(round: &mut Round) -> Commit {
    let commit = round.begin().unwrap();
    assert_eq!(only(round), RoundMessage::Commit(commit.clone()));
    commit
}

/// Lets all begin and receive three promises, so that all have revealed.
pub fn revealed(rounds: &mut [Round]) -> Vec<Reveal> {
    let commits: Vec<Commit> = rounds.iter_mut().map(|round| round.begin().unwrap()).collect();
    for (index, round) in rounds.iter_mut().enumerate() {
        for (other, commit) in commits.iter().enumerate().filter(|(other, _)| *other != index) {
            round.receive_commit(commit).unwrap_or_else(|error| panic!("{other} to {index}: {error}"));
        }
        round.take_outgoing();
    }
    rounds.iter().map(|round| round.my_reveal().unwrap()).collect()
}

pub fn view_change(key: &Key, view: u64, timestamp_logical: u64) -> ViewChange {
    let change = ViewChange {
        round_id: 1,
        view,
        current_leader: key.sender_id(),
        reason: ViewChangeReason::Timeout,
        sender_id: key.sender_id(),
        timestamp_logical,
        signature: [0; 64],
    };
    change.signed_by(key).unwrap()
}

/// Returns a promise in any view.
pub fn commit_in(key: &Key, view: u64, commit_hash: Hash) -> Commit {
    let sender_id = key.sender_id();
    let commit =
        Commit { round_id: 1, view, commit_hash, sender_id, timestamp_logical: 6, signature: [0; 64] };
    commit.signed_by(key).unwrap()
}
