//! Sealed sessions and the chain of tree heads (proof#seal-verification).

use serde::Serialize;

use super::issue::raise;
use super::run::Run;
use crate::domains::proof::ties::head_hash_at;
use crate::domains::proof::{SessionState, Signers, each_session, verify_head_chain, verify_sealed_records};
use colibri_canonical::HexDigest;
use colibri_proof::checkpoint::{Checkpoint, HeadsPin};
use colibri_store::walk::{Stop, goes_on};

/// The check's name.
pub const NAME: &str = "seals";

/// The result of checking the tree heads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Heads {
    /// Their number.
    pub count: i64,
    /// The hash of the last one, as stored, which an auditor keeps outside the file.
    pub last_head_hash: Option<String>,
    /// Heads with a trusted key's signature.
    pub signed: i64,
    /// Heads without a signature.
    pub unsigned: i64,
    /// Heads signed by a key that is not trusted.
    pub unknown_key: i64,
    /// The ids of the first of these keys.
    #[serde(skip)]
    pub unknown_key_ids: Vec<String>,
    /// Whether a trusted key's signature was required.
    pub signature_required: bool,
    /// Whether only keys that are not trusted have signed the newest signed heads, and no checkpoint pins these.
    #[serde(skip)]
    pub unconfirmed: bool,
}

impl Heads {
    /// Returns the values for a checkpoint.
    pub fn pin(&self) -> HeadsPin {
        let hash = self.last_head_hash.as_deref().and_then(HexDigest::parse);
        HeadsPin { count: self.count, last_head_hash: hash.unwrap_or(HexDigest::ZERO) }
    }
}

/// Verifies every head once, in chain order, and every session's records and leaves.
///
/// # Errors
/// The engine's error.
pub fn check(
    run: &mut Run<'_>,
    signers: Signers<'_>,
    checkpoint: Option<&Checkpoint>,
) -> Result<Heads, Stop> {
    run.begin(NAME, 0);
    let db = run.db;
    let chain = verify_head_chain(db, signers, &mut |issue| raise(run, &issue))?;
    let pinned = checkpoint.map_or(0, |checkpoint| checkpoint.tree_heads.count);
    if let Some(checkpoint) = checkpoint {
        let then = checkpoint.tree_heads.count;
        let hash = if then > 0 { head_hash_at(db, then - 1)? } else { None };
        super::pinned::compare_heads(checkpoint, run, chain.heads, hash.as_deref());
    }
    let (mut open, mut sealed, mut leaves, mut stop) = (0, 0, 0, None);
    each_session(db, |session_id| {
        let report = verify_sealed_records(db, session_id, &mut |issue| raise(run, &issue))?;
        match report.state {
            SessionState::Open => open += 1,
            SessionState::Finalized => {
                sealed += 1;
                leaves += report.record_count.unsigned_abs();
            }
        }
        Ok(goes_on(&mut stop, run.step()))
    })?;
    stop.map_or(Ok(()), Err)?;
    run.count("sealed sessions", sealed);
    run.count("open sessions", open);
    run.count("sealed records", leaves);
    Ok(Heads {
        count: chain.heads,
        last_head_hash: chain.tip.map(|(_, hash)| hash),
        signed: chain.valid,
        unsigned: chain.unsigned,
        unknown_key: chain.unknown_key,
        unknown_key_ids: chain.unknown_key_ids,
        signature_required: signers.required,
        unconfirmed: chain.unconfirmed.is_some_and(|index| index >= pinned),
    })
}
