//! What a round is about and who takes part in it (consensus#round).

use std::collections::BTreeMap;

use crate::canonical::Hash;
use crate::identity::{PublicKeyBytes, SenderId};
use crate::messages::{VoteGroup, VoteType};

use super::RoundStateError;

/// The members of a committee with their keys, in the order of their ids.
pub type Committee = BTreeMap<SenderId, PublicKeyBytes>;

/// Returns the committee of the holders of the keys.
pub fn committee_of(keys: &[PublicKeyBytes]) -> Committee {
    keys.iter().map(|key| (SenderId::of(key), *key)).collect()
}

/// What a node knows of a round when it begins.
#[derive(Debug, Clone)]
pub struct RoundConfig {
    /// The round.
    pub round_id: u64,
    /// Who takes part.
    pub committee: Committee,
    /// Who this node is.
    pub arbiter_id: SenderId,
    /// Who proposes in view 0.
    pub leader: SenderId,
    /// The root of the round before, or zeros; the leaders of later views are drawn from it.
    pub prev_merkle_root: Hash,
    /// What this node votes on, in all views: the vote lock of consensus#round.
    pub tuple: VoteGroup,
    /// The type of that vote.
    pub vote_type: VoteType,
}

impl RoundConfig {
    /// Checks whether the parts fit together; `signer` signs for this node.
    pub(super) fn check(&self, signer: SenderId) -> Result<(), RoundStateError> {
        let fits = |holds: bool, what| if holds { Ok(()) } else { Err(RoundStateError::Config(what)) };
        let named_by_key = |(id, key): (&SenderId, &PublicKeyBytes)| *id == SenderId::of(key);
        fits(!self.committee.is_empty(), "the committee is empty")?;
        fits(self.committee.iter().all(named_by_key), "a member's id is not its key's")?;
        fits(self.committee.contains_key(&self.arbiter_id), "this node is no member of the committee")?;
        fits(self.committee.contains_key(&self.leader), "the leader is no member of the committee")?;
        fits(self.tuple.round_id == self.round_id, "the tuple is another round's")?;
        fits(signer == self.arbiter_id, "the key is not this node's")
    }
}
