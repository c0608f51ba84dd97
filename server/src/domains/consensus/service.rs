//! The committee of one arbiter that the tools use (consensus#persistence, consensus#propose-and-vote). The same
//! state machines run for any committee; the threshold makes one vote a quorum here.

use colibri_runtime::handler::Fault;
use zeroize::Zeroizing;

use super::errors::Refusal;
use super::rounds::{Rounds, number_after};
use colibri_consensus::cache::Cache;
use colibri_consensus::canonical::{Hash, SALT_LEN};
use colibri_consensus::clock::LogicalClock;
use colibri_consensus::finality::{DISPUTE_WINDOW_EPOCHS_DEFAULT, FinalityLevel, Transition};
use colibri_consensus::history::{CastVote, Change, History, Origin};
use colibri_consensus::identity::SenderId;
use colibri_consensus::leader::select_leader;
use colibri_consensus::messages::{SignedMessage, Vote, VoteGroup, VoteType};
use colibri_consensus::replay::replay;
use colibri_consensus::round::{Round, RoundConfig, RoundState, Surroundings, committee_of};
use colibri_consensus::signing::{Ed25519Signer, Signer, StrictEd25519};
use colibri_consensus::stored::{
    EquivocationRow, Mark, MemberRow, RoundRow, StoredRound, TransitionRow, VoteChange, VoteRow, integer,
};

/// State between calls besides the rows: logical time, and rounds that were already played.
#[derive(Debug, Default)]
pub struct Service {
    clock: LogicalClock,
    cache: Cache,
}

/// Values that a proposal takes from its caller.
pub struct Proposal<'a> {
    /// The proposed root.
    pub merkle_root: Hash,
    /// The rules under which it was made.
    pub rule_version_hash: Hash,
    /// The arbiter.
    pub signer: &'a Ed25519Signer,
    /// Hides the vote until it is revealed.
    pub salt: Zeroizing<[u8; SALT_LEN]>,
    /// Wall clock, in milliseconds.
    pub now_ms: u64,
    /// The call's number in the log.
    pub sequence_no: Option<i64>,
}

/// A vote before its signature.
pub struct Ballot<'a> {
    /// The round.
    pub round_id: i64,
    /// The root that the vote is about.
    pub merkle_root: Hash,
    /// The rules under which it was made.
    pub rule_version_hash: Hash,
    /// The kind of vote.
    pub vote_type: VoteType,
    /// The voter.
    pub signer: &'a Ed25519Signer,
    /// The call's number in the log.
    pub sequence_no: Option<i64>,
}

impl Service {
    /// Reloads what the rolled-back rows changed. Logical times that were taken stay taken.
    pub fn rolled_back(&mut self) {
        self.cache.forget_changed();
    }

    /// Opens a round in which the arbiter accepts its own proposal (consensus#propose-and-vote). Returns its id and
    /// level.
    ///
    /// # Errors
    /// [`Refusal::ClockExhausted`], [`Refusal::Fault`].
    pub fn propose(
        &mut self,
        rounds: &mut dyn Rounds,
        proposal: &Proposal<'_>,
    ) -> Result<(i64, FinalityLevel), Refusal> {
        let round_id = rounds.next_round_id()?;
        let prev_merkle_root = prev_root(rounds)?;
        self.clock.observe(time(rounds.last_time()?));
        let votes = self.agree(round_id, prev_merkle_root, proposal)?;
        let arbiter = proposal.signer.sender_id();
        let mut history = History::new(time(round_id), &[arbiter], DISPUTE_WINDOW_EPOCHS_DEFAULT)
            .map_err(|error| defect(&error))?;
        let mut rows = Vec::new();
        for vote in votes {
            let seq =
                rows.last().map_or_else(|| rounds.next_vote_seq(), |row: &VoteRow| number_after(row.seq))?;
            let cast = CastVote { seq, origin: Origin::Propose, vote };
            let change = history.take(&cast).map_err(|error| defect(&error))?;
            rows.push(vote_row(&cast, proposal.signer, &change, proposal.sequence_no));
        }
        let stored = StoredRound {
            round: RoundRow {
                round_id,
                merkle_root: proposal.merkle_root.to_vec(),
                rule_version_hash: proposal.rule_version_hash.to_vec(),
                prev_merkle_root: prev_merkle_root.to_vec(),
                leader: arbiter.to_string(),
                n_arbiters: 1,
                dispute_window_epochs: integer(DISPUTE_WINDOW_EPOCHS_DEFAULT),
                epoch: integer(history.epoch()),
                level: history.level().as_str().to_owned(),
                sequence_no: proposal.sequence_no,
            },
            committee: vec![MemberRow {
                position: 0,
                sender_id: arbiter.to_string(),
                public_key: proposal.signer.public_key().to_vec(),
            }],
            votes: rows,
            transitions: transition_rows(0, history.transitions()),
            equivocations: Vec::new(),
        };
        let (mark, level) = (stored.mark(), history.level());
        rounds.add_round(stored)?;
        self.cache.put_changed(round_id, mark, history);
        Ok((round_id, level))
    }

    /// Makes the votes by which the committee agrees on a proposal.
    fn agree(
        &mut self,
        round_id: i64,
        prev_merkle_root: Hash,
        proposal: &Proposal<'_>,
    ) -> Result<Vec<Vote>, Refusal> {
        let arbiter = proposal.signer.sender_id();
        let round_id = time(round_id);
        let leader = select_leader([&arbiter], &prev_merkle_root, round_id, 0);
        let config = RoundConfig {
            round_id,
            committee: committee_of(&[proposal.signer.public_key()]),
            arbiter_id: arbiter,
            leader: *leader.map_err(|error| defect(&error))?,
            prev_merkle_root,
            tuple: VoteGroup {
                round_id,
                merkle_root: proposal.merkle_root,
                rule_version_hash: proposal.rule_version_hash,
            },
            vote_type: VoteType::Accept,
        };
        let outside = Outside { clock: &mut self.clock, salt: &proposal.salt, now_ms: proposal.now_ms };
        let mut round = Round::new(config, proposal.signer, StrictEd25519, outside)?;
        round.begin()?;
        round.tick()?;
        match (round.state(), round.outcome()) {
            (RoundState::Completed, Some(outcome)) => Ok(outcome.votes.clone()),
            (state, _) => Err(Fault::Other(format!("the round stopped in {state}")).into()),
        }
    }

    /// Signs a vote and stores it (consensus#propose-and-vote, from step 3 on). Returns the vote, its number, and whether it counts.
    ///
    /// # Errors
    /// [`Refusal::RoundNotFound`], [`Refusal::AlreadyVoted`], [`Refusal::Corrupt`], [`Refusal::ClockExhausted`],
    /// [`Refusal::Fault`].
    pub fn vote(
        &mut self,
        rounds: &mut dyn Rounds,
        ballot: &Ballot<'_>,
    ) -> Result<(i64, Vote, bool), Refusal> {
        let round_id = ballot.round_id;
        let (mark, mut history) = self.history(rounds, round_id)?;
        let sender_id = ballot.signer.sender_id();
        let group = VoteGroup {
            round_id: time(round_id),
            merkle_root: ballot.merkle_root,
            rule_version_hash: ballot.rule_version_hash,
        };
        if history.has_voted(&sender_id, &group) {
            self.cache.put(round_id, mark, history);
            return Err(Refusal::AlreadyVoted { sender_id: sender_id.to_string(), group: group.to_string() });
        }
        self.clock.observe(time(rounds.last_time()?));
        let vote = signed(group, ballot, sender_id, self.clock.next()?)?;
        let cast = CastVote { seq: rounds.next_vote_seq()?, origin: Origin::Vote, vote };
        let before = history.transitions().len();
        let change = history.take(&cast).map_err(|error| defect(&error))?;
        let row = vote_row(&cast, ballot.signer, &change, ballot.sequence_no);
        let (epoch, level) = (integer(history.epoch()), history.level().as_str().to_owned());
        let mark = Mark { epoch, level: level.clone(), last_vote: Some((cast.seq, row.signature.clone())) };
        rounds.add_vote(VoteChange {
            round_id,
            vote: row,
            epoch,
            level,
            transitions: transition_rows(before, &change.transitions),
            equivocation: change.proven.as_ref().map(EquivocationRow::of),
        })?;
        let counts = history.counts(&sender_id);
        self.cache.put_changed(round_id, mark, history);
        Ok((cast.seq, cast.vote, counts))
    }

    /// Returns a round's level and the evidence of its last step.
    ///
    /// # Errors
    /// [`Refusal::RoundNotFound`], [`Refusal::Corrupt`], [`Refusal::Fault`].
    pub fn finality(
        &mut self,
        rounds: &mut dyn Rounds,
        round_id: i64,
    ) -> Result<(FinalityLevel, Option<Vec<u8>>), Refusal> {
        let (mark, history) = self.history(rounds, round_id)?;
        let evidence = history.transitions().last().map(|step| step.evidence.clone());
        let level = history.level();
        self.cache.put(round_id, mark, history);
        Ok((level, evidence))
    }

    /// Returns a stored round, replayed unless its rows are unchanged. It leaves the cache meanwhile, so a failure
    /// leaves no half of a change there.
    fn history(&mut self, rounds: &dyn Rounds, round_id: i64) -> Result<(Mark, History), Refusal> {
        let not_found = || Refusal::RoundNotFound(round_id.to_string());
        let mark = rounds.mark(round_id)?.ok_or_else(not_found)?;
        if let Some(history) = self.cache.take(round_id, &mark) {
            return Ok((mark, history));
        }
        let stored = rounds.load(round_id)?.ok_or_else(not_found)?;
        let history = replay(&stored).map_err(|what| Refusal::Corrupt(round_id, what))?;
        Ok((stored.mark(), history))
    }
}

/// Returns the root that selects the next leader: zeros before the first round.
fn prev_root(rounds: &dyn Rounds) -> Result<Hash, Fault> {
    let root = rounds.last_agreed_root()?.unwrap_or_else(|| vec![0; 32]);
    root.try_into().map_err(|_| Fault::Storage("a stored value has an unexpected type".to_owned()))
}

/// Signs the vote. A vote that does not verify is never returned.
fn signed(
    group: VoteGroup,
    ballot: &Ballot<'_>,
    sender_id: SenderId,
    timestamp_logical: u64,
) -> Result<Vote, Refusal> {
    let vote = Vote {
        round_id: group.round_id,
        merkle_root: group.merkle_root,
        rule_version_hash: group.rule_version_hash,
        sender_id,
        vote_type: ballot.vote_type,
        timestamp_logical,
        signature: [0; 64],
    };
    let vote = vote.signed_by(ballot.signer).map_err(|error| defect(&error))?;
    if !vote.is_signed_by(&ballot.signer.public_key(), &StrictEd25519) {
        return Err(Fault::Other("the vote's own signature does not verify".to_owned()).into());
    }
    Ok(vote)
}

fn vote_row(cast: &CastVote, signer: &Ed25519Signer, change: &Change, sequence_no: Option<i64>) -> VoteRow {
    let vote = &cast.vote;
    VoteRow {
        seq: cast.seq,
        sender_id: vote.sender_id.to_string(),
        public_key: signer.public_key().to_vec(),
        merkle_root: vote.merkle_root.to_vec(),
        rule_version_hash: vote.rule_version_hash.to_vec(),
        vote_type: vote.vote_type.as_str().to_owned(),
        timestamp_logical: integer(vote.timestamp_logical),
        signature: vote.signature.to_vec(),
        origin: cast.origin.as_str().to_owned(),
        epoch: change.epoch.map(integer),
        sequence_no,
    }
}

/// Returns the rows of steps; the first one has ordinal `from`.
fn transition_rows(from: usize, steps: &[Transition]) -> Vec<TransitionRow> {
    let numbered = steps.iter().enumerate();
    numbered.map(|(index, step)| TransitionRow::of(from.saturating_add(index), step)).collect()
}

/// Converts a stored integer for the engines. The tables hold only non-negative ones.
fn time(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Converts an error that the state machines cannot cause here.
fn defect(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::Fault(Fault::Other(format!("consensus: {error}")))
}

/// The surroundings of a committee of one. It sends nothing and has no listeners: the log already holds every call.
struct Outside<'a> {
    clock: &'a mut LogicalClock,
    salt: &'a [u8; SALT_LEN],
    now_ms: u64,
}

impl Surroundings for Outside<'_> {
    fn now_ms(&mut self) -> u64 {
        self.now_ms
    }

    fn salt(&mut self) -> [u8; SALT_LEN] {
        *self.salt
    }

    fn logical(&mut self) -> &mut LogicalClock {
        self.clock
    }
}
