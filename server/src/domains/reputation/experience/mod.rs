//! Storage of experience tokens (reputation#tokens): `tokens` has the rules, and this module turns their results into
//! rows. A promotion is a row of its own; no row ever changes.
//!
//! All functions work inside the caller's savepoint. The caller provides ids and times.

mod store;

use colibri_runtime::handler::{Failure, Fault};

use super::domain::Domain;
use super::tokens::{self, CycleProof, Stamp, Token, TokenPromotionError, WorkOutcome};
use super::ulid;
use colibri_store::db::Db;

/// The prefix of a token's id; a ULID follows.
pub const TOKEN_PREFIX: &str = "tok_";
/// The class of completed work.
const SUCCESS: &str = "success";

/// Mints a raw token.
///
/// # Errors
/// [`Fault::Storage`].
pub fn mint_l0(
    db: &Db,
    stamp: Stamp,
    node_id: &str,
    domain: Domain,
    action: &str,
    outcome: WorkOutcome,
) -> Result<Token, Fault> {
    let token = tokens::mint_l0(stamp, node_id, domain, action, outcome);
    store::insert(db, &token)?;
    Ok(token)
}

/// Raises a raw token whose cycle is confirmed.
///
/// # Errors
/// [`TokenPromotionError`]; storage faults.
pub fn promote_to_l1(
    db: &Db,
    l0: &Token,
    proof: CycleProof,
    stamp: Stamp,
) -> Result<Token, Failure<TokenPromotionError>> {
    let raised = store::promoted_from(db, &l0.id)?;
    let token = tokens::promote_to_l1(l0, proof, stamp, &raised).map_err(Failure::Domain)?;
    store::insert(db, &token)?;
    Ok(token)
}

/// A credited piece of work.
pub(super) struct Experience<'a> {
    /// The executor.
    pub node_id: &'a str,
    /// The domain of the credit.
    pub domain: Domain,
    /// The kind of work.
    pub action: &'a str,
    /// Its value, in basis points.
    pub delta: i64,
    /// The peer who acknowledged it, if any.
    pub counterparty: Option<&'a str>,
}

/// Mints the token of a credited event, and also the confirmed one if a peer acknowledged it (reputation#tokens).
/// `ids` are UUIDs.
pub(super) fn of_event(
    db: &Db,
    work: &Experience<'_>,
    ids: &[String; 2],
    now_ms: i64,
) -> Result<(), Failure<TokenPromotionError>> {
    let [l0_id, l1_id] = ids;
    let outcome = WorkOutcome {
        class: SUCCESS.to_owned(),
        delta: work.delta,
        scenario: None,
        counterparty: work.counterparty.map(str::to_owned),
    };
    let l0 = mint_l0(db, stamp(l0_id, now_ms)?, work.node_id, work.domain, work.action, outcome)?;
    if work.counterparty.is_some() {
        let proof = CycleProof { cycle_complete: true, counterparty_confirmed: true };
        promote_to_l1(db, &l0, proof, stamp(l1_id, now_ms)?)?;
    }
    Ok(())
}

fn stamp(uuid: &str, now_ms: i64) -> Result<Stamp, Fault> {
    let ulid = ulid::from_uuid(uuid).ok_or_else(|| Fault::Other(format!("{uuid} is no UUID")))?;
    Ok(Stamp { id: format!("{TOKEN_PREFIX}{ulid}"), created_at: now_ms.div_euclid(1000) })
}
