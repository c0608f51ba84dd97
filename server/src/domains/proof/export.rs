//! The inclusion bundle of one record (proof#bundle), built from the values stored when its session was sealed.

use colibri_runtime::handler::{Failure, Fault};

use super::leaves::FrozenLeaves;
use super::seal::{SessionState, session_state};
use super::store;
use crate::domains::trail::service::{StoredContent, StoredThought, get_thought_record};
use colibri_canonical::HexDigest;
use colibri_proof::bundle::{BundleRecord, InclusionBundle, LegacyInclusion, TreeInclusion};
use colibri_proof::record::ThoughtType;
use colibri_proof::tree::legacy::{build_merkle_tree, generate_proof};
use colibri_proof::tree::rfc9162::{Hash, inclusion_path};
use colibri_store::db::Db;

/// Why a bundle cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// No session has that id.
    #[error("audit session not found: {0}")]
    SessionNotFound(String),
    /// The session is open: nothing commits to its records yet.
    #[error("audit session {0} is still open; seal it first")]
    NotFinalized(String),
    /// The seal does not cover the record.
    #[error("record {record_id} is not in audit session {session_id}")]
    RecordNotFound {
        /// The record as requested.
        record_id: String,
        /// The session.
        session_id: String,
    },
    /// A value that the proof needs is missing or unreadable.
    #[error("audit session {session_id} is damaged: {reason}; verify the database")]
    Damaged {
        /// The session.
        session_id: String,
        /// What is wrong.
        reason: String,
    },
}

/// Builds a record's bundle from the record as stored now and the trees as sealed. A record changed since then gets a
/// bundle that proves nothing; see [`verify_bundle`](colibri_proof::bundle::verify_bundle). Memory grows with the
/// session: about 200 bytes a record.
///
/// # Errors
/// [`ExportError`]; storage faults.
pub fn bundle_of(
    db: &Db,
    session_id: &str,
    record_id: &str,
) -> Result<InclusionBundle, Failure<ExportError>> {
    let refuse = |error: ExportError| Err(Failure::Domain(error));
    let damaged =
        |reason: &str| ExportError::Damaged { session_id: session_id.to_owned(), reason: reason.to_owned() };
    match session_state(db, session_id)? {
        None => return refuse(ExportError::SessionNotFound(session_id.to_owned())),
        Some(SessionState::Open) => return refuse(ExportError::NotFinalized(session_id.to_owned())),
        Some(SessionState::Finalized) => {}
    }
    let (Some(root), Some(tree_head)) = (store::root(db, session_id)?, store::head_of(db, session_id)?)
    else {
        return refuse(damaged("its root or its tree head is missing"));
    };
    let Some(leaves) = Leaves::read(db, session_id, record_id)? else {
        return refuse(damaged("a frozen leaf is no digest"));
    };
    let Some((leaf_index, hash)) = leaves.place else {
        let (record_id, session_id) = (record_id.to_owned(), session_id.to_owned());
        return refuse(ExportError::RecordNotFound { record_id, session_id });
    };
    let Some(thought) = get_thought_record(db, record_id)? else {
        return refuse(damaged(&format!("record {record_id} is gone")));
    };
    let record = bundled(thought).map_err(|reason| Failure::Domain(damaged(reason)))?;
    let tree = build_merkle_tree(&leaves.hashes);
    let path = inclusion_path(&leaves.leaf_hashes, leaf_index);
    Ok(InclusionBundle {
        record,
        legacy: LegacyInclusion {
            root: root.root,
            record_count: root.record_count,
            proof: generate_proof(&tree, &hash),
        },
        rfc9162: TreeInclusion {
            leaf_index: i64::try_from(leaf_index).unwrap_or(i64::MAX),
            tree_size: tree_head.head.tree_size,
            audit_path: path.iter().map(|step| HexDigest::from_raw(step).as_str().to_owned()).collect(),
            root_hash: tree_head.head.root_hash.clone(),
        },
        tree_head,
    })
}

/// The frozen leaves of a session, as both trees need them.
#[derive(Default)]
struct Leaves {
    hashes: Vec<HexDigest>,
    leaf_hashes: Vec<Hash>,
    /// The position and hash of the wanted record.
    place: Option<(u64, HexDigest)>,
}

impl Leaves {
    /// Reads them; `None` if one of them is not a digest.
    fn read(db: &Db, session_id: &str, record_id: &str) -> Result<Option<Self>, Fault> {
        let mut leaves = Self::default();
        let mut frozen = FrozenLeaves::of(db, session_id);
        while let Some(leaf) = frozen.next()? {
            let digests = HexDigest::parse(&leaf.hash).zip(HexDigest::parse(&leaf.leaf_hash));
            let Some((hash, leaf_hash)) = digests else { return Ok(None) };
            if leaf.record_id == record_id {
                leaves.place = Some((leaves.hashes.len() as u64, hash));
            }
            leaves.hashes.push(hash);
            leaves.leaf_hashes.push(leaf_hash.raw());
        }
        Ok(Some(leaves))
    }
}

/// Converts a stored record for a bundle, or returns why it cannot.
fn bundled(thought: StoredThought) -> Result<BundleRecord, &'static str> {
    let (content, content_hash) = match thought.content {
        StoredContent::Kept(content) => {
            let digest = HexDigest::of(content.as_bytes()).as_str().to_owned();
            (Some(content), digest)
        }
        StoredContent::Gone { content_hash: Some(digest), .. } => (None, digest),
        StoredContent::Gone { content_hash: None, .. } => return Err("the record's content is lost"),
    };
    Ok(BundleRecord {
        id: thought.id,
        kind: ThoughtType::parse(&thought.kind).ok_or("the record's type is none of the four")?,
        task_id: thought.task_id,
        agent_id: thought.agent_id,
        content,
        content_hash,
        timestamp: thought.timestamp,
        prev_hash: thought.prev_hash,
        hash: thought.hash,
        session_id: thought.session_id.unwrap_or_default(),
    })
}
