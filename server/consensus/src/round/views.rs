//! Verification, and the way from one view to the next (consensus#views).

use std::collections::BTreeSet;

use crate::canonical::MAX_INTEGER;
use crate::leader::select_leader;
use crate::messages::{SignedMessage, ViewChange, ViewChangeReason};
use crate::signing::{Signer, Verifier};

use super::backlog::Early;
use super::ballots::Ballots;
use super::timing::{T_COMMIT_PHASE_MS, T_REVEAL_PHASE_MS, T_ROUND_MS, T_TIMEOUT_MS, scaled};
use super::{
    ForkTriggerEvent, Outcome, Round, RoundMessage, RoundState, RoundStateError, Surroundings, ZetaEvent,
    ZetaPayload,
};

impl<S: Signer, V: Verifier, O: Surroundings> Round<S, V, O> {
    /// Does what is due. A second call at the same instant has no effect.
    ///
    /// # Errors
    /// If the node's logical time is used up.
    pub fn tick(&mut self) -> Result<(), RoundStateError> {
        let now = self.outside.now_ms();
        let passed = |since: u64, limit| now.saturating_sub(since) >= scaled(limit, self.view);
        match self.state {
            // If a view overran its ceiling, the node did not watch it, so it cannot say which members kept silent.
            RoundState::CommitPhase | RoundState::RevealPhase if passed(self.view_start, T_TIMEOUT_MS) => {
                self.wish_to_leave(self.view, ViewChangeReason::Timeout)
            }
            RoundState::CommitPhase if passed(self.phase_start, T_COMMIT_PHASE_MS) => {
                self.wish_to_leave(self.view, ViewChangeReason::Timeout)
            }
            RoundState::RevealPhase if passed(self.phase_start, T_REVEAL_PHASE_MS) => self.verify(),
            RoundState::ViewChange if passed(self.phase_start, T_ROUND_MS) => {
                self.phase_start = now;
                if let Some(wish) = self.own_wish.clone() {
                    self.send(None, RoundMessage::ViewChange(wish));
                }
                self.advance()
            }
            _ => Ok(()),
        }
    }

    /// Returns when [`Round::tick`] has something to do next, in milliseconds; `None` after completion.
    pub fn next_deadline(&self) -> Option<u64> {
        let limit = match self.state {
            RoundState::CommitPhase => T_COMMIT_PHASE_MS,
            RoundState::RevealPhase => T_REVEAL_PHASE_MS,
            RoundState::ViewChange => T_ROUND_MS,
            RoundState::VerifyPhase | RoundState::Completed => return None,
        };
        Some(self.phase_start.saturating_add(scaled(limit, self.view)))
    }

    /// Asks to leave the view, for a reason that only the caller can know. A malformed proposal is answered this way and not
    /// by a REJECT vote, which would lock the node's vote.
    ///
    /// # Errors
    /// [`RoundStateError::WrongPhase`] after completion, or if the node's logical time is used up.
    pub fn trigger_view_change(&mut self, reason: ViewChangeReason) -> Result<(), RoundStateError> {
        match self.state {
            RoundState::Completed => Err(RoundStateError::WrongPhase(self.state)),
            RoundState::ViewChange => Ok(()),
            _ => {
                self.wish_to_leave(self.view, reason)?;
                self.advance()
            }
        }
    }

    /// Counts the votes: completes with a quorum's votes, or gives the view up.
    pub(super) fn verify(&mut self) -> Result<(), RoundStateError> {
        self.state = RoundState::VerifyPhase;
        self.entries.verify += 1;
        let agreed = self.ballots.quorum_votes(self.quorum, |sender| self.equivocations.is_proven(sender));
        if let Some((tuple, votes)) = agreed {
            self.complete(Outcome { tuple, view: self.view, votes });
            return Ok(());
        }
        for sender in self.ballots.silent() {
            self.outside.mark_liveness_fault(&sender, self.config.round_id);
        }
        let reason = match self.proven_in_view {
            true => ViewChangeReason::EquivocationObserved,
            false => ViewChangeReason::Timeout,
        };
        self.wish_to_leave(self.view, reason)
    }

    pub(super) fn complete(&mut self, outcome: Outcome) {
        self.state = RoundState::Completed;
        self.backlog.clear();
        self.ballots.waiting.clear();
        self.tell(ZetaPayload::QuorumReached {
            merkle_root: outcome.tuple.merkle_root,
            rule_version_hash: outcome.tuple.rule_version_hash,
            view: outcome.view,
            voters: outcome.votes.iter().map(|vote| vote.sender_id).collect(),
        });
        self.outcome = Some(outcome);
    }

    fn tell(&mut self, payload: ZetaPayload) {
        let logical_clock = self.outside.logical().now();
        self.outside.zeta(ZetaEvent { round_id: self.config.round_id, logical_clock, payload });
    }

    /// Stops in `view`, which is the node's or a later one, and tells all members.
    fn wish_to_leave(&mut self, view: u64, reason: ViewChangeReason) -> Result<(), RoundStateError> {
        let now = self.outside.now_ms();
        if view > self.view {
            self.set_view(view, now)?;
        }
        self.state = RoundState::ViewChange;
        self.entries.view_change += 1;
        self.phase_start = now;
        let wish = ViewChange {
            round_id: self.config.round_id,
            view,
            current_leader: self.leader,
            reason,
            sender_id: self.config.arbiter_id,
            timestamp_logical: self.outside.logical().next()?,
            signature: [0; 64],
        };
        let wish = wish.signed_by(&self.signer)?;
        self.wishes.record(wish.sender_id, view, reason);
        self.own_wish = Some(wish.clone());
        self.send(None, RoundMessage::ViewChange(wish));
        Ok(())
    }

    /// Does what the wishes of others ask for: f + 1 of them, at least one honest, make the node join; q move it.
    ///
    /// Each step raises the view towards one that a member has named, so n steps do; the bound is for a committee of
    /// one, whose own wish is a quorum.
    pub(super) fn advance(&mut self) -> Result<(), RoundStateError> {
        for _ in 0..=self.config.committee.len() {
            if self.state == RoundState::Completed {
                break;
            }
            let due = |view: &u64| *view >= self.view;
            let left = |view: &u64| due(view) && *view < MAX_INTEGER;
            if let Some(view) = self.wishes.of_at_least(self.quorum).filter(left) {
                self.enter_view(view)?;
                continue;
            }
            let joined = |view: &u64| *view > self.view || due(view) && self.state != RoundState::ViewChange;
            let Some(view) = self.wishes.of_at_least(self.faulty + 1).filter(joined) else { break };
            let reason = self.wishes.commonest_reason(view);
            self.wish_to_leave(view, reason)?;
        }
        Ok(())
    }

    /// Goes to the view after `left` and begins it; messages that came early for it count now.
    fn enter_view(&mut self, left: u64) -> Result<(), RoundStateError> {
        let (from_view, old_leader) = (self.view, self.leader);
        let reasons = self.wishes.reasons(left);
        let now = self.outside.now_ms();
        self.set_view(left + 1, now)?;
        self.state = RoundState::CommitPhase;
        self.entries.commit += 1;
        self.phase_start = now;
        self.own_wish = None;
        let (to_view, new_leader) = (self.view, self.leader);
        self.tell(ZetaPayload::ViewChangeAccepted { from_view, to_view, old_leader, new_leader, reasons });
        self.announce_split();
        self.begin()?;
        for early in self.backlog.take(self.view) {
            // The error of an early message does not concern the member that caused the view change.
            let _ = match early {
                Early::Commit(commit) => self.take_commit(commit.sender_id, commit.commit_hash),
                Early::Reveal(reveal) => self.take_reveal(&reveal),
            };
        }
        Ok(())
    }

    fn set_view(&mut self, view: u64, now: u64) -> Result<(), RoundStateError> {
        let members = self.config.committee.keys();
        let leader = select_leader(members, &self.config.prev_merkle_root, self.config.round_id, view);
        self.leader = *leader.map_err(|_| RoundStateError::Config("the committee is empty"))?;
        self.view = view;
        self.view_start = now;
        self.own = None;
        self.ballots = Ballots::default();
        self.proven_in_view = false;
        Ok(())
    }

    /// Reports once that the committee is divided: n views have failed, and honest members may be voting on different roots.
    pub(super) fn announce_split(&mut self) {
        let failed = usize::try_from(self.view).unwrap_or(usize::MAX);
        if self.fork_told || failed < self.config.committee.len() {
            return;
        }
        let roots: BTreeSet<_> = self.roots.values().copied().collect();
        if roots.len() < 2 {
            return;
        }
        self.fork_told = true;
        let timestamp_logical = self.outside.logical().now();
        self.outside.fork(&ForkTriggerEvent {
            round_id: self.config.round_id,
            divergent_roots: roots,
            rule_version_hash: self.config.tuple.rule_version_hash,
            timestamp_logical,
        });
    }
}
