//! One round of voting (consensus#round): arbiters promise their votes, reveal them, and go to another view if too little comes
//! in time. A round ends with a quorum's votes, which finality takes. Pure: time, salts and keys come from outside,
//! messages go out through [`Round::take_outgoing`].
//!
//! ```text
//!               q promises            q votes, or all, or time           q ACCEPT on one tuple
//! COMMIT_PHASE -----------> REVEAL_PHASE -------------> VERIFY_PHASE -------------> COMPLETED
//!   ^     | time                                             | else                     ^ certificate,
//!   |     '----------------------> VIEW_CHANGE <-------------'                          | from any state
//!   '------------------------------ q wishes to leave the view
//! ```
//!
//! Safety depends on two rules only: an honest node votes on one tuple in all views, and two quorums share an honest node.
//! Phases and views only ensure progress.

mod backlog;
mod ballots;
mod certificate;
mod config;
mod error;
mod receive;
mod surroundings;
mod times;
mod timing;
mod views;
mod wishes;

use std::collections::BTreeMap;
use std::fmt;

use super::canonical::{Hash, SALT_LEN};
use super::clock::LogicalClock;
use super::equivocation::EquivocationDetector;
use super::identity::SenderId;
use super::messages::{Certificate, Commit, Reveal, SignedMessage, ViewChange, Vote, VoteGroup, commit_hash};
use super::quorum::{max_faulty, quorum_threshold};
use super::signing::{Signer, Verifier};
use backlog::Backlog;
use ballots::Ballots;
use times::PeerTimes;
use wishes::Wishes;

pub use config::{Committee, RoundConfig, committee_of};
pub use error::RoundStateError;
pub use surroundings::{ForkTriggerEvent, Surroundings, ZetaEvent, ZetaPayload};

/// Where a node is in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoundState {
    /// Waiting for promises.
    CommitPhase,
    /// Waiting for votes.
    RevealPhase,
    /// Counting; nothing is waited for.
    VerifyPhase,
    /// Waiting for a quorum that wishes to leave the view.
    ViewChange,
    /// The tuple is agreed. The round never leaves this state.
    Completed,
}

impl RoundState {
    /// Returns the state's name in the specification.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CommitPhase => "COMMIT_PHASE",
            Self::RevealPhase => "REVEAL_PHASE",
            Self::VerifyPhase => "VERIFY_PHASE",
            Self::ViewChange => "VIEW_CHANGE",
            Self::Completed => "COMPLETED",
        }
    }
}

impl fmt::Display for RoundState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Any message that the members of a round send one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoundMessage {
    /// A promise.
    Commit(Commit),
    /// A promised vote.
    Reveal(Reveal),
    /// A wish to leave a view.
    ViewChange(ViewChange),
    /// A quorum's votes.
    Certificate(Certificate),
}

/// A message that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The receiver; `None` for all other members.
    pub to: Option<SenderId>,
    /// What.
    pub message: RoundMessage,
}

/// What a completed round has agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The tuple.
    pub tuple: VoteGroup,
    /// The node's view when it completed.
    pub view: u64,
    /// The ACCEPT votes that show it, by sender, which finality takes.
    pub votes: Vec<Vote>,
}

/// How often each state was entered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Entries {
    /// Into [`RoundState::CommitPhase`].
    pub commit: u64,
    /// Into [`RoundState::RevealPhase`].
    pub reveal: u64,
    /// Into [`RoundState::VerifyPhase`].
    pub verify: u64,
    /// Into [`RoundState::ViewChange`].
    pub view_change: u64,
}

/// How much a round holds; none of it grows with the number of messages received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Promises, votes and waiting votes of the view: at most 3 a member.
    pub ballots: usize,
    /// Messages of later views: at most n a member.
    pub backlog: usize,
    /// Wishes to leave a view: at most 1 a member.
    pub wishes: usize,
    /// Proofs of equivocation: at most 1 a member.
    pub proofs: usize,
}

/// The node's own vote of the view.
#[derive(Debug, Clone)]
struct OwnBallot {
    vote: Vote,
    salt: [u8; SALT_LEN],
    reveal: Option<Reveal>,
}

/// A round as one node sees it. [`Round::begin`] starts it. Then the caller passes what comes in and, whenever
/// [`Round::next_deadline`] is reached, calls [`Round::tick`].
#[derive(Debug)]
pub struct Round<S, V, O> {
    config: RoundConfig,
    quorum: usize,
    faulty: usize,
    signer: S,
    verifier: V,
    outside: O,
    state: RoundState,
    view: u64,
    leader: SenderId,
    /// When the view began, in milliseconds.
    view_start: u64,
    /// When the phase began or, while the node waits to leave the view, when it last said so.
    phase_start: u64,
    own: Option<OwnBallot>,
    own_wish: Option<ViewChange>,
    ballots: Ballots,
    backlog: Backlog,
    wishes: Wishes,
    times: PeerTimes,
    equivocations: EquivocationDetector,
    /// Whether an equivocation was proven in this view.
    proven_in_view: bool,
    /// The first root that each sender has accepted in a reveal.
    roots: BTreeMap<SenderId, Hash>,
    fork_told: bool,
    outcome: Option<Outcome>,
    outgoing: Vec<Outgoing>,
    entries: Entries,
}

impl<S: Signer, V: Verifier, O: Surroundings> Round<S, V, O> {
    /// Makes a round in the commit phase of view 0; the phase's time runs.
    ///
    /// # Errors
    /// [`RoundStateError::Config`] if the parts of `config` do not fit together, or `signer` is not its arbiter.
    pub fn new(config: RoundConfig, signer: S, verifier: V, mut outside: O) -> Result<Self, RoundStateError> {
        config.check(signer.sender_id())?;
        let members = config.committee.len() as u64;
        let now = outside.now_ms();
        let too_many = |_| RoundStateError::Config("more members than fit in memory");
        Ok(Self {
            quorum: usize::try_from(quorum_threshold(members)?).map_err(too_many)?,
            faulty: usize::try_from(max_faulty(members)?).map_err(too_many)?,
            signer,
            verifier,
            outside,
            state: RoundState::CommitPhase,
            view: 0,
            leader: config.leader,
            view_start: now,
            phase_start: now,
            own: None,
            own_wish: None,
            ballots: Ballots::default(),
            backlog: Backlog::default(),
            wishes: Wishes::default(),
            times: PeerTimes::default(),
            equivocations: EquivocationDetector::default(),
            proven_in_view: false,
            roots: BTreeMap::new(),
            fork_told: false,
            outcome: None,
            outgoing: Vec::new(),
            entries: Entries { commit: 1, ..Entries::default() },
            config,
        })
    }

    /// Signs the node's vote and promises it. Later views begin by themselves. The returned commitment is also among
    /// the outgoing messages.
    ///
    /// # Errors
    /// [`RoundStateError::AlreadyBegun`], [`RoundStateError::WrongPhase`], or if the node's logical time is used up.
    pub fn begin(&mut self) -> Result<Commit, RoundStateError> {
        if self.own.is_some() {
            return Err(RoundStateError::AlreadyBegun);
        }
        if !matches!(self.state, RoundState::CommitPhase | RoundState::RevealPhase) {
            return Err(RoundStateError::WrongPhase(self.state));
        }
        let vote = Vote {
            round_id: self.config.tuple.round_id,
            merkle_root: self.config.tuple.merkle_root,
            rule_version_hash: self.config.tuple.rule_version_hash,
            sender_id: self.config.arbiter_id,
            vote_type: self.config.vote_type,
            timestamp_logical: self.outside.logical().next()?,
            signature: [0; 64],
        };
        let vote = vote.signed_by(&self.signer)?;
        let salt = self.outside.salt();
        let commit = Commit {
            round_id: self.config.round_id,
            view: self.view,
            commit_hash: commit_hash(&vote, &salt)?,
            sender_id: self.config.arbiter_id,
            timestamp_logical: self.outside.logical().next()?,
            signature: [0; 64],
        };
        let commit = commit.signed_by(&self.signer)?;
        self.see(&vote);
        self.own = Some(OwnBallot { vote, salt, reveal: None });
        self.send(None, RoundMessage::Commit(commit.clone()));
        self.take_commit(commit.sender_id, commit.commit_hash)?;
        Ok(commit)
    }

    /// Returns the node's own vote with its salt, made when the reveal phase began.
    ///
    /// # Errors
    /// [`RoundStateError::WrongPhase`] before that, or if the view was left before it.
    pub fn my_reveal(&self) -> Result<Reveal, RoundStateError> {
        let reveal = self.own.as_ref().and_then(|own| own.reveal.clone());
        reveal.ok_or(RoundStateError::WrongPhase(self.state))
    }

    /// Takes the messages that wait to be sent, in order.
    pub fn take_outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn send(&mut self, to: Option<SenderId>, message: RoundMessage) {
        self.outgoing.push(Outgoing { to, message });
    }

    /// Returns the node's state.
    pub fn state(&self) -> RoundState {
        self.state
    }

    /// Returns the node's view, from 0.
    pub fn view(&self) -> u64 {
        self.view
    }

    /// Returns the leader of the view.
    pub fn leader(&self) -> SenderId {
        self.leader
    }

    /// Returns the round's terms.
    pub fn config(&self) -> &RoundConfig {
        &self.config
    }

    /// Returns what was agreed, once the round is completed.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Returns the votes that show what was agreed, as a completed node shows them to others.
    pub fn certificate(&self) -> Option<Certificate> {
        let votes = self.outcome.as_ref()?.votes.clone();
        Some(Certificate { round_id: self.config.round_id, votes })
    }

    /// Returns the detector: the arbiters proven to have signed two tuples in this round, and what the node has seen of the others.
    pub fn equivocations(&self) -> &EquivocationDetector {
        &self.equivocations
    }

    /// Returns how often each state was entered.
    pub fn entries(&self) -> Entries {
        self.entries
    }

    /// Returns how much the round holds.
    pub fn held(&self) -> Held {
        let ballots = &self.ballots;
        Held {
            ballots: ballots.commits.len() + ballots.votes.len() + ballots.waiting.len(),
            backlog: self.backlog.len(),
            wishes: self.wishes.len(),
            proofs: self.equivocations.proofs().len(),
        }
    }

    /// Returns the round's surroundings.
    pub fn surroundings(&self) -> &O {
        &self.outside
    }

    /// Returns the round's surroundings, mutable.
    pub fn surroundings_mut(&mut self) -> &mut O {
        &mut self.outside
    }

    /// Records the logical time of an accepted message of `sender`, a member. The node's own time follows what
    /// more members than may be faulty have shown. For votes that come after the round the caller does this.
    pub fn observe(&mut self, sender: SenderId, shown: u64) {
        if let Some(followed) = self.times.shown(sender, shown, self.faulty) {
            self.logical().observe(followed);
        }
    }

    fn logical(&mut self) -> &mut LogicalClock {
        self.outside.logical()
    }
}
