//! Consensus's SQL: rows in, rows out. `service.rs` decides what may be written.

use colibri_runtime::handler::Fault;

use super::rounds::{Rounds, number_after};
use colibri_consensus::stored::{
    EquivocationRow, Mark, MemberRow, RoundRow, StoredRound, TransitionRow, VoteChange, VoteRow,
};
use colibri_store::db::{Db, Row, RowError};
use colibri_store::params;

const ROUND: &str = "round_id, merkle_root, rule_version_hash, prev_merkle_root, leader, n_arbiters, \
    dispute_window_epochs, epoch, level, sequence_no";

const VOTE: &str = "seq, sender_id, public_key, merkle_root, rule_version_hash, vote_type, timestamp_logical, \
    signature, origin, epoch, sequence_no";

/// The tables, inside the chain's transaction.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'a>(pub &'a Db);

impl Rounds for Tables<'_> {
    fn mark(&self, round_id: i64) -> Result<Option<Mark>, Fault> {
        let round = self.0.query_opt(
            "SELECT epoch, level FROM mcp_consensus_rounds WHERE round_id = ?1",
            params![round_id],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let Some((epoch, level)) = round else { return Ok(None) };
        let last_vote = self.0.query_opt(
            "SELECT seq, signature FROM mcp_consensus_votes WHERE round_id = ?1 ORDER BY seq DESC LIMIT 1",
            params![round_id],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(Some(Mark { epoch, level, last_vote }))
    }

    fn load(&self, round_id: i64) -> Result<Option<StoredRound>, Fault> {
        let sql = format!("SELECT {ROUND} FROM mcp_consensus_rounds WHERE round_id = ?1");
        let Some(round) = self.0.query_opt(&sql, params![round_id], read_round)? else { return Ok(None) };
        let votes = format!("SELECT {VOTE} FROM mcp_consensus_votes WHERE round_id = ?1 ORDER BY seq");
        Ok(Some(StoredRound {
            round,
            committee: committee(self.0, round_id)?,
            votes: self.0.query_all(&votes, params![round_id], read_vote)?,
            transitions: transitions(self.0, round_id)?,
            equivocations: equivocations(self.0, round_id)?,
        }))
    }

    fn last_agreed_root(&self) -> Result<Option<Vec<u8>>, Fault> {
        self.0.query_opt(
            "SELECT merkle_root FROM mcp_consensus_rounds \
             WHERE level IN ('QUORUM', 'HARD', 'ABSOLUTE') ORDER BY round_id DESC LIMIT 1",
            &[],
            |row| row.get(0),
        )
    }

    /// Returns the last vote's time. It is the largest, because each vote is signed later than all stored ones.
    fn last_time(&self) -> Result<i64, Fault> {
        let sql = "SELECT timestamp_logical FROM mcp_consensus_votes ORDER BY seq DESC LIMIT 1";
        Ok(self.0.query_opt(sql, &[], |row| row.get(0))?.unwrap_or(0))
    }

    fn next_round_id(&self) -> Result<i64, Fault> {
        next(self.0, "SELECT max(round_id) FROM mcp_consensus_rounds")
    }

    fn next_vote_seq(&self) -> Result<i64, Fault> {
        next(self.0, "SELECT max(seq) FROM mcp_consensus_votes")
    }

    fn add_round(&mut self, stored: StoredRound) -> Result<(), Fault> {
        let (db, round) = (self.0, &stored.round);
        let sql = format!(
            "INSERT INTO mcp_consensus_rounds ({ROUND}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        );
        db.execute(
            &sql,
            params![
                round.round_id,
                round.merkle_root,
                round.rule_version_hash,
                round.prev_merkle_root,
                round.leader,
                round.n_arbiters,
                round.dispute_window_epochs,
                round.epoch,
                round.level,
                round.sequence_no,
            ],
        )?;
        for member in &stored.committee {
            db.execute(
                "INSERT INTO mcp_consensus_committee (round_id, position, sender_id, public_key) \
                 VALUES (?1, ?2, ?3, ?4)",
                params![round.round_id, member.position, member.sender_id, member.public_key],
            )?;
        }
        for vote in &stored.votes {
            insert_vote(db, round.round_id, vote)?;
        }
        insert_transitions(db, round.round_id, &stored.transitions)
    }

    fn add_vote(&mut self, change: VoteChange) -> Result<(), Fault> {
        let db = self.0;
        insert_vote(db, change.round_id, &change.vote)?;
        insert_transitions(db, change.round_id, &change.transitions)?;
        if let Some(row) = &change.equivocation {
            insert_equivocation(db, change.round_id, row)?;
        }
        db.execute(
            "UPDATE mcp_consensus_rounds SET epoch = ?2, level = ?3 WHERE round_id = ?1",
            params![change.round_id, change.epoch, change.level],
        )?;
        Ok(())
    }
}

/// Hands over the ids of all rounds in ascending order.
///
/// # Errors
/// The engine's error, and what `take` fails with.
pub fn each_round<E: From<Fault>>(db: &Db, mut take: impl FnMut(i64) -> Result<(), E>) -> Result<(), E> {
    db.walk("SELECT round_id FROM mcp_consensus_rounds ORDER BY round_id", &[], |row| {
        take(row.get(0).map_err(Fault::from)?)?;
        Ok(true)
    })
}

/// Hands over number and logical time of all votes, in the order of their numbers.
///
/// # Errors
/// The engine's error, and what `take` fails with.
pub fn each_time<E: From<Fault>>(db: &Db, mut take: impl FnMut(i64, i64) -> Result<(), E>) -> Result<(), E> {
    db.walk("SELECT seq, timestamp_logical FROM mcp_consensus_votes ORDER BY seq", &[], |row| {
        let read = |index| row.get(index).map_err(Fault::from);
        take(read(0)?, read(1)?)?;
        Ok(true)
    })
}

/// Returns the number after the one that `sql` selects. Rows cannot be deleted, so the number was never used.
fn next(db: &Db, sql: &str) -> Result<i64, Fault> {
    let last: Option<i64> = db.query_one(sql, &[], |row| row.get(0))?;
    number_after(last.unwrap_or(0))
}

fn committee(db: &Db, round_id: i64) -> Result<Vec<MemberRow>, Fault> {
    let sql = "SELECT position, sender_id, public_key FROM mcp_consensus_committee \
               WHERE round_id = ?1 ORDER BY position";
    db.query_all(sql, params![round_id], |row| {
        Ok(MemberRow { position: row.get(0)?, sender_id: row.get(1)?, public_key: row.get(2)? })
    })
}

fn transitions(db: &Db, round_id: i64) -> Result<Vec<TransitionRow>, Fault> {
    let sql = "SELECT ordinal, from_level, to_level, epoch, evidence FROM mcp_consensus_transitions \
               WHERE round_id = ?1 ORDER BY ordinal";
    db.query_all(sql, params![round_id], |row| {
        Ok(TransitionRow {
            ordinal: row.get(0)?,
            from_level: row.get(1)?,
            to_level: row.get(2)?,
            epoch: row.get(3)?,
            evidence: row.get(4)?,
        })
    })
}

fn equivocations(db: &Db, round_id: i64) -> Result<Vec<EquivocationRow>, Fault> {
    let sql = "SELECT evidence_hash, sender_id, vote_a_seq, vote_b_seq, trigger_seq, finality_level, slash_status \
               FROM mcp_consensus_equivocations WHERE round_id = ?1 ORDER BY trigger_seq";
    db.query_all(sql, params![round_id], |row| {
        Ok(EquivocationRow {
            evidence_hash: row.get(0)?,
            sender_id: row.get(1)?,
            vote_a_seq: row.get(2)?,
            vote_b_seq: row.get(3)?,
            trigger_seq: row.get(4)?,
            finality_level: row.get(5)?,
            slash_status: row.get(6)?,
        })
    })
}

fn insert_vote(db: &Db, round_id: i64, vote: &VoteRow) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO mcp_consensus_votes (round_id, {VOTE}) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    );
    db.execute(
        &sql,
        params![
            round_id,
            vote.seq,
            vote.sender_id,
            vote.public_key,
            vote.merkle_root,
            vote.rule_version_hash,
            vote.vote_type,
            vote.timestamp_logical,
            vote.signature,
            vote.origin,
            vote.epoch,
            vote.sequence_no,
        ],
    )?;
    Ok(())
}

fn insert_transitions(db: &Db, round_id: i64, rows: &[TransitionRow]) -> Result<(), Fault> {
    for row in rows {
        db.execute(
            "INSERT INTO mcp_consensus_transitions (round_id, ordinal, from_level, to_level, epoch, evidence) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![round_id, row.ordinal, row.from_level, row.to_level, row.epoch, row.evidence],
        )?;
    }
    Ok(())
}

fn insert_equivocation(db: &Db, round_id: i64, row: &EquivocationRow) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO mcp_consensus_equivocations (evidence_hash, round_id, sender_id, vote_a_seq, vote_b_seq, \
         trigger_seq, finality_level, slash_status) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            row.evidence_hash,
            round_id,
            row.sender_id,
            row.vote_a_seq,
            row.vote_b_seq,
            row.trigger_seq,
            row.finality_level,
            row.slash_status,
        ],
    )?;
    Ok(())
}

fn read_round(row: &Row<'_>) -> Result<RoundRow, RowError> {
    Ok(RoundRow {
        round_id: row.get(0)?,
        merkle_root: row.get(1)?,
        rule_version_hash: row.get(2)?,
        prev_merkle_root: row.get(3)?,
        leader: row.get(4)?,
        n_arbiters: row.get(5)?,
        dispute_window_epochs: row.get(6)?,
        epoch: row.get(7)?,
        level: row.get(8)?,
        sequence_no: row.get(9)?,
    })
}

fn read_vote(row: &Row<'_>) -> Result<VoteRow, RowError> {
    Ok(VoteRow {
        seq: row.get(0)?,
        sender_id: row.get(1)?,
        public_key: row.get(2)?,
        merkle_root: row.get(3)?,
        rule_version_hash: row.get(4)?,
        vote_type: row.get(5)?,
        timestamp_logical: row.get(6)?,
        signature: row.get(7)?,
        origin: row.get(8)?,
        epoch: row.get(9)?,
        sequence_no: row.get(10)?,
    })
}
