//! Retention: content moves from the row into a packed form, and is then pruned. The values that the chain hashes and
//! links stay for good. Retention never runs by itself.

use colibri_canonical::HexDigest;
use colibri_proof::chain::Content;
use colibri_proof::record::Preimage;
use colibri_runtime::handler::{Failure, Fault};

use super::proof::{self, SessionState};
use super::trail::content::{Unpacker, content_of, pack};
use super::trail::store::{self, Move, TrailRow};
use super::trail::zone::{RetentionZone, WARM_MAX_POSITION, zone_for_position};
use crate::store::db::Db;

/// Why a record was not archived or retrieved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetentionError {
    /// No record has that id.
    #[error("No thought record has the id {0}")]
    RecordNotFound(String),
    /// The row does not match its hash or its zone. Archiving it would hide the damage.
    #[error("Thought record {id}: {what}; its content is left as it is")]
    RetentionIntegrityError {
        /// The record.
        id: String,
        /// The mismatch.
        what: &'static str,
    },
}

/// The result of archiving a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The record.
    pub id: String,
    /// Its zone now.
    pub zone: RetentionZone,
    /// Whether this call moved it.
    pub changed: bool,
}

/// The content of a record, or its remains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retrieved {
    /// Still there.
    Content {
        /// The record.
        id: String,
        /// Hot or warm.
        zone: RetentionZone,
        /// The text.
        content: String,
    },
    /// Cold.
    HashOnly {
        /// The record.
        id: String,
        /// SHA-256 of the content.
        content_hash: String,
    },
}

/// Moves a record into the zone of its position, inside the caller's transaction. Content that would be dropped or
/// packed must match the record's hash. Content of an open session is never dropped, because no seal commits to it
/// yet.
///
/// # Errors
/// A [`RetentionError`] before any write; storage faults.
pub fn archive_record(db: &Db, id: &str) -> Result<Archived, Failure<RetentionError>> {
    let mut plan = None;
    store::with_row(db, id, |row| {
        let position = store::position(db, row.task_id, row.seq, WARM_MAX_POSITION)?;
        plan = Some(planned(row, position));
        Ok(())
    })?;
    let plan = plan.unwrap_or_else(|| Err(RetentionError::RecordNotFound(id.to_owned())));
    let Plan { from, to, content, session_id } = plan.map_err(Failure::Domain)?;
    let archived = |zone, changed| Ok(Archived { id: id.to_owned(), zone, changed });
    let Some(content) = content else { return archived(from, false) };
    if to == RetentionZone::Cold
        && let Some(session_id) = session_id
        && proof::session_state(db, &session_id)? != Some(SessionState::Finalized)
    {
        return archived(from, false);
    }
    let packed = match to {
        RetentionZone::Warm => Some(pack(&content).map_err(|error| Fault::Other(error.to_string()))?),
        RetentionZone::Hot | RetentionZone::Cold => None,
    };
    let digest = HexDigest::of(content.as_bytes());
    store::archive(db, id, &Move { zone: to.as_str(), packed: packed.as_deref(), digest: digest.as_str() })?;
    archived(to, true)
}

/// The planned move of a record.
struct Plan {
    from: RetentionZone,
    to: RetentionZone,
    /// The content to move; `None` if the record stays where it is.
    content: Option<String>,
    session_id: Option<String>,
}

fn planned(row: &TrailRow<'_>, position: i64) -> Result<Plan, RetentionError> {
    let damaged = |what| RetentionError::RetentionIntegrityError { id: row.id.to_owned(), what };
    let from = RetentionZone::of(row.zone).ok_or_else(|| damaged("its zone is none"))?;
    let to = zone_for_position(position).map_err(|_| damaged("it has no position in its chain"))?;
    let session_id = row.session_id.map(str::to_owned);
    if to == from {
        return Ok(Plan { from, to, content: None, session_id });
    }
    if to < from {
        return Err(damaged("it is in a later zone than its position allows"));
    }
    let mut unpacker = Unpacker::default();
    let Content::Kept(content) = content_of(row, &mut unpacker) else {
        return Err(damaged("its stored content is lost"));
    };
    let preimage = Preimage {
        content,
        id: row.id,
        prev_hash: row.prev_hash,
        task_id: row.task_id,
        timestamp: row.timestamp,
        kind: row.kind,
    };
    if preimage.hash(&mut Vec::new()).as_str() != row.hash {
        return Err(damaged("its hash is not that of its content"));
    }
    Ok(Plan { from, to, content: Some(content.to_owned()), session_id })
}

/// Returns the content of a record from any zone.
///
/// # Errors
/// A [`RetentionError`]; storage faults.
pub fn retrieve_record(db: &Db, id: &str) -> Result<Retrieved, Failure<RetentionError>> {
    let mut found = None;
    store::with_row(db, id, |row| {
        found = Some(retrieved(row));
        Ok(())
    })?;
    found.unwrap_or_else(|| Err(RetentionError::RecordNotFound(id.to_owned()))).map_err(Failure::Domain)
}

fn retrieved(row: &TrailRow<'_>) -> Result<Retrieved, RetentionError> {
    let id = row.id.to_owned();
    let mut unpacker = Unpacker::default();
    match (RetentionZone::of(row.zone), content_of(row, &mut unpacker), row.content_hash) {
        (Some(zone), Content::Kept(content), _) => {
            Ok(Retrieved::Content { id, zone, content: content.to_owned() })
        }
        (_, Content::Dropped, Some(content_hash)) => {
            Ok(Retrieved::HashOnly { id, content_hash: content_hash.to_owned() })
        }
        _ => Err(RetentionError::RetentionIntegrityError { id, what: "its stored content is lost" }),
    }
}
