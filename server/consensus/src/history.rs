//! The history of a round (consensus#persistence, consensus#propose-and-vote): it takes one vote after the other, and returns
//! what each has changed. The service passes new votes, the replay stored ones. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::canonical::Hash;
use super::equivocation::{EquivocationDetector, EquivocationError};
use super::finality::{FinalityError, FinalityLevel, FinalityMachine, Transition};
use super::identity::SenderId;
use super::messages::{Vote, VoteGroup};

/// The epoch in which a round is proposed.
const PROPOSE_EPOCH: u64 = 1;

/// Where a vote comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was cast with the proposal.
    Propose,
    /// A caller asked for it.
    Vote,
}

impl Origin {
    /// Returns the word in rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Propose => "PROPOSE",
            Self::Vote => "VOTE",
        }
    }

    /// Returns the origin that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Propose, Self::Vote].into_iter().find(|origin| origin.as_str() == word)
    }
}

/// A vote whose signature is verified, with its place among all votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CastVote {
    /// Its number; later votes have larger ones.
    pub seq: i64,
    /// Where it comes from.
    pub origin: Origin,
    /// The vote.
    pub vote: Vote,
}

/// A first proof of an arbiter's equivocation in this round, by the numbers of the votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    /// See [`EquivocationProof`](super::messages::EquivocationProof).
    pub evidence_hash: Hash,
    /// The arbiter.
    pub sender_id: SenderId,
    /// The vote whose group is smaller.
    pub vote_a_seq: i64,
    /// The other one.
    pub vote_b_seq: i64,
    /// The later of the two.
    pub trigger_seq: i64,
    /// What the round had reached before.
    pub finality_level: FinalityLevel,
}

/// What a vote has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The epoch in which the finality machine took it; `None` for an observer's vote.
    pub epoch: Option<u64>,
    /// The steps that the round has made.
    pub transitions: Vec<Transition>,
    /// The sender is an equivocator, and was not known as one.
    pub proven: Option<Proven>,
}

/// Why the round refuses a vote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The finality machine refuses it.
    #[error(transparent)]
    Finality(#[from] FinalityError),
    /// The detector refuses it.
    #[error(transparent)]
    Equivocation(#[from] EquivocationError),
    /// Votes come in the order of their numbers.
    #[error("vote {seq} comes after vote {last}")]
    Order {
        /// The vote's number.
        seq: i64,
        /// The number of the vote before.
        last: i64,
    },
    /// An explicit vote on a tuple that its sender has voted on.
    #[error("vote {seq} repeats its sender's explicit vote on the same tuple")]
    Repeated {
        /// The vote's number.
        seq: i64,
    },
}

/// The history of one round.
#[derive(Debug, Clone)]
pub struct History {
    committee: BTreeSet<SenderId>,
    machine: FinalityMachine,
    detector: EquivocationDetector,
    /// The number of each sender's first vote.
    firsts: BTreeMap<SenderId, i64>,
    /// Which senders have voted explicitly on what: the ledger behind ALREADY_VOTED.
    explicit: BTreeSet<(SenderId, VoteGroup)>,
    /// Explicit votes of committee members; each has an epoch of its own.
    explicit_of_members: u64,
    epoch: u64,
    last_seq: i64,
}

impl History {
    /// Makes a round before its first vote.
    ///
    /// # Errors
    /// As [`FinalityMachine::new`].
    pub fn new(
        round_id: u64,
        committee: &[SenderId],
        dispute_window_epochs: u64,
    ) -> Result<Self, FinalityError> {
        Ok(Self {
            machine: FinalityMachine::new(round_id, committee, dispute_window_epochs)?,
            committee: committee.iter().copied().collect(),
            detector: EquivocationDetector::default(),
            firsts: BTreeMap::new(),
            explicit: BTreeSet::new(),
            explicit_of_members: 0,
            epoch: PROPOSE_EPOCH,
            last_seq: 0,
        })
    }

    /// Returns the level.
    pub fn level(&self) -> FinalityLevel {
        self.machine.current()
    }

    /// Returns the steps so far.
    pub fn transitions(&self) -> &[Transition] {
        self.machine.transitions()
    }

    /// Returns the last epoch in which finality got a vote.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns whether votes of the sender count: it is a member of the committee.
    pub fn counts(&self, sender: &SenderId) -> bool {
        self.committee.contains(sender)
    }

    /// Checks whether the sender has voted explicitly on the tuple, with any vote type.
    pub fn has_voted(&self, sender: &SenderId, group: &VoteGroup) -> bool {
        self.explicit.contains(&(*sender, *group))
    }

    /// Returns the epoch of the sender's next vote: 1 with the proposal, 1 + k for the k-th explicit vote of a member. `None` for
    /// observers, whose votes do not reach finality.
    pub(crate) fn epoch_for(&self, sender: &SenderId, origin: Origin) -> Option<u64> {
        if !self.committee.contains(sender) {
            return None;
        }
        Some(match origin {
            Origin::Propose => PROPOSE_EPOCH,
            Origin::Vote => PROPOSE_EPOCH.saturating_add(self.explicit_of_members).saturating_add(1),
        })
    }

    /// Takes the next vote. After an error the history must not be used any more.
    ///
    /// # Errors
    /// If the service would not have stored the vote.
    pub fn take(&mut self, cast: &CastVote) -> Result<Change, HistoryError> {
        let (vote, seq, sender) = (&cast.vote, cast.seq, cast.vote.sender_id);
        if seq <= self.last_seq {
            return Err(HistoryError::Order { seq, last: self.last_seq });
        }
        let epoch = self.epoch_for(&sender, cast.origin);
        if cast.origin == Origin::Vote && !self.explicit.insert((sender, vote.group())) {
            return Err(HistoryError::Repeated { seq });
        }
        self.last_seq = seq;
        let proven = self.observe(cast)?;
        let mut change = Change { epoch, proven, ..Change::default() };
        let Some(epoch) = epoch else { return Ok(change) };
        if cast.origin == Origin::Vote {
            self.explicit_of_members = self.explicit_of_members.saturating_add(1);
        }
        if change.proven.is_some() {
            self.machine.observe_equivocation(epoch, &sender)?;
        }
        let before = self.machine.transitions().len();
        match self.machine.receive_vote(vote, epoch) {
            // The machine has recorded the vote, and the round will never be HARD.
            Ok(_) | Err(FinalityError::SafetyViolation(_)) => {}
            Err(error) => return Err(error.into()),
        }
        self.epoch = epoch;
        change.transitions = self.machine.transitions().get(before..).unwrap_or_default().to_vec();
        Ok(change)
    }

    /// Checks whether the vote proves its sender's fault.
    fn observe(&mut self, cast: &CastVote) -> Result<Option<Proven>, HistoryError> {
        let finality_level = self.machine.current();
        let first = *self.firsts.entry(cast.vote.sender_id).or_insert(cast.seq);
        let proof = self.detector.observe(&cast.vote, finality_level)?;
        Ok(proof.map(|proof| {
            let later_is_a = proof.signed_vote_a == cast.vote;
            let (vote_a_seq, vote_b_seq) = if later_is_a { (cast.seq, first) } else { (first, cast.seq) };
            Proven {
                evidence_hash: proof.evidence_hash,
                sender_id: proof.arbiter_id,
                vote_a_seq,
                vote_b_seq,
                trigger_seq: cast.seq,
                finality_level,
            }
        }))
    }
}
