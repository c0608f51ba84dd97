//! A slow finality machine that keeps everything and evaluates the chapter's sentences anew after each event
//! (consensus#finality). It shares with the real one only the names of levels and outcomes.

use std::collections::BTreeSet;

use colibri_consensus::finality::{FinalityLevel, VoteOutcome};
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{Vote, VoteGroup, VoteType};

/// A refusal, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    EpochRegression,
    SafetyViolation,
}

pub struct Reference {
    committee: Vec<SenderId>,
    window: u64,
    pub level: FinalityLevel,
    /// Levels and epochs of all steps.
    pub steps: Vec<(FinalityLevel, u64)>,
    accepted: Vec<(Vote, u64)>,
    last_epoch: u64,
    equivocations: Vec<(SenderId, u64)>,
    anchor: Option<VoteGroup>,
    certified: BTreeSet<u64>,
    conflict: bool,
}

impl Reference {
    pub fn new(committee: &[SenderId], window: u64) -> Self {
        Self {
            committee: committee.to_vec(),
            window,
            level: FinalityLevel::Pending,
            steps: Vec::new(),
            accepted: Vec::new(),
            last_epoch: 0,
            equivocations: Vec::new(),
            anchor: None,
            certified: BTreeSet::new(),
            conflict: false,
        }
    }

    fn excluded(&self, sender: SenderId) -> bool {
        self.equivocations.iter().any(|&(proven, _)| proven == sender)
    }

    /// Checks whether ⌊2n/3⌋ + 1 or more members, not excluded, have accepted `group` in an epoch that `counts`.
    fn has_quorum(&self, group: VoteGroup, counts: impl Fn(u64) -> bool) -> bool {
        let accepts = |member: SenderId| {
            self.accepted.iter().any(|(vote, epoch)| {
                vote.sender_id == member
                    && vote.vote_type == VoteType::Accept
                    && vote.group() == group
                    && counts(*epoch)
            })
        };
        let members = self.committee.iter().filter(|&&member| !self.excluded(member) && accepts(member));
        3 * members.count() > 2 * self.committee.len()
    }

    fn step(&mut self, level: FinalityLevel, epoch: u64) {
        self.level = level;
        self.steps.push((level, epoch));
    }

    pub fn receive_vote(&mut self, vote: &Vote, epoch: u64) -> Result<VoteOutcome, Refused> {
        if !self.committee.contains(&vote.sender_id) {
            return Ok(VoteOutcome::NotMember);
        }
        if epoch < self.last_epoch {
            return Err(Refused::EpochRegression);
        }
        let of_sender = self.accepted.iter().filter(|(earlier, _)| earlier.sender_id == vote.sender_id);
        if of_sender.map(|(earlier, _)| earlier.timestamp_logical).max() >= Some(vote.timestamp_logical) {
            return Ok(VoteOutcome::Stale);
        }
        if self.excluded(vote.sender_id) {
            return Ok(VoteOutcome::Excluded);
        }
        self.accepted.push((vote.clone(), epoch));
        self.last_epoch = epoch;
        if self.level == FinalityLevel::Pending {
            self.step(FinalityLevel::Soft, epoch);
        }
        let violated = self.after_vote(vote.group(), epoch);
        let counted = vote.vote_type == VoteType::Accept;
        let outcome = if counted { VoteOutcome::Counted } else { VoteOutcome::Recorded };
        if violated { Err(Refused::SafetyViolation) } else { Ok(outcome) }
    }

    /// Returns whether the vote has completed a second quorum.
    fn after_vote(&mut self, group: VoteGroup, epoch: u64) -> bool {
        let Some(anchor) = self.anchor else {
            if self.has_quorum(group, |_| true) {
                self.anchor = Some(group);
                self.certified.insert(epoch);
                self.step(FinalityLevel::Quorum, epoch);
            }
            return false;
        };
        if anchor != group {
            let violated = !self.conflict && self.has_quorum(group, |_| true);
            self.conflict |= violated;
            return violated;
        }
        if self.has_quorum(anchor, |received| received == epoch) {
            self.certified.insert(epoch);
        }
        let last_proven = self.equivocations.last().map(|&(_, proven)| proven);
        let adjacent = epoch > 0 && self.certified.contains(&epoch) && self.certified.contains(&(epoch - 1));
        let both_later = last_proven.is_none_or(|proven| epoch > 0 && proven < epoch - 1);
        if self.level == FinalityLevel::Quorum && adjacent && both_later && !self.conflict {
            self.step(FinalityLevel::Hard, epoch);
        }
        false
    }

    pub fn observe_equivocation(&mut self, epoch: u64, sender: SenderId) -> Result<(), Refused> {
        if epoch < self.last_epoch {
            return Err(Refused::EpochRegression);
        }
        if self.committee.contains(&sender) && !self.excluded(sender) {
            self.last_epoch = epoch;
            self.equivocations.push((sender, epoch));
        }
        Ok(())
    }

    pub fn seal_epoch(&mut self, epoch: u64) -> bool {
        let hard = self.steps.iter().find(|(level, _)| *level == FinalityLevel::Hard).map(|step| step.1);
        let proven = self.equivocations.iter().map(|&(_, proven)| proven).max().unwrap_or(0);
        let over = hard.is_some_and(|hard| epoch >= hard.max(proven) + self.window);
        let seals = self.level == FinalityLevel::Hard && over && !self.conflict;
        if seals {
            self.step(FinalityLevel::Absolute, epoch);
        }
        seals
    }
}
