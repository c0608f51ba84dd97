//! The SQL of experience tokens and their witnesses.

use colibri_runtime::handler::Fault;
use rusqlite::{Params, Row, params};

use super::super::domain::Domain;
use super::super::tokens::{Level, Token, Witness};
use crate::store::db::{Db, storage};

/// Writes a token.
pub(super) fn insert(db: &Db, token: &Token) -> Result<(), Fault> {
    let witnesses = serde_json::Value::from(token.witnesses.clone()).to_string();
    db.execute(
        "INSERT INTO experience_tokens (id, node_id, level, domain, scenario, counterparty, action, outcome_class, \
         outcome_delta, witnesses, created_at, promoted_from, feature_hash) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            token.id,
            token.node_id,
            token.level.as_str(),
            token.domain.as_str(),
            token.scenario,
            token.counterparty,
            token.action,
            token.outcome_class,
            token.outcome_delta,
            witnesses,
            token.created_at,
            token.promoted_from,
            token.feature_hash,
        ],
    )
    .map(drop)
}

/// Writes a witness of a token.
pub(super) fn insert_witness(
    db: &Db,
    witness: &Witness,
    token: &Token,
    weight_cap: i64,
) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO mcp_witnesses (witness_id, agent_id, token_id, domain, reputation_bps, weight_cap, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            witness.witness_id,
            witness.agent_id,
            token.id,
            token.domain.as_str(),
            witness.reputation_bps,
            weight_cap,
            token.created_at,
        ],
    )
    .map(drop)
}

/// Returns the tokens promoted from another.
pub(super) fn promoted_from(db: &Db, id: &str) -> Result<Vec<Token>, Fault> {
    tokens(db, "WHERE promoted_from = ?1 ORDER BY id", [id])
}

/// Returns a node's tokens of a domain and level, ordered by id, and so by time.
///
/// # Errors
/// [`Fault::Storage`]; [`Fault::Other`] for a row that no promotion writes.
pub fn tokens_of(db: &Db, node_id: &str, domain: Domain, level: Level) -> Result<Vec<Token>, Fault> {
    let rest = "WHERE node_id = ?1 AND domain = ?2 AND level = ?3 ORDER BY id";
    tokens(db, rest, params![node_id, domain.as_str(), level.as_str()])
}

/// Returns the witnesses of a token, by id.
///
/// # Errors
/// [`Fault::Storage`].
pub fn witnesses_of(db: &Db, token_id: &str) -> Result<Vec<Witness>, Fault> {
    let sql = "SELECT witness_id, agent_id, reputation_bps FROM mcp_witnesses WHERE token_id = ?1 ORDER BY witness_id";
    db.query_all(sql, [token_id], |row| {
        Ok(Witness { witness_id: row.get(0)?, agent_id: row.get(1)?, reputation_bps: row.get(2)? })
    })
}

fn tokens(db: &Db, rest: &str, params: impl Params) -> Result<Vec<Token>, Fault> {
    let sql = format!(
        "SELECT id, node_id, level, domain, scenario, counterparty, action, outcome_class, outcome_delta, witnesses, \
         created_at, promoted_from, feature_hash FROM experience_tokens {rest}"
    );
    let mut found = Vec::new();
    db.walk(&sql, params, |row| {
        found.push(read(row)?);
        Ok::<_, Fault>(true)
    })?;
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<Token, Fault> {
    let text = |column: usize| row.get::<_, String>(column).map_err(storage);
    let id = text(0)?;
    let unknown =
        |field: &str| Fault::Other(format!("experience token {id}: {field} is not one the server writes"));
    let level = Level::parse(&text(2)?).ok_or_else(|| unknown("level"))?;
    let domain = Domain::parse(&text(3)?).ok_or_else(|| unknown("domain"))?;
    let witnesses = serde_json::from_str(&text(9)?).map_err(|_| unknown("witnesses"))?;
    Ok(Token {
        node_id: text(1)?,
        level,
        domain,
        scenario: row.get(4).map_err(storage)?,
        counterparty: row.get(5).map_err(storage)?,
        action: text(6)?,
        outcome_class: text(7)?,
        outcome_delta: row.get(8).map_err(storage)?,
        witnesses,
        created_at: row.get(10).map_err(storage)?,
        promoted_from: row.get(11).map_err(storage)?,
        feature_hash: row.get(12).map_err(storage)?,
        id,
    })
}
