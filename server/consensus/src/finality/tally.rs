//! Who has accepted what. Of several votes of one sender on one tuple the first is kept.

use std::collections::BTreeMap;

use crate::identity::SenderId;
use crate::messages::{Vote, VoteGroup};

/// Votes by sender, hence sorted by it.
pub(super) type Voters = BTreeMap<SenderId, Vote>;

/// ACCEPT votes of members that still count.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Over all epochs so far.
    ever: BTreeMap<VoteGroup, Voters>,
    /// In `epoch` only.
    now: BTreeMap<VoteGroup, Voters>,
    epoch: u64,
}

impl Tally {
    /// Counts an ACCEPT vote received in `epoch`, which is not earlier than that of any before.
    pub(super) fn count(&mut self, vote: &Vote, epoch: u64) {
        if epoch != self.epoch {
            self.now.clear();
            self.epoch = epoch;
        }
        for tally in [&mut self.ever, &mut self.now] {
            tally.entry(vote.group()).or_default().entry(vote.sender_id).or_insert_with(|| vote.clone());
        }
    }

    /// Forgets all votes of `sender`.
    pub(super) fn drop_sender(&mut self, sender: &SenderId) {
        for voters in self.ever.values_mut().chain(self.now.values_mut()) {
            voters.remove(sender);
        }
    }

    /// Returns the votes for `group` over all epochs, if they are at least `threshold`.
    pub(super) fn certified(&self, group: &VoteGroup, threshold: u64) -> Option<&Voters> {
        self.ever.get(group).filter(|voters| voters.len() as u64 >= threshold)
    }

    /// Like [`Tally::certified`], for the votes received in `epoch`.
    pub(super) fn certified_in(&self, epoch: u64, group: &VoteGroup, threshold: u64) -> Option<&Voters> {
        let voters = if epoch == self.epoch { self.now.get(group) } else { None };
        voters.filter(|voters| voters.len() as u64 >= threshold)
    }
}
