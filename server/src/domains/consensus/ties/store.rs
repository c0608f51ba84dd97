//! The SQL of verification: rounds and votes with the calls they name.

use colibri_runtime::handler::Fault;

use crate::domains::ties::Place;
use colibri_store::db::Db;
use colibri_store::params;
use colibri_store::walk::Stop;

/// Hands over id, level and call of each round, in the order of their ids.
pub(super) fn each_round(
    db: &Db,
    mut take: impl FnMut(i64, &str, Option<i64>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let sql = "SELECT round_id, level, sequence_no FROM mcp_consensus_rounds ORDER BY round_id";
    db.walk(sql, &[], |row| {
        let level: String = row.get(1).map_err(Fault::from)?;
        take(row.get(0).map_err(Fault::from)?, &level, row.get(2).map_err(Fault::from)?)?;
        Ok(true)
    })
}

/// Hands over number, signature and call of each vote that a caller requested, in the order of their numbers.
pub(super) fn each_vote(
    db: &Db,
    mut take: impl FnMut(i64, &[u8], Option<i64>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let sql =
        "SELECT seq, signature, sequence_no FROM mcp_consensus_votes WHERE origin = 'VOTE' ORDER BY seq";
    db.walk(sql, &[], |row| {
        let signature: Vec<u8> = row.get(1).map_err(Fault::from)?;
        take(row.get(0).map_err(Fault::from)?, &signature, row.get(2).map_err(Fault::from)?)?;
        Ok(true)
    })
}

/// Returns the call that a round names.
pub(super) fn round_place(db: &Db, key: &str) -> Result<Option<Place>, Fault> {
    place(db, "SELECT sequence_no FROM mcp_consensus_rounds WHERE round_id = ?1", key)
}

/// Returns the call that a vote names, if a caller requested the vote.
pub(super) fn vote_place(db: &Db, key: &str) -> Result<Option<Place>, Fault> {
    place(db, "SELECT sequence_no FROM mcp_consensus_votes WHERE seq = ?1 AND origin = 'VOTE'", key)
}

fn place(db: &Db, sql: &str, key: &str) -> Result<Option<Place>, Fault> {
    // No number is written in another way.
    let Ok(number) = key.parse::<i64>() else { return Ok(None) };
    db.query_opt(sql, params![number], |row| Ok(Place { number: None, sequence_no: row.get(0)? }))
}
