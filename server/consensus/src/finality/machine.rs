//! The finality machine of one round: a level that only rises, one step at a time (consensus#finality).

use std::collections::{BTreeMap, BTreeSet};

use super::evidence;
use super::tally::Tally;
use super::{Divergence, FinalityError, FinalityLevel};
use crate::canonical::{ConsensusSerializationError, Hash, MAX_INTEGER};
use crate::identity::SenderId;
use crate::messages::{Vote, VoteGroup, VoteType};
use crate::quorum::quorum_threshold;

/// Epochs between HARD and ABSOLUTE, unless the configuration sets others.
pub const DISPUTE_WINDOW_EPOCHS_DEFAULT: u64 = 100;

/// One step up, with what proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The level before.
    pub from: FinalityLevel,
    /// The level after.
    pub to: FinalityLevel,
    /// The epoch in which it happened.
    pub epoch: u64,
    /// Canonical JSON.
    pub evidence: Vec<u8>,
}

/// The result of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteOutcome {
    /// ACCEPT, and counted.
    Counted,
    /// REJECT or ABSTAIN: kept, but no quorum grows by it.
    Recorded,
    /// The sender is not of the committee.
    NotMember,
    /// Not later than the sender's last vote: a signed vote cannot be shown again in a later epoch.
    Stale,
    /// The sender is a proven equivocator.
    Excluded,
}

/// A tuple with a quorum, and the last epoch that certified it.
#[derive(Debug, Clone)]
struct Anchor {
    group: VoteGroup,
    epoch: u64,
}

/// See the module's text. Votes come with their signatures already verified.
#[derive(Debug, Clone)]
pub struct FinalityMachine {
    round_id: u64,
    committee: BTreeSet<SenderId>,
    threshold: u64,
    window: u64,
    level: FinalityLevel,
    transitions: Vec<Transition>,
    last_epoch: u64,
    last_times: BTreeMap<SenderId, u64>,
    tally: Tally,
    anchor: Option<Anchor>,
    hard_epoch: Option<u64>,
    excluded: BTreeSet<SenderId>,
    last_equivocation_epoch: Option<u64>,
    /// Two tuples have a quorum; never taken back.
    conflict: bool,
}

impl FinalityMachine {
    /// Makes a round at PENDING.
    ///
    /// # Errors
    /// [`FinalityError::Quorum`] for an empty committee, [`FinalityError::DuplicateArbiter`],
    /// [`FinalityError::BadWindow`], [`FinalityError::Serialization`] for a round beyond 2^63−1.
    pub fn new(
        round_id: u64,
        committee: &[SenderId],
        dispute_window_epochs: u64,
    ) -> Result<Self, FinalityError> {
        let threshold = quorum_threshold(committee.len() as u64)?;
        let mut members = BTreeSet::new();
        for member in committee {
            if !members.insert(*member) {
                return Err(FinalityError::DuplicateArbiter(*member));
            }
        }
        if dispute_window_epochs < 1 {
            return Err(FinalityError::BadWindow);
        }
        in_range("round_id", round_id)?;
        Ok(Self {
            round_id,
            committee: members,
            threshold,
            window: dispute_window_epochs,
            level: FinalityLevel::Pending,
            transitions: Vec::new(),
            last_epoch: 0,
            last_times: BTreeMap::new(),
            tally: Tally::default(),
            anchor: None,
            hard_epoch: None,
            excluded: BTreeSet::new(),
            last_equivocation_epoch: None,
            conflict: false,
        })
    }

    /// Returns the level.
    pub fn current(&self) -> FinalityLevel {
        self.level
    }

    /// Returns the steps so far.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Returns the tuple that has a quorum, from QUORUM on.
    pub fn anchor_group(&self) -> Option<VoteGroup> {
        self.anchor.as_ref().map(|anchor| anchor.group)
    }

    /// Takes a vote whose signature is verified.
    ///
    /// # Errors
    /// [`FinalityError::WrongRound`], [`FinalityError::EpochRegression`], [`FinalityError::Serialization`] for numbers
    /// beyond 2^63−1, and [`FinalityError::SafetyViolation`], for which the vote is recorded.
    pub fn receive_vote(&mut self, vote: &Vote, epoch: u64) -> Result<VoteOutcome, FinalityError> {
        if vote.round_id != self.round_id {
            return Err(FinalityError::WrongRound { round_id: self.round_id, got: vote.round_id });
        }
        if !self.committee.contains(&vote.sender_id) {
            return Ok(VoteOutcome::NotMember);
        }
        self.check_epoch(epoch)?;
        in_range("timestamp_logical", vote.timestamp_logical)?;
        if self.last_times.get(&vote.sender_id).is_some_and(|&last| vote.timestamp_logical <= last) {
            return Ok(VoteOutcome::Stale);
        }
        if self.excluded.contains(&vote.sender_id) {
            return Ok(VoteOutcome::Excluded);
        }
        self.last_times.insert(vote.sender_id, vote.timestamp_logical);
        self.last_epoch = epoch;
        if vote.vote_type == VoteType::Accept {
            self.tally.count(vote, epoch);
        }
        self.rise(vote, epoch)?;
        Ok(if vote.vote_type == VoteType::Accept { VoteOutcome::Counted } else { VoteOutcome::Recorded })
    }

    /// Records that `sender` has signed two tuples: its votes no longer count, and HARD must be earned anew.
    /// Repeats and strangers change nothing, so f faulty members can restart the way to HARD f times at most.
    ///
    /// # Errors
    /// [`FinalityError::EpochRegression`], [`FinalityError::Serialization`].
    pub fn observe_equivocation(&mut self, epoch: u64, sender: &SenderId) -> Result<(), FinalityError> {
        self.check_epoch(epoch)?;
        if self.committee.contains(sender) && self.excluded.insert(*sender) {
            self.last_epoch = epoch;
            self.tally.drop_sender(sender);
            self.last_equivocation_epoch = Some(epoch);
        }
        Ok(())
    }

    /// Seals an epoch: the round becomes ABSOLUTE once the dispute window after HARD and after the last proven equivocation is
    /// over. Returns whether it did; if not, nothing has changed.
    ///
    /// # Errors
    /// [`FinalityError::BadSealRoot`], [`FinalityError::Serialization`] for an epoch beyond 2^63−1.
    pub fn seal_epoch(&mut self, epoch: u64, seal_root: &[u8]) -> Result<bool, FinalityError> {
        let root: &Hash = seal_root.try_into().map_err(|_| FinalityError::BadSealRoot(seal_root.len()))?;
        in_range("epoch", epoch)?;
        let (FinalityLevel::Hard, Some(hard_epoch), false) = (self.level, self.hard_epoch, self.conflict)
        else {
            return Ok(false);
        };
        let from = hard_epoch.max(self.last_equivocation_epoch.unwrap_or(0));
        if epoch.checked_sub(from).is_none_or(|waited| waited < self.window) {
            return Ok(false);
        }
        self.advance(FinalityLevel::Absolute, epoch, evidence::absolute(epoch, hard_epoch, root)?)?;
        Ok(true)
    }

    /// Checks whether effects outside the system may follow: from HARD on.
    ///
    /// # Errors
    /// [`FinalityError::PrematureExternalEffect`].
    pub fn require_external_effects_allowed(&self) -> Result<(), FinalityError> {
        self.require("external", FinalityLevel::Hard)
    }

    /// Checks whether effects that cannot be undone may follow: at ABSOLUTE.
    ///
    /// # Errors
    /// [`FinalityError::PrematureExternalEffect`].
    pub fn require_irreversible_effects_allowed(&self) -> Result<(), FinalityError> {
        self.require("irreversible", FinalityLevel::Absolute)
    }

    fn require(&self, effects: &'static str, required: FinalityLevel) -> Result<(), FinalityError> {
        if self.level >= required {
            return Ok(());
        }
        let (round_id, level) = (self.round_id, self.level);
        Err(FinalityError::PrematureExternalEffect { effects, required, round_id, level })
    }

    fn check_epoch(&self, epoch: u64) -> Result<(), FinalityError> {
        if epoch < self.last_epoch {
            return Err(FinalityError::EpochRegression { last: self.last_epoch, got: epoch });
        }
        Ok(in_range("epoch", epoch)?)
    }

    /// Takes the steps that `vote`, just counted, allows.
    fn rise(&mut self, vote: &Vote, epoch: u64) -> Result<(), FinalityError> {
        if self.level == FinalityLevel::Pending {
            self.advance(FinalityLevel::Soft, epoch, evidence::soft(vote)?)?;
        }
        match &self.anchor {
            None => self.rise_to_quorum(vote.group(), epoch),
            Some(anchor) if anchor.group == vote.group() => self.rise_to_hard(epoch),
            Some(_) => self.watch_for_conflict(vote),
        }
    }

    /// Raises the level to QUORUM. Only the group of the vote just counted can have reached its quorum with it.
    fn rise_to_quorum(&mut self, group: VoteGroup, epoch: u64) -> Result<(), FinalityError> {
        if let Some(voters) = self.tally.certified(&group, self.threshold) {
            let evidence = evidence::quorum(voters.values())?;
            self.advance(FinalityLevel::Quorum, epoch, evidence)?;
            self.anchor = Some(Anchor { group, epoch });
        }
        Ok(())
    }

    /// Raises the level to HARD, which needs two adjacent certified epochs, both later than the last newly proven equivocation. Any
    /// other certified epoch is the first of such a pair.
    fn rise_to_hard(&mut self, epoch: u64) -> Result<(), FinalityError> {
        let (FinalityLevel::Quorum, Some(anchor)) = (self.level, &mut self.anchor) else { return Ok(()) };
        let Some(gap) = epoch.checked_sub(anchor.epoch).filter(|&gap| gap > 0) else { return Ok(()) };
        let Some(voters) = self.tally.certified_in(epoch, &anchor.group, self.threshold) else {
            return Ok(());
        };
        let disturbed = self.last_equivocation_epoch.is_some_and(|proven| proven >= anchor.epoch);
        if gap > 1 || disturbed || self.conflict {
            anchor.epoch = epoch;
            return Ok(());
        }
        let evidence = evidence::hard([anchor.epoch, epoch], voters.values())?;
        anchor.epoch = epoch;
        self.hard_epoch = Some(epoch);
        self.advance(FinalityLevel::Hard, epoch, evidence)
    }

    fn watch_for_conflict(&mut self, vote: &Vote) -> Result<(), FinalityError> {
        let (Some(anchor), false) = (&self.anchor, self.conflict) else { return Ok(()) };
        if self.tally.certified(&vote.group(), self.threshold).is_none() {
            return Ok(());
        }
        self.conflict = true;
        let mut divergent_roots = [anchor.group.merkle_root, vote.merkle_root];
        divergent_roots.sort_unstable();
        Err(FinalityError::SafetyViolation(Box::new(Divergence {
            round_id: self.round_id,
            divergent_roots,
            rule_version_hash: anchor.group.rule_version_hash,
            timestamp_logical: vote.timestamp_logical,
        })))
    }

    /// Changes the level; no other code does.
    fn advance(&mut self, to: FinalityLevel, epoch: u64, evidence: Vec<u8>) -> Result<(), FinalityError> {
        if self.level.next() != Some(to) {
            return Err(FinalityError::Rollback { from: self.level, to });
        }
        self.transitions.push(Transition { from: self.level, to, epoch, evidence });
        self.level = to;
        Ok(())
    }
}

fn in_range(field: &str, integer: u64) -> Result<(), ConsensusSerializationError> {
    if integer <= MAX_INTEGER {
        return Ok(());
    }
    Err(ConsensusSerializationError::IntegerRange { field: field.to_owned() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{FinalityError, FinalityLevel, FinalityMachine};
    use crate::identity::SenderId;

    /// No caller from outside can ask for such a step, so the test calls the guard itself.
    #[test]
    fn only_the_very_next_level_can_follow() {
        for from in FinalityLevel::ORDER {
            for to in FinalityLevel::ORDER {
                let mut machine = FinalityMachine::new(1, &[SenderId::of(&[7; 32])], 100).unwrap();
                machine.level = from;
                let next = from.next() == Some(to);
                let expected = if next { Ok(()) } else { Err(FinalityError::Rollback { from, to }) };
                assert_eq!(machine.advance(to, 1, Vec::new()), expected, "{from} to {to}");
                let (level, steps) = if next { (to, 1) } else { (from, 0) };
                assert_eq!((machine.current(), machine.transitions().len()), (level, steps));
            }
        }
    }
}
