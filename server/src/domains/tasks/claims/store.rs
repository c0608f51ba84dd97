//! The claims' SQL.

use std::collections::HashMap;

use colibri_runtime::handler::Fault;

use crate::domains::tasks::history::{CLAIM_COLUMNS, read_claim};
use crate::domains::tasks::input::ClaimWish;
use crate::domains::tasks::rules::{Claim, Time};
use crate::domains::tasks::store::{Listed, Query, claimable, first_claimable, ids_of};
use colibri_store::db::{Bind, Db};
use colibri_store::params;
use colibri_store::walk::Stop;

/// Stores a task's newest claim.
pub(super) fn put(db: &Db, task_id: &str, claim: &Claim) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO task_claims (task_id, claim_no, agent_id, caller_no, claimed_at, lease_until, released_at, \
         sequence_no) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (task_id) DO UPDATE SET claim_no = ?2, \
         agent_id = ?3, caller_no = ?4, claimed_at = ?5, lease_until = ?6, released_at = ?7, sequence_no = ?8",
        params![
            task_id,
            claim.no,
            claim.agent_id,
            claim.caller_no,
            claim.claimed_at,
            claim.lease_until,
            claim.released_at,
            claim.sequence_no,
        ],
    )?;
    Ok(())
}

/// Ends a task's claim.
pub(super) fn end(db: &Db, task_id: &str, at: &str, sequence_no: i64) -> Result<(), Fault> {
    let sql = "UPDATE task_claims SET released_at = ?2, sequence_no = ?3 WHERE task_id = ?1";
    db.execute(sql, params![task_id, at, sequence_no])
}

/// Returns the latest time by which a claim was judged.
///
/// # Errors
/// The engine's error.
pub(crate) fn clock(db: &Db) -> Result<Option<String>, Fault> {
    db.query_opt("SELECT latest FROM claim_clock WHERE id = 1", &[], |row| row.get(0))
}

/// Returns all rows of the clock, of which there may be one only.
///
/// # Errors
/// The engine's error.
pub(crate) fn clocks(db: &Db) -> Result<Vec<(i64, String)>, Fault> {
    db.query_all("SELECT id, latest FROM claim_clock", &[], |row| Ok((row.get(0)?, row.get(1)?)))
}

pub(super) fn set_clock(db: &Db, latest: &str) -> Result<(), Fault> {
    let sql =
        "INSERT INTO claim_clock (id, latest) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET latest = ?1";
    db.execute(sql, params![latest])
}

/// Returns the most urgent task that is free for an agent.
pub(super) fn first_free(db: &Db, wish: &ClaimWish, time: Time) -> Result<Option<String>, Fault> {
    let bounds = time.live_between();
    let query = first_claimable(wish, &bounds);
    db.query_opt(&query.sql, &query.params, |row| row.get(0))
}

/// Returns when the first claim on an otherwise free task ends.
pub(super) fn first_end(db: &Db, wish: &ClaimWish, time: Time) -> Result<Option<String>, Fault> {
    let bounds = time.live_between();
    let query = first_end_query(wish, &bounds);
    db.query_one(&query.sql, &query.params, |row| row.get(0))
}

/// Selects the first end of a live claim among the open tasks.
pub(in crate::domains::tasks) fn first_end_query<'a>(
    wish: &'a ClaimWish,
    [after, last]: &'a [String; 2],
) -> Query<'a> {
    let Query { sql, mut params } = claimable(wish);
    params.extend([after.bind(), last.bind()]);
    let sql = format!(
        "SELECT min(c.lease_until) FROM task_claims AS c JOIN tasks AS t ON t.id = c.task_id \
         WHERE c.released_at IS NULL AND c.lease_until > ?{} AND c.lease_until <= ?{} AND {sql}",
        params.len() - 1,
        params.len(),
    );
    Query { sql, params }
}

/// Returns the unreleased claims of these tasks, by task.
pub(super) fn unreleased<T: Listed>(db: &Db, tasks: &[T]) -> Result<HashMap<String, Claim>, Fault> {
    let (place, ids) = match tasks {
        [] => return Ok(HashMap::new()),
        [task] => ("= ?1", task.id().to_owned()),
        _ => ("IN (SELECT value FROM json_each(?1))", ids_of(tasks)?),
    };
    let sql = format!(
        "SELECT c.task_id, {CLAIM_COLUMNS} FROM task_claims AS c WHERE c.released_at IS NULL AND c.task_id {place}"
    );
    let claims: Vec<(String, Option<Claim>)> =
        db.query_all(&sql, params![ids], |row| Ok((row.get(0)?, read_claim(row, 1)?)))?;
    Ok(claims.into_iter().filter_map(|(id, claim)| Some((id, claim?))).collect())
}

/// Returns how many tasks were ever claimed.
///
/// # Errors
/// The engine's error.
pub(crate) fn count_claims(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT count(*) FROM task_claims", &[], |row| row.get(0))
}

/// Hands over the claims of tasks whose history tells of none.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub(crate) fn each_stray(db: &Db, mut take: impl FnMut(String) -> Result<(), Stop>) -> Result<(), Stop> {
    let sql = "SELECT task_id FROM task_claims AS c WHERE NOT EXISTS \
               (SELECT 1 FROM task_events AS e WHERE e.task_id = c.task_id AND e.claim_no IS NOT NULL)";
    db.walk(sql, &[], |row| {
        take(row.get(0).map_err(Fault::from)?)?;
        Ok(true)
    })
}
