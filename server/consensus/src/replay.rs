//! A stored round replayed from its votes (consensus#persistence): everything else in its rows must follow from them. Pure.

use super::canonical::Hash;
use super::finality::{DISPUTE_WINDOW_EPOCHS_DEFAULT, FinalityLevel};
use super::history::{CastVote, History, Origin};
use super::identity::{PublicKeyBytes, SenderId};
use super::leader::select_leader;
use super::messages::{SignedMessage, Vote, VoteType};
use super::signing::StrictEd25519;
use super::stored::{EquivocationRow, MemberRow, StoredRound, TransitionRow, VoteRow, integer};

/// What does not fit, in a few words.
pub type Mismatch = String;

/// Replays a round.
///
/// # Errors
/// The first thing in its rows that the service cannot have written.
pub fn replay(stored: &StoredRound) -> Result<History, Mismatch> {
    let round = &stored.round;
    let round_id = u64::try_from(round.round_id).map_err(|_| "the round's id is negative".to_owned())?;
    let committee = committee(stored)?;
    leads(stored, round_id, &committee)?;
    if round.dispute_window_epochs != integer(DISPUTE_WINDOW_EPOCHS_DEFAULT) {
        return Err(format!("the dispute window is not {DISPUTE_WINDOW_EPOCHS_DEFAULT} epochs"));
    }
    let window = DISPUTE_WINDOW_EPOCHS_DEFAULT;
    let mut history = History::new(round_id, &committee, window).map_err(|error| error.to_string())?;
    proposed(stored)?;
    let mut equivocations = Vec::new();
    for row in &stored.votes {
        let cast = cast(row, round_id)?;
        let change = history.take(&cast).map_err(|error| error.to_string())?;
        if row.epoch != change.epoch.map(integer) {
            return Err(format!("the epoch of vote {} is not the one in which it came", row.seq));
        }
        equivocations.extend(change.proven.iter().map(EquivocationRow::of));
    }
    compare(stored, &history, equivocations)?;
    Ok(history)
}

/// Returns the committee's ids, each the digest of its key, in their places.
fn committee(stored: &StoredRound) -> Result<Vec<SenderId>, Mismatch> {
    if usize::try_from(stored.round.n_arbiters) != Ok(stored.committee.len()) {
        return Err("n_arbiters is not the size of the committee".to_owned());
    }
    let member = |(place, row): (usize, &MemberRow)| {
        let key = key(&row.public_key);
        let fits = usize::try_from(row.position) == Ok(place);
        let id = key.map(|key| SenderId::of(&key)).filter(|id| fits && id.as_str() == row.sender_id);
        id.ok_or_else(|| format!("member {} of the committee is not the holder of its key", row.position))
    };
    stored.committee.iter().enumerate().map(member).collect()
}

fn leads(stored: &StoredRound, round_id: u64, committee: &[SenderId]) -> Result<(), Mismatch> {
    let seed: Option<Hash> = hash(&stored.round.prev_merkle_root);
    let leader = seed.and_then(|seed| select_leader(committee, &seed, round_id, 0).ok());
    match leader {
        Some(leader) if leader.as_str() == stored.round.leader => Ok(()),
        _ => Err("the leader is not the one whom the previous root draws".to_owned()),
    }
}

/// Checks that a round begins with its leader's ACCEPT vote on the proposed tuple, and has no other vote of that origin.
fn proposed(stored: &StoredRound) -> Result<(), Mismatch> {
    let Some((first, others)) = stored.votes.split_first() else {
        return Err("the proposal's vote is missing".to_owned());
    };
    let round = &stored.round;
    let is_proposal = first.origin == Origin::Propose.as_str()
        && first.vote_type == VoteType::Accept.as_str()
        && first.sender_id == round.leader;
    if !is_proposal || others.iter().any(|vote| vote.origin != Origin::Vote.as_str()) {
        return Err("the proposal's vote is not the first, or not the only one".to_owned());
    }
    if (&first.merkle_root, &first.rule_version_hash) != (&round.merkle_root, &round.rule_version_hash) {
        return Err("the proposed tuple is not the one that the proposal's vote accepts".to_owned());
    }
    if first.sequence_no != round.sequence_no {
        return Err("the proposal's vote names another call than the round".to_owned());
    }
    Ok(())
}

/// Returns the vote of a row, its signature verified.
fn cast(row: &VoteRow, round_id: u64) -> Result<CastVote, Mismatch> {
    let seq = row.seq;
    let malformed = || format!("vote {seq} is malformed");
    let public_key = key(&row.public_key).ok_or_else(malformed)?;
    let vote = Vote {
        round_id,
        merkle_root: hash(&row.merkle_root).ok_or_else(malformed)?,
        rule_version_hash: hash(&row.rule_version_hash).ok_or_else(malformed)?,
        sender_id: SenderId::parse(&row.sender_id).ok_or_else(malformed)?,
        vote_type: VoteType::parse(&row.vote_type).ok_or_else(malformed)?,
        timestamp_logical: u64::try_from(row.timestamp_logical).map_err(|_| malformed())?,
        signature: row.signature.as_slice().try_into().map_err(|_| malformed())?,
    };
    if !vote.is_signed_by(&public_key, &StrictEd25519) {
        return Err(format!("the signature of vote {seq} is not its sender's"));
    }
    let origin = Origin::parse(&row.origin).ok_or_else(malformed)?;
    Ok(CastVote { seq, origin, vote })
}

/// Compares what is stored beside the votes with what follows from them.
fn compare(
    stored: &StoredRound,
    history: &History,
    equivocations: Vec<EquivocationRow>,
) -> Result<(), Mismatch> {
    if FinalityLevel::parse(&stored.round.level) != Some(history.level()) {
        return Err(format!("the votes make it {}, not {}", history.level(), stored.round.level));
    }
    if stored.round.epoch != integer(history.epoch()) {
        return Err(format!("the votes end in epoch {}, not {}", history.epoch(), stored.round.epoch));
    }
    let steps = history.transitions().iter().enumerate();
    let steps: Vec<_> = steps.map(|(ordinal, step)| TransitionRow::of(ordinal, step)).collect();
    if stored.transitions != steps {
        return Err("its transitions are not those that its votes make".to_owned());
    }
    if stored.equivocations != equivocations {
        return Err("its equivocations are not those that its votes prove".to_owned());
    }
    Ok(())
}

fn key(bytes: &[u8]) -> Option<PublicKeyBytes> {
    bytes.try_into().ok()
}

fn hash(bytes: &[u8]) -> Option<Hash> {
    bytes.try_into().ok()
}
