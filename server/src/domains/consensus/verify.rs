//! Replays all stored rounds to verify the database: each by itself, and their links.

use colibri_runtime::handler::Fault;

use super::rounds::Rounds;
use super::store::{Tables, each_round, each_time};
use colibri_consensus::finality::FinalityLevel;
use colibri_consensus::replay::replay;
use colibri_store::db::Db;

/// An inconsistency that the service cannot have left in the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatched {
    /// Its kind.
    pub code: &'static str,
    /// Table and key.
    pub subject: String,
    /// The mismatch.
    pub what: String,
}

/// Replays all rounds and returns their number. `take` receives each round and each mismatch in it.
///
/// # Errors
/// The engine's error, and what `take` fails with.
pub fn verify_rounds<E: From<Fault>>(
    db: &Db,
    mut take: impl FnMut(Option<Mismatched>) -> Result<(), E>,
) -> Result<i64, E> {
    let mut rounds = 0_i64;
    let mut last_root = vec![0; 32];
    each_round(db, |round_id| -> Result<(), E> {
        rounds += 1;
        let expected = rounds;
        let subject = format!("mcp_consensus_rounds {round_id}");
        let found = |code, what: String| Some(Mismatched { code, subject: subject.clone(), what });
        if round_id != expected {
            take(found("ROUND_GAP", format!("it should be round {expected}")))?;
        }
        let stored = match Tables(db).load(round_id) {
            Ok(Some(stored)) => stored,
            Ok(None) => return take(found("ROUND_CORRUPT", "the round cannot be found again".to_owned())),
            Err(fault) => return take(found("ROUND_CORRUPT", fault.to_string())),
        };
        if stored.round.prev_merkle_root != last_root {
            let what = "its previous root is not that of the last agreed round before it".to_owned();
            take(found("ROUND_LINK", what))?;
        }
        match replay(&stored) {
            Ok(history) => {
                if history.level() >= FinalityLevel::Quorum {
                    last_root = stored.round.merkle_root;
                }
                take(None)
            }
            Err(what) => take(found("ROUND_CORRUPT", what)),
        }
    })?;
    times(db, take)?;
    Ok(rounds)
}

/// Checks that votes are numbered without gaps, and that each is signed later than all before it.
fn times<E: From<Fault>>(
    db: &Db,
    mut take: impl FnMut(Option<Mismatched>) -> Result<(), E>,
) -> Result<(), E> {
    let (mut votes, mut last_time) = (0, 0);
    each_time(db, |seq, time| -> Result<(), E> {
        votes += 1;
        let subject = format!("mcp_consensus_votes {seq}");
        if seq != votes {
            let what = format!("it should be vote {votes}");
            take(Some(Mismatched { code: "VOTE_GAP", subject: subject.clone(), what }))?;
        }
        if time <= last_time {
            let what =
                format!("its logical time {time} is not later than {last_time}, that of the vote before");
            take(Some(Mismatched { code: "VOTE_TIME", subject, what }))?;
        }
        last_time = last_time.max(time);
        Ok(())
    })
}
