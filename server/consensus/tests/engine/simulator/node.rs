//! A simulated node: the real round machine and, once it is completed, the real finality machine.

use std::collections::BTreeSet;

use colibri_consensus::equivocation::EquivocationDetector;
use colibri_consensus::finality::{DISPUTE_WINDOW_EPOCHS_DEFAULT, FinalityLevel, FinalityMachine};
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{SignedMessage, Vote};
use colibri_consensus::round::Surroundings;

use crate::simulator::conduct::Conduct;
use crate::simulator::desk::Desk;
use crate::simulator::keys::{Key, Scheme};

pub type Round = colibri_consensus::Round<Key, Scheme, Desk>;

/// A node. One with a conduct is faulty, and its round only supplies the messages that it falsifies.
#[derive(Debug)]
pub struct Node {
    pub round: Round,
    pub key: Key,
    pub conduct: Option<Conduct>,
    pub finality: Option<Finality>,
    /// The deadline for which a tick is queued.
    pub queued: Option<u64>,
}

/// An honest node's finality machine after the round.
#[derive(Debug)]
pub struct Finality {
    pub machine: FinalityMachine,
    pub epoch: u64,
    detector: EquivocationDetector,
    proven: BTreeSet<SenderId>,
    /// The epoch of the last proof that was new.
    pub last_proof: Option<u64>,
    /// The last such epoch when the round became HARD.
    pub last_proof_before_hard: Option<u64>,
}

impl Finality {
    /// Feeds the round's votes as those of epoch 1.
    pub fn begin(round: &Round) -> Self {
        let config = round.config();
        let committee: Vec<SenderId> = config.committee.keys().copied().collect();
        let machine =
            FinalityMachine::new(config.round_id, &committee, DISPUTE_WINDOW_EPOCHS_DEFAULT).unwrap();
        let detector = round.equivocations().clone();
        let proven = BTreeSet::new();
        let mut finality =
            Self { machine, epoch: 1, detector, proven, last_proof: None, last_proof_before_hard: None };
        finality.heed(round);
        for vote in &round.outcome().unwrap().votes {
            finality.feed(vote);
        }
        finality
    }

    /// Tells the machine of equivocators that the round or an epoch has proven.
    pub fn heed(&mut self, round: &Round) {
        let found: Vec<SenderId> =
            self.detector.proofs().keys().chain(round.equivocations().proofs().keys()).copied().collect();
        for sender in found {
            if self.proven.insert(sender) {
                self.machine.observe_equivocation(self.epoch, &sender).unwrap();
                self.last_proof = Some(self.epoch);
            }
        }
    }

    /// Takes an epoch's vote from the network; checks it as a round checks its messages.
    pub fn receive(&mut self, vote: &Vote, round: &mut Round, scheme: Scheme) {
        let Some(key) = round.config().committee.get(&vote.sender_id).copied() else { return };
        let logical = round.surroundings_mut().logical();
        if !vote.is_signed_by(&key, &scheme) || logical.admit(vote.timestamp_logical).is_err() {
            return;
        }
        round.observe(vote.sender_id, vote.timestamp_logical);
        let _ = self.detector.observe(vote, self.machine.current());
        self.heed(round);
        self.feed(vote);
    }

    /// Gives the machine a checked vote. If that causes a conflict, it shows in the levels.
    pub fn feed(&mut self, vote: &Vote) {
        let before = self.machine.current();
        let _ = self.machine.receive_vote(vote, self.epoch);
        if before < FinalityLevel::Hard && self.machine.current() == FinalityLevel::Hard {
            self.last_proof_before_hard = self.last_proof;
        }
    }

    /// Returns the epoch in which the round became HARD.
    pub fn hard_epoch(&self) -> Option<u64> {
        let steps = self.machine.transitions().iter();
        steps.filter(|step| step.to == FinalityLevel::Hard).map(|step| step.epoch).next()
    }

    /// Seals an epoch early and then in time; returns whether only the second made the round ABSOLUTE.
    pub fn seals_in_time(&mut self) -> bool {
        let disputed = self.hard_epoch().max(self.last_proof).unwrap_or(0);
        let due = disputed + DISPUTE_WINDOW_EPOCHS_DEFAULT;
        let seal = |machine: &mut FinalityMachine, epoch| machine.seal_epoch(epoch, &[0xdd; 32]).unwrap();
        !seal(&mut self.machine, due - 1)
            && seal(&mut self.machine, due)
            && self.machine.current() == FinalityLevel::Absolute
    }
}
