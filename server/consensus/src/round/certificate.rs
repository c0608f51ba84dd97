//! Certificates (consensus#certificates): the votes by which a completed node convinces one that lags.

use crate::messages::{Certificate, SignedMessage, VoteGroup, VoteType};
use crate::signing::Verifier;

use super::RoundStateError;
use super::config::Committee;

/// Returns the tuple that a certificate shows to be agreed: at least `quorum` ACCEPT votes of different members on one tuple
/// of round `round_id`, sorted by sender, each correctly signed. Members known to be faulty count. Any two quorums share an
/// honest arbiter, so a node that learnt of a fault early can still follow.
///
/// # Errors
/// [`RoundStateError::WrongRound`], [`RoundStateError::BadCertificate`].
pub(crate) fn certified_tuple(
    certificate: &Certificate,
    round_id: u64,
    committee: &Committee,
    quorum: usize,
    verifier: &impl Verifier,
) -> Result<VoteGroup, RoundStateError> {
    let bad = |what| Err(RoundStateError::BadCertificate(what));
    if certificate.round_id != round_id {
        return Err(RoundStateError::WrongRound);
    }
    let Some(group) = certificate.votes.first().map(|vote| vote.group()) else { return bad("no votes") };
    if group.round_id != round_id {
        return bad("votes of another round");
    }
    if certificate.votes.len() < quorum {
        return bad("fewer votes than a quorum");
    }
    if !certificate.votes.iter().is_sorted_by(|a, b| a.sender_id < b.sender_id) {
        return bad("a sender twice, or out of order");
    }
    for vote in &certificate.votes {
        if vote.group() != group {
            return bad("votes on different tuples");
        }
        if vote.vote_type != VoteType::Accept {
            return bad("a vote that does not accept");
        }
        let Some(key) = committee.get(&vote.sender_id) else { return bad("a vote of no member") };
        if !vote.is_signed_by(key, verifier) {
            return bad("a signature that is not the voter's");
        }
    }
    Ok(group)
}
