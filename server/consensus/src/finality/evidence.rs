//! The evidence of a transition: canonical JSON with the signed votes that caused it (consensus#evidence).

use serde_json::Value;

use crate::canonical::{ConsensusSerializationError, Fields, Hash, encode};
use crate::messages::{Message, Vote};

type Bytes = Result<Vec<u8>, ConsensusSerializationError>;

/// Returns the evidence of PENDING to SOFT: the first vote.
pub(super) fn soft(vote: &Vote) -> Bytes {
    encode(&Fields::default().text("tag", "soft").value("vote", vote.to_value()).finish())
}

/// Returns the evidence of SOFT to QUORUM: one ACCEPT vote a sender, in the order given.
pub(super) fn quorum<'a>(votes: impl Iterator<Item = &'a Vote>) -> Bytes {
    encode(&Fields::default().text("tag", "quorum").value("votes", list(votes)).finish())
}

/// Returns the evidence of QUORUM to HARD: the votes of the second of two adjacent epochs.
pub(super) fn hard<'a>(epochs: [u64; 2], votes: impl Iterator<Item = &'a Vote>) -> Bytes {
    let epochs = Value::from(epochs.to_vec());
    encode(
        &Fields::default().value("epochs", epochs).text("tag", "hard").value("votes", list(votes)).finish(),
    )
}

/// Returns the evidence of HARD to ABSOLUTE: the seal.
pub(super) fn absolute(epoch: u64, hard_epoch: u64, seal_root: &Hash) -> Bytes {
    let seal = Fields::default()
        .integer("epoch", epoch)
        .integer("hard_epoch", hard_epoch)
        .bytes("seal_root", seal_root)
        .text("tag", "absolute");
    encode(&seal.finish())
}

fn list<'a>(votes: impl Iterator<Item = &'a Vote>) -> Value {
    votes.map(Vote::to_value).collect()
}
