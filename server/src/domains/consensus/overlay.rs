//! Rounds in memory above a read-only database (consensus#modes). Stored rounds can be read and voted on, new ones
//! get ids above the stored ones, and nothing outlives the process.

use std::collections::BTreeMap;

use colibri_runtime::handler::Fault;

use super::rounds::{Rounds, number_after};
use colibri_consensus::finality::FinalityLevel;
use colibri_consensus::stored::{Mark, StoredRound, VoteChange};

/// The complete rounds that this process made or voted on.
#[derive(Debug, Default)]
pub struct Memory {
    rounds: BTreeMap<i64, StoredRound>,
    last_seq: i64,
    last_time: i64,
}

/// A store of rounds that leaves the one below unchanged. A round that received a vote here keeps its state, even if
/// another process continues the stored one.
#[derive(Debug)]
pub struct Overlay<'a, B> {
    /// The read-only store.
    pub below: B,
    /// The rounds in memory.
    pub memory: &'a mut Memory,
}

impl<B: Rounds> Rounds for Overlay<'_, B> {
    fn mark(&self, round_id: i64) -> Result<Option<Mark>, Fault> {
        match self.memory.rounds.get(&round_id) {
            Some(round) => Ok(Some(round.mark())),
            None => self.below.mark(round_id),
        }
    }

    fn load(&self, round_id: i64) -> Result<Option<StoredRound>, Fault> {
        match self.memory.rounds.get(&round_id) {
            Some(round) => Ok(Some(round.clone())),
            None => self.below.load(round_id),
        }
    }

    fn last_agreed_root(&self) -> Result<Option<Vec<u8>>, Fault> {
        let agreed = |round: &&StoredRound| {
            FinalityLevel::parse(&round.round.level).is_some_and(|level| level >= FinalityLevel::Quorum)
        };
        match self.memory.rounds.values().rev().find(agreed) {
            Some(round) => Ok(Some(round.round.merkle_root.clone())),
            None => self.below.last_agreed_root(),
        }
    }

    fn last_time(&self) -> Result<i64, Fault> {
        Ok(self.below.last_time()?.max(self.memory.last_time))
    }

    fn next_round_id(&self) -> Result<i64, Fault> {
        let after = self.memory.rounds.keys().next_back().map_or(Ok(1), |&last| number_after(last))?;
        Ok(self.below.next_round_id()?.max(after))
    }

    fn next_vote_seq(&self) -> Result<i64, Fault> {
        Ok(self.below.next_vote_seq()?.max(number_after(self.memory.last_seq)?))
    }

    fn add_round(&mut self, round: StoredRound) -> Result<(), Fault> {
        for vote in &round.votes {
            self.memory.last_seq = self.memory.last_seq.max(vote.seq);
            self.memory.last_time = self.memory.last_time.max(vote.timestamp_logical);
        }
        self.memory.rounds.insert(round.round.round_id, round);
        Ok(())
    }

    fn add_vote(&mut self, change: VoteChange) -> Result<(), Fault> {
        let Some(mut round) = self.load(change.round_id)? else {
            return Err(Fault::Other(format!("round {} is gone", change.round_id)));
        };
        round.round.epoch = change.epoch;
        round.round.level = change.level;
        round.votes.push(change.vote);
        round.transitions.extend(change.transitions);
        round.equivocations.extend(change.equivocation);
        self.add_round(round)
    }
}
