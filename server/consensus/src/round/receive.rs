//! Incoming messages (consensus#checks): each is checked, assigned to its view, and counted.

use crate::canonical::Hash;
use crate::identity::SenderId;
use crate::level::FinalityLevel;
use crate::messages::{Certificate, Commit, Reveal, SignedMessage, ViewChange, Vote, VoteType};
use crate::signing::{Signer, Verifier};

use super::backlog::Early;
use super::certificate::certified_tuple;
use super::{Outcome, Round, RoundMessage, RoundState, RoundStateError, Surroundings};

/// Which view a message belongs to.
enum Placed {
    /// To the view that the node is in.
    Now,
    /// To one that the node may reach.
    Later,
}

impl<S: Signer, V: Verifier, O: Surroundings> Round<S, V, O> {
    /// Takes any message of the round; [`Round::tick`] comes first if time has passed.
    ///
    /// # Errors
    /// See the message's own method.
    pub fn receive(&mut self, message: &RoundMessage) -> Result<(), RoundStateError> {
        match message {
            RoundMessage::Commit(commit) => self.receive_commit(commit),
            RoundMessage::Reveal(reveal) => self.receive_reveal(reveal),
            RoundMessage::ViewChange(change) => self.receive_view_change(change),
            RoundMessage::Certificate(certificate) => self.receive_certificate(certificate),
        }
    }

    /// Takes a promise. It counts until the view's time for votes is over, not only until a quorum has promised.
    /// Otherwise faulty members that promise fast and never reveal would shut out slower honest ones.
    ///
    /// # Errors
    /// The checks of consensus#checks in their order, [`RoundStateError::WrongPhase`], [`RoundStateError::ConflictingCommit`].
    pub fn receive_commit(&mut self, commit: &Commit) -> Result<(), RoundStateError> {
        self.check(commit.round_id, commit)?;
        let placed = self.place(commit.view)?;
        self.observe(commit.sender_id, commit.timestamp_logical);
        match placed {
            Placed::Now => self.take_commit(commit.sender_id, commit.commit_hash)?,
            Placed::Later => self.keep(Early::Commit(commit.clone())),
        }
        self.advance()
    }

    /// Takes a revealed vote.
    ///
    /// # Errors
    /// The checks of consensus#checks in their order, the same ones for the vote within, then [`RoundStateError::WrongPhase`]
    /// and [`RoundStateError::CommitMismatch`].
    pub fn receive_reveal(&mut self, reveal: &Reveal) -> Result<(), RoundStateError> {
        self.check(reveal.round_id, reveal)?;
        let placed = self.place(reveal.view)?;
        self.check_inner(reveal)?;
        self.observe(reveal.sender_id, reveal.timestamp_logical.max(reveal.vote.timestamp_logical));
        match placed {
            Placed::Now => self.take_reveal(reveal)?,
            Placed::Later => self.keep(Early::Reveal(Box::new(reveal.clone()))),
        }
        self.advance()
    }

    /// Takes a wish to leave a view. A completed node answers it with its certificate.
    ///
    /// # Errors
    /// The checks of consensus#checks in their order; a wish is never stale.
    pub fn receive_view_change(&mut self, change: &ViewChange) -> Result<(), RoundStateError> {
        self.check(change.round_id, change)?;
        self.observe(change.sender_id, change.timestamp_logical);
        if let Some(certificate) = self.certificate() {
            self.send(Some(change.sender_id), RoundMessage::Certificate(certificate));
            return Ok(());
        }
        self.wishes.record(change.sender_id, change.view, change.reason);
        self.advance()
    }

    /// Takes the votes by which another node completed, and completes.
    ///
    /// # Errors
    /// [`RoundStateError::WrongRound`], [`RoundStateError::BadCertificate`], [`RoundStateError::ClockJump`].
    pub fn receive_certificate(&mut self, certificate: &Certificate) -> Result<(), RoundStateError> {
        let known = self.outcome.as_ref().map(|outcome| outcome.tuple);
        if known.is_some() && known == certificate.votes.first().map(Vote::group) {
            return Ok(());
        }
        let committee = &self.config.committee;
        let tuple =
            certified_tuple(certificate, self.config.round_id, committee, self.quorum, &self.verifier)?;
        for vote in &certificate.votes {
            self.see(vote);
            self.logical().admit(vote.timestamp_logical)?;
        }
        for vote in &certificate.votes {
            self.observe(vote.sender_id, vote.timestamp_logical);
        }
        if self.outcome.is_none() {
            self.complete(Outcome { tuple, view: self.view, votes: certificate.votes.clone() });
        }
        Ok(())
    }

    /// Makes the checks of every signed message, before its content counts.
    fn check<M: SignedMessage>(&mut self, round_id: u64, message: &M) -> Result<(), RoundStateError> {
        if round_id != self.config.round_id {
            return Err(RoundStateError::WrongRound);
        }
        let key = self.config.committee.get(&message.signer_id()).ok_or(RoundStateError::UnknownSender)?;
        if !message.is_signed_by(key, &self.verifier) {
            return Err(RoundStateError::BadSignature);
        }
        self.logical().admit(message.timestamp_logical())?;
        Ok(())
    }

    /// Makes the checks of a vote in a reveal. Even if the reveal is otherwise wrong, a correctly signed vote is first checked
    /// for equivocation.
    fn check_inner(&mut self, reveal: &Reveal) -> Result<(), RoundStateError> {
        let vote = &reveal.vote;
        let key = self.config.committee.get(&vote.sender_id).ok_or(RoundStateError::UnknownSender)?;
        if !vote.is_signed_by(key, &self.verifier) {
            return Err(RoundStateError::BadSignature);
        }
        self.see(vote);
        if vote.sender_id != reveal.sender_id {
            return Err(RoundStateError::UnknownSender);
        }
        if vote.round_id != self.config.round_id {
            return Err(RoundStateError::WrongRound);
        }
        self.logical().admit(vote.timestamp_logical)?;
        Ok(())
    }

    fn place(&self, view: u64) -> Result<Placed, RoundStateError> {
        match view.cmp(&self.view) {
            std::cmp::Ordering::Less => Err(RoundStateError::StaleView),
            std::cmp::Ordering::Equal => Ok(Placed::Now),
            std::cmp::Ordering::Greater => Ok(Placed::Later),
        }
    }

    fn keep(&mut self, message: Early) {
        if self.state != RoundState::Completed {
            self.backlog.keep(message, self.config.committee.len());
        }
    }

    /// Checks a correctly signed vote for equivocation.
    pub(super) fn see(&mut self, vote: &Vote) {
        // A node that knows a quorum passes it to its finality machine, which has received nothing before.
        let level = if self.outcome.is_some() { FinalityLevel::Quorum } else { FinalityLevel::Pending };
        if vote.round_id == self.config.round_id
            && let Ok(Some(_)) = self.equivocations.observe(vote, level)
        {
            self.proven_in_view = true;
        }
    }

    /// Counts a promise of this view; if the sender's vote waits for it, the sender has revealed now.
    pub(super) fn take_commit(&mut self, sender: SenderId, hash: Hash) -> Result<(), RoundStateError> {
        match self.state {
            RoundState::CommitPhase => {
                self.ballots.commit(sender, hash)?;
                if self.ballots.commits.len() >= self.quorum { self.enter_reveal_phase() } else { Ok(()) }
            }
            RoundState::RevealPhase => {
                self.ballots.commit(sender, hash)?;
                if self.own.as_ref().is_some_and(|own| own.vote.sender_id == sender) {
                    self.reveal_own()?;
                }
                match self.ballots.waiting.remove(&sender) {
                    Some(reveal) => self.take_reveal(&reveal),
                    None => self.settle(),
                }
            }
            state => Err(RoundStateError::WrongPhase(state)),
        }
    }

    /// Counts a vote of this view, or keeps it until its promise and its phase have come.
    pub(super) fn take_reveal(&mut self, reveal: &Reveal) -> Result<(), RoundStateError> {
        match self.state {
            RoundState::CommitPhase => {
                self.ballots.wait(reveal);
                Ok(())
            }
            RoundState::RevealPhase => {
                self.count(reveal)?;
                self.settle()
            }
            // A late vote serves only to detect equivocation, which was checked above.
            RoundState::Completed => Ok(()),
            state => Err(RoundStateError::WrongPhase(state)),
        }
    }

    fn count(&mut self, reveal: &Reveal) -> Result<(), RoundStateError> {
        self.ballots.reveal(reveal)?;
        let counted = self.ballots.votes.get(&reveal.sender_id);
        if let Some(vote) = counted.filter(|vote| vote.vote_type == VoteType::Accept) {
            self.roots.entry(vote.sender_id).or_insert(vote.merkle_root);
        }
        self.announce_split();
        Ok(())
    }

    /// Enters the reveal phase, since a quorum has promised: the node reveals, and the votes that have come already count.
    fn enter_reveal_phase(&mut self) -> Result<(), RoundStateError> {
        self.state = RoundState::RevealPhase;
        self.entries.reveal += 1;
        self.phase_start = self.outside.now_ms();
        self.reveal_own()?;
        for reveal in std::mem::take(&mut self.ballots.waiting).into_values() {
            // A vote that is not the promised one harms only its sender.
            let _ = self.count(&reveal);
        }
        self.settle()
    }

    fn reveal_own(&mut self) -> Result<(), RoundStateError> {
        let Some(own) = self.own.as_ref().filter(|own| own.reveal.is_none()) else { return Ok(()) };
        let reveal = Reveal {
            round_id: self.config.round_id,
            view: self.view,
            vote: own.vote.clone(),
            salt: own.salt,
            sender_id: self.config.arbiter_id,
            timestamp_logical: self.outside.logical().next()?,
            signature: [0; 64],
        };
        let reveal = reveal.signed_by(&self.signer)?;
        if let Some(own) = &mut self.own {
            own.reveal = Some(reveal.clone());
        }
        self.send(None, RoundMessage::Reveal(reveal.clone()));
        self.count(&reveal)
    }

    /// Leaves the reveal phase if nothing is left to wait for.
    fn settle(&mut self) -> Result<(), RoundStateError> {
        if self.state != RoundState::RevealPhase {
            return Ok(());
        }
        let all = self.ballots.votes.len() == self.config.committee.len();
        if all
            || self.ballots.quorum_votes(self.quorum, |sender| self.equivocations.is_proven(sender)).is_some()
        {
            return self.verify();
        }
        Ok(())
    }
}
