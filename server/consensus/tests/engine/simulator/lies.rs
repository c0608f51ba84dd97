//! The false messages of faulty nodes, and the votes that all nodes sign.

use colibri_consensus::canonical::{Hash, MAX_INTEGER};
use colibri_consensus::clock::MAX_CLOCK_JUMP;
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{
    Commit, Reveal, SignedMessage, ViewChange, ViewChangeReason, Vote, VoteType,
};
use colibri_consensus::round::RoundMessage;
use colibri_consensus::signing::Signer;

use crate::simulator::keys::Key;
use crate::simulator::network::Mail;
use crate::simulator::node::Round;

/// The root that honest nodes vote on; if they are split, that of the odd ones.
pub const ROOT_E: Hash = [0xee; 32];
/// The other root.
pub const ROOT_F: Hash = [0xff; 32];
/// The rules that all votes name.
pub const RULES: Hash = [0xbb; 32];

/// Returns a signed vote on `root` at logical time `time`.
pub fn vote_on(root: Hash, round_id: u64, time: u64, key: &Key) -> Vote {
    let vote = Vote {
        round_id,
        merkle_root: root,
        rule_version_hash: RULES,
        sender_id: key.sender_id(),
        vote_type: VoteType::Accept,
        timestamp_logical: time,
        signature: [0; 64],
    };
    vote.signed_by(key).unwrap()
}

/// Returns a reveal that is not what was promised: of another vote in even views, of another salt in odd ones.
pub fn broken(mut reveal: Reveal, key: &Key) -> Reveal {
    if reveal.view.is_multiple_of(2) {
        reveal.vote = vote_on(ROOT_F, reveal.round_id, reveal.vote.timestamp_logical, key);
    } else {
        reveal.salt[31] ^= 1;
    }
    reveal.signed_by(key).unwrap()
}

/// Returns a message whose own signature or, in every other view, whose vote's signature is wrong.
pub fn missigned(message: RoundMessage, key: &Key) -> RoundMessage {
    match message {
        RoundMessage::Commit(mut commit) => {
            commit.signature[0] ^= 1;
            RoundMessage::Commit(commit)
        }
        RoundMessage::Reveal(mut reveal) if reveal.view.is_multiple_of(2) => {
            reveal.vote.signature[63] ^= 1;
            RoundMessage::Reveal(reveal.signed_by(key).unwrap())
        }
        RoundMessage::Reveal(mut reveal) => {
            reveal.signature[63] ^= 1;
            RoundMessage::Reveal(reveal)
        }
        RoundMessage::ViewChange(mut change) => {
            change.signature[32] ^= 1;
            RoundMessage::ViewChange(change)
        }
        RoundMessage::Certificate(mut certificate) => {
            if let Some(vote) = certificate.votes.last_mut() {
                vote.signature[5] ^= 1;
            }
            RoundMessage::Certificate(certificate)
        }
    }
}

/// Returns a message in another's name, on another root: a node that accepted it would take the victim for an equivocator.
pub fn forged(message: RoundMessage, victim: SenderId, key: &Key) -> RoundMessage {
    match message {
        RoundMessage::Commit(commit) => {
            let commit = Commit { sender_id: victim, commit_hash: ROOT_F, ..commit };
            RoundMessage::Commit(commit.signed_by(key).unwrap())
        }
        RoundMessage::Reveal(mut reveal) => {
            reveal.vote.merkle_root = ROOT_F;
            reveal.vote.sender_id = victim;
            reveal.vote = reveal.vote.signed_by(key).unwrap();
            // Every second one is a reveal of its own around the victim's vote.
            if reveal.view % 2 == 1 {
                reveal.sender_id = victim;
            }
            RoundMessage::Reveal(reveal.signed_by(key).unwrap())
        }
        RoundMessage::ViewChange(change) => {
            let change = ViewChange { sender_id: victim, ..change };
            RoundMessage::ViewChange(change.signed_by(key).unwrap())
        }
        RoundMessage::Certificate(mut certificate) => {
            let lie = |vote: &mut Vote| vote.merkle_root = ROOT_F;
            certificate.votes.iter_mut().for_each(lie);
            RoundMessage::Certificate(certificate)
        }
    }
}

/// Returns a message from the end of time or, for reveals in even views, one around a vote from there.
pub fn bomb(message: RoundMessage, key: &Key) -> RoundMessage {
    match message {
        RoundMessage::Commit(commit) if commit.view % 2 == 1 => {
            let commit = Commit { timestamp_logical: MAX_INTEGER, ..commit };
            RoundMessage::Commit(commit.signed_by(key).unwrap())
        }
        RoundMessage::Reveal(mut reveal) if reveal.view.is_multiple_of(2) => {
            reveal.vote.timestamp_logical = MAX_INTEGER;
            reveal.vote = reveal.vote.signed_by(key).unwrap();
            RoundMessage::Reveal(reveal.signed_by(key).unwrap())
        }
        RoundMessage::Reveal(reveal) => {
            let reveal = Reveal { timestamp_logical: MAX_INTEGER, ..reveal };
            RoundMessage::Reveal(reveal.signed_by(key).unwrap())
        }
        RoundMessage::ViewChange(change) => {
            let change = ViewChange { timestamp_logical: MAX_INTEGER, ..change };
            RoundMessage::ViewChange(change.signed_by(key).unwrap())
        }
        other => other,
    }
}

/// Returns a wish to leave a view `ahead` of its own.
pub fn spam(round: &mut Round, key: &Key, ahead: u64) -> Mail {
    let reasons = [
        ViewChangeReason::Timeout,
        ViewChangeReason::EquivocationObserved,
        ViewChangeReason::MalformedProposal,
    ];
    let time = round.surroundings_mut().logical.next().unwrap();
    wish(round, key, round.view() + ahead, reasons[ahead as usize % 3], time)
}

/// Returns a wish from so many steps ahead, each one a little less than what is accepted.
pub fn creep(round: &mut Round, key: &Key, step: u64) -> Mail {
    let time = 1 + step * (MAX_CLOCK_JUMP - 1_000);
    wish(round, key, 0, ViewChangeReason::Timeout, time)
}

fn wish(round: &Round, key: &Key, view: u64, reason: ViewChangeReason, timestamp_logical: u64) -> Mail {
    let change = ViewChange {
        round_id: round.config().round_id,
        view,
        current_leader: round.leader(),
        reason,
        sender_id: key.sender_id(),
        timestamp_logical,
        signature: [0; 64],
    };
    Mail::Round(RoundMessage::ViewChange(change.signed_by(key).unwrap()))
}
