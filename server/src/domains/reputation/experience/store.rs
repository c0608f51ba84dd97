//! The SQL of experience tokens.

use colibri_runtime::handler::Fault;

use super::super::domain::Domain;
use super::super::tokens::{Level, Token};
use colibri_store::db::{Db, Row};
use colibri_store::params;

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
}

/// Returns the tokens promoted from another.
pub(super) fn promoted_from(db: &Db, id: &str) -> Result<Vec<Token>, Fault> {
    let sql = "SELECT id, node_id, level, domain, scenario, counterparty, action, outcome_class, outcome_delta, witnesses, \
               created_at, promoted_from, feature_hash FROM experience_tokens WHERE promoted_from = ?1 ORDER BY id";
    let mut found = Vec::new();
    db.walk(sql, params![id], |row| {
        found.push(read(row)?);
        Ok::<_, Fault>(true)
    })?;
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<Token, Fault> {
    let text = |column: usize| row.get::<String>(column).map_err(Fault::from);
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
        scenario: row.get(4).map_err(Fault::from)?,
        counterparty: row.get(5).map_err(Fault::from)?,
        action: text(6)?,
        outcome_class: text(7)?,
        outcome_delta: row.get(8).map_err(Fault::from)?,
        witnesses,
        created_at: row.get(10).map_err(Fault::from)?,
        promoted_from: row.get(11).map_err(Fault::from)?,
        feature_hash: row.get(12).map_err(Fault::from)?,
        id,
    })
}
