//! Operations on audit sessions, each all or nothing inside the caller's transaction (proof#sealing).
//!
//! Refusals precede any write, in the order of proof#sealing. Tips, heads and the end of the audit log are read
//! inside the transaction, never from memory, because other processes write too.

use colibri_runtime::handler::{Failure, Fault, Outcome};
use colibri_runtime::progress::Progress;

use super::leaves::{Envelopes, legacy_root};
use super::store::{self, Root, Session};
use crate::catalogue::{AuditSessionStartError, MerkleFinalizeError, MerkleRootError};
use crate::domains::reputation::writer::Recording;
use crate::domains::{reputation, trail};
use colibri_canonical::HexDigest;
use colibri_proof::head::{ChainTip, SignedTreeHead, TreeHead, chain_tips_hash};
use colibri_proof::keys::SigningKey;
use colibri_proof::tree::rfc9162::Accumulator;
use colibri_store::db::Db;
use colibri_store::log::log_tip::log_tip;

/// Opens a session.
///
/// # Errors
/// The tool's declared error if the id is taken, and the first session stays unchanged; storage faults.
pub(crate) fn start_audit_session(
    db: &Db,
    session: &Session,
    sequence_no: Option<i64>,
) -> Outcome<(), AuditSessionStartError> {
    if store::insert_session(db, session, sequence_no)? {
        return Ok(());
    }
    let session_id = session.session_id.clone();
    Err(Failure::Domain(AuditSessionStartError::ErrSessionExists { session_id }))
}

/// The time, call and key of a seal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealing<'a> {
    /// The present time, UTC, RFC 3339 with milliseconds.
    pub now: &'a str,
    /// The audit number of the call (store#ties); `None` outside calls.
    pub sequence_no: Option<i64>,
    /// The key that signs the head; `None` leaves it unsigned.
    pub key: Option<&'a SigningKey>,
    /// How the seal is recorded in reputation; `None` if finished work does not feed reputation.
    pub feed: Option<Recording>,
    /// Where the sealing reports how far it is.
    pub progress: &'a Progress,
}

/// Seals a session: both roots, the frozen leaves, the head and its tips. Takes the records as they are; the verifier
/// decides whether they are valid (proof#sealing). Records the seal in reputation inside the same savepoint.
///
/// # Errors
/// The tool's declared errors, before any write; storage faults; a record that cannot be sealed because its hash is
/// malformed or its content is lost.
pub(crate) fn finalize_session(
    db: &Db,
    session_id: &str,
    sealing: &Sealing<'_>,
) -> Outcome<(Root, SignedTreeHead), MerkleFinalizeError> {
    let id = || session_id.to_owned();
    let Some(session) = store::session(db, session_id)? else {
        return Err(Failure::Domain(MerkleFinalizeError::ErrSessionNotFound { session_id: id() }));
    };
    let (_, sealed) = store::traces(db, session_id)?;
    if sealed {
        return Err(Failure::Domain(MerkleFinalizeError::ErrAlreadyFinalized { session_id: id() }));
    }
    let (record_count, legacy_root) = legacy_root(db, session_id)?;
    if record_count == 0 {
        return Err(Failure::Domain(MerkleFinalizeError::ErrNoRecords { session_id: id() }));
    }
    let legacy_root =
        legacy_root.ok_or_else(|| unfit(session_id, "a record's hash is not 64 hex characters"))?;
    let root =
        Root { root: legacy_root.as_str().to_owned(), record_count, finalized_at: sealing.now.to_owned() };
    store::insert_root(db, session_id, &root, sealing.sequence_no)?;
    let root_hash = freeze_leaves(db, session_id, record_count, sealing.progress)?;
    let head = insert_head(db, &session, &root, root_hash, sealing)?;
    if let Some(recording) = &sealing.feed {
        reputation::feed::session_sealed(db, recording, session_id)?;
    }
    Ok((root, head))
}

/// Returns a seal as stored. Imported seals have no head.
///
/// # Errors
/// The tool's declared errors; storage faults.
pub fn get_merkle_root(
    db: &Db,
    session_id: &str,
) -> Outcome<(Root, Option<SignedTreeHead>), MerkleRootError> {
    let id = || session_id.to_owned();
    if store::session(db, session_id)?.is_none() {
        return Err(Failure::Domain(MerkleRootError::ErrSessionNotFound { session_id: id() }));
    }
    match store::root(db, session_id)? {
        Some(root) => Ok((root, store::head_of(db, session_id)?)),
        None => {
            let record_count = trail::count_records_of_session(db, session_id)?;
            Err(Failure::Domain(MerkleRootError::ErrNotFinalized { session_id: id(), record_count }))
        }
    }
}

/// Records between two reports of progress.
const PROGRESS_RECORDS: i64 = 64;

/// Stores the session's records as leaves and returns the second tree's root over them.
fn freeze_leaves(
    db: &Db,
    session_id: &str,
    record_count: i64,
    progress: &Progress,
) -> Result<HexDigest, Fault> {
    let (mut tree, mut envelopes) = (Accumulator::default(), Envelopes::default());
    let mut index = 0;
    trail::each_row_of_session(db, session_id, |row| {
        let (_, leaf_hash) = envelopes
            .leaf(row)
            .ok_or_else(|| unfit(session_id, &format!("the content of record {} is lost", row.id)))?;
        let hex = HexDigest::from_raw(&leaf_hash);
        store::insert_leaf(db, session_id, index, (row.id, row.hash, hex.as_str()))?;
        tree.push(leaf_hash);
        index += 1;
        if index % PROGRESS_RECORDS == 0 {
            progress.report(index.unsigned_abs(), record_count.unsigned_abs());
        }
        Ok(true)
    })?;
    Ok(HexDigest::from_raw(&tree.root()))
}

/// Creates the store's next head and stores it with its tips.
fn insert_head(
    db: &Db,
    session: &Session,
    root: &Root,
    root_hash: HexDigest,
    sealing: &Sealing<'_>,
) -> Result<SignedTreeHead, Fault> {
    let mut tips = tips_now(db, &session.session_id)?;
    let (head_index, prev_head_hash) = match store::head_before(db, None)? {
        Some((last, hash)) => {
            let next = last.checked_add(1);
            (
                next.ok_or_else(|| unfit(&session.session_id, "the last tree head has the highest number"))?,
                hash,
            )
        }
        None => (0, HexDigest::ZERO.as_str().to_owned()),
    };
    let log = log_tip(db)?;
    let head = TreeHead {
        session_id: session.session_id.clone(),
        session_hash: session.facts().hash().as_str().to_owned(),
        tree_size: root.record_count,
        root_hash: root_hash.as_str().to_owned(),
        legacy_root: root.root.clone(),
        chain_tips_hash: chain_tips_hash(&mut tips).as_str().to_owned(),
        head_index,
        prev_head_hash,
        log_exit_no: log.as_ref().map_or(0, |tip| tip.exit_no),
        log_row_hash: log.map_or_else(|| HexDigest::ZERO.as_str().to_owned(), |tip| tip.row_hash),
        finalized_at: root.finalized_at.clone(),
    };
    let head_hash = head.hash().as_str().to_owned();
    let signature = sealing.key.map(|key| key.sign(&head));
    let signed = SignedTreeHead { head, head_hash, signature };
    store::insert_head(db, &signed)?;
    for tip in &tips {
        store::insert_tip(db, head_index, tip)?;
    }
    Ok(signed)
}

/// Returns the current chain tips of all tasks with a record in the session.
fn tips_now(db: &Db, session_id: &str) -> Result<Vec<ChainTip>, Fault> {
    let mut tips = Vec::new();
    for task_id in trail::tasks_of_session(db, session_id)? {
        let Some(tip) = trail::tip(db, &task_id)? else {
            return Err(unfit(session_id, &format!("the chain of task {task_id} has no stored end")));
        };
        tips.push(ChainTip { task_id, chain_length: tip.chain_length, tip_hash: tip.tip_hash });
    }
    Ok(tips)
}

/// Returns the fault for a damaged session, which cannot be sealed and stays open.
fn unfit(session_id: &str, reason: &str) -> Fault {
    Fault::Other(format!("audit session {session_id} cannot be sealed: {reason}; verify its chains"))
}
