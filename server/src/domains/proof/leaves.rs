//! The leaves of a session: its records as both trees hold them (proof#rfc9162-tree), one at a time and in constant
//! memory.

use colibri_runtime::handler::Fault;

use super::store::{self, Leaf};
use crate::domains::trail::{self, TrailRow, Unpacker};
use colibri_canonical::HexDigest;
use colibri_proof::envelope::LeafEnvelope;
use colibri_proof::tree::legacy::LegacyAccumulator;
use colibri_proof::tree::rfc9162::Hash;
use colibri_store::db::Db;

/// Leaves read at once.
const PAGE: i64 = 256;

/// Computes the second tree's leaves from records, with buffers that all records share.
#[derive(Default)]
pub(super) struct Envelopes {
    scratch: Vec<u8>,
    unpacker: Unpacker,
}

impl Envelopes {
    /// Returns the digest of a record's content and the hash of its leaf. `None` if the content is lost although the
    /// record's zone keeps it.
    pub(super) fn leaf(&mut self, row: &TrailRow<'_>) -> Option<(HexDigest, Hash)> {
        let content_hash = trail::content_digest(row, &mut self.unpacker)?;
        Some((content_hash, self.hash(row, content_hash.as_str())))
    }

    /// Returns the hash of a record's leaf. If the content is lost, the hash fits no seal.
    pub(super) fn hash_as_found(&mut self, row: &TrailRow<'_>) -> Hash {
        match self.leaf(row) {
            Some((_, hash)) => hash,
            None => self.hash(row, ""),
        }
    }

    fn hash(&mut self, row: &TrailRow<'_>, content_hash: &str) -> Hash {
        envelope_of(row, content_hash).leaf_hash(&mut self.scratch)
    }
}

/// Converts a stored record for the second tree (proof#rfc9162-tree).
pub fn envelope_of<'a>(row: &TrailRow<'a>, content_hash: &'a str) -> LeafEnvelope<'a> {
    LeafEnvelope {
        agent_id: row.agent_id,
        content_hash,
        hash: row.hash,
        id: row.id,
        prev_hash: row.prev_hash,
        session_id: row.session_id.unwrap_or_default(),
        task_id: row.task_id,
        timestamp: row.timestamp,
        kind: row.kind,
    }
}

/// Counts the records bound to a session and computes the original's root over their hashes. The root is `None` if
/// any hash is malformed.
///
/// # Errors
/// [`Fault::Storage`].
pub(super) fn legacy_root(db: &Db, session_id: &str) -> Result<(i64, Option<HexDigest>), Fault> {
    let (mut count, mut sound) = (0, true);
    let mut tree = LegacyAccumulator::default();
    trail::each_hash_of_session_ascending(db, session_id, |hash| {
        count += 1;
        match HexDigest::parse(hash) {
            Some(hash) => tree.push(&hash),
            None => sound = false,
        }
    })?;
    Ok((count, sound.then(|| tree.root())))
}

/// The frozen leaves of a session, in order, read page by page. A walk over the records reads them alongside.
pub(super) struct FrozenLeaves<'a> {
    db: &'a Db,
    session_id: &'a str,
    page: std::vec::IntoIter<Leaf>,
    /// Where the next page begins; `None` after the last one.
    next: Option<i64>,
}

impl<'a> FrozenLeaves<'a> {
    /// Starts at the first leaf.
    pub(super) fn of(db: &'a Db, session_id: &'a str) -> Self {
        Self { db, session_id, page: Vec::new().into_iter(), next: Some(i64::MIN) }
    }

    /// Returns the next leaf; `None` after the last one.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub(super) fn next(&mut self) -> Result<Option<Leaf>, Fault> {
        if let Some(leaf) = self.page.next() {
            return Ok(Some(leaf));
        }
        let Some(from) = self.next else { return Ok(None) };
        let page = store::leaves_from(self.db, self.session_id, from, PAGE)?;
        self.next = page.last().and_then(|leaf| leaf.leaf_index.checked_add(1));
        self.page = page.into_iter();
        Ok(self.page.next())
    }
}

/// Hands over the ids of the records sealed in a session, in order.
///
/// # Errors
/// [`Fault::Storage`], and what `take` fails with.
pub fn each_sealed_record(
    db: &Db,
    session_id: &str,
    mut take: impl FnMut(&str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut leaves = FrozenLeaves::of(db, session_id);
    while let Some(leaf) = leaves.next()? {
        take(&leaf.record_id)?;
    }
    Ok(())
}
