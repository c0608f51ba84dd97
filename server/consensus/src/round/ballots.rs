//! What one view has received: promises, votes that kept them, and votes that came before their promise.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::canonical::Hash;
use crate::identity::SenderId;
use crate::messages::{Reveal, Vote, VoteGroup, VoteType, commit_hash};

use super::RoundStateError;

/// The promises and votes of one view, one of each a sender.
#[derive(Debug, Clone, Default)]
pub(super) struct Ballots {
    /// Each sender's promise; the first one stands.
    pub(super) commits: BTreeMap<SenderId, Hash>,
    /// Votes that are what was promised.
    pub(super) votes: BTreeMap<SenderId, Vote>,
    /// Votes that wait for their promise, or for the phase.
    pub(super) waiting: BTreeMap<SenderId, Reveal>,
}

impl Ballots {
    /// Takes a promise.
    pub(super) fn commit(&mut self, sender: SenderId, hash: Hash) -> Result<(), RoundStateError> {
        match self.commits.entry(sender) {
            Entry::Vacant(place) => {
                place.insert(hash);
                Ok(())
            }
            Entry::Occupied(first) if *first.get() == hash => Ok(()),
            Entry::Occupied(_) => Err(RoundStateError::ConflictingCommit),
        }
    }

    /// Takes a vote if it is the promised one, and keeps it for later if its promise has not come yet.
    pub(super) fn reveal(&mut self, reveal: &Reveal) -> Result<(), RoundStateError> {
        let Some(promised) = self.commits.get(&reveal.sender_id) else {
            self.wait(reveal);
            return Ok(());
        };
        if commit_hash(&reveal.vote, &reveal.salt)? != *promised {
            return Err(RoundStateError::CommitMismatch);
        }
        self.waiting.remove(&reveal.sender_id);
        self.votes.entry(reveal.sender_id).or_insert_with(|| reveal.vote.clone());
        Ok(())
    }

    /// Keeps a vote for later.
    pub(super) fn wait(&mut self, reveal: &Reveal) {
        self.waiting.entry(reveal.sender_id).or_insert_with(|| reveal.clone());
    }

    /// Returns the ACCEPT votes of the tuple that `quorum` senders accept, leaving out the senders in `excluded`. At most one
    /// tuple has so many, since each sender counts once.
    pub(super) fn quorum_votes(
        &self,
        quorum: usize,
        excluded: impl Fn(&SenderId) -> bool,
    ) -> Option<(VoteGroup, Vec<Vote>)> {
        let mut groups: BTreeMap<VoteGroup, Vec<&Vote>> = BTreeMap::new();
        for (sender, vote) in &self.votes {
            if vote.vote_type == VoteType::Accept && !excluded(sender) {
                groups.entry(vote.group()).or_default().push(vote);
            }
        }
        let (group, votes) = groups.into_iter().find(|(_, votes)| votes.len() >= quorum)?;
        Some((group, votes.into_iter().cloned().collect()))
    }

    /// Returns the senders that promised and did not reveal.
    pub(super) fn silent(&self) -> Vec<SenderId> {
        self.commits.keys().filter(|sender| !self.votes.contains_key(sender)).copied().collect()
    }
}
