//! What a bundle holds. Texts are taken as they are; the verdict says whether they are sound.

use serde::{Deserialize, Serialize};

use crate::envelope::LeafEnvelope;
use crate::head::{SignedTreeHead, VERSION};
use crate::mangled::Mangled;
use crate::record::{Preimage, ThoughtType};
use crate::tree::legacy::ProofStep;

/// How every bundle's file begins in canonical form, in all versions.
const BEGINNING: &[u8] = b"{\"format\":\"colibri-inclusion-bundle\",";
const FORMAT: &str = "colibri-inclusion-bundle";

/// The members by which JSON claims to be a bundle, and of which version.
#[derive(Deserialize)]
struct Claim {
    format: String,
    v: Option<i64>,
}

/// Returns why bytes are not a bundle at all, as opposed to a damaged one: nothing in them claims to be one, or they
/// are of another version.
pub(super) fn not_a_bundle(bytes: &[u8]) -> Option<NotABundle> {
    if bytes.is_empty() {
        return Some(NotABundle::Empty);
    }
    match serde_json::from_slice::<Claim>(bytes) {
        Ok(Claim { format, v: Some(v) }) if format == FORMAT && v != VERSION => {
            Some(NotABundle::OtherVersion(v))
        }
        Ok(Claim { format, .. }) if format == FORMAT => None,
        _ if bytes.starts_with(BEGINNING) => None,
        _ => Some(Mangled::beginning(bytes, FORMAT).map_or(NotABundle::OtherFile, NotABundle::Mangled)),
    }
}

/// Why a file is not a bundle at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotABundle {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// More than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
    #[error("it is larger than {} MiB", super::MAX_FILE_BYTES / (1024 * 1024))]
    TooLarge,
    /// It does not claim to be one.
    #[error("it does not hold a proof made by `colibri proof`")]
    OtherFile,
    /// It was one, until another program changed its encoding.
    #[error("{0}")]
    Mangled(Mangled),
    /// It is a bundle of another release.
    #[error("it is a proof of version {0}, and this release reads version {VERSION}")]
    OtherVersion(i64),
}

/// A record and the proof that it is in a sealed session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "File", into = "File")]
pub struct InclusionBundle {
    /// The record.
    pub record: BundleRecord,
    /// Its place in the original's tree.
    pub legacy: LegacyInclusion,
    /// Its place in the second tree.
    pub rfc9162: TreeInclusion,
    /// The head over both, and its signature.
    pub tree_head: SignedTreeHead,
}

/// A record as a bundle holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The fields of trail#record, under their names; `kind` is `type`.
pub struct BundleRecord {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: ThoughtType,
    pub task_id: String,
    pub agent_id: String,
    /// `None` if retention has dropped it; its digest is still proved then.
    pub content: Option<String>,
    pub content_hash: String,
    pub timestamp: String,
    pub prev_hash: String,
    pub hash: String,
    pub session_id: String,
}

impl BundleRecord {
    /// Returns what the record's hash covers, given its content.
    pub fn preimage<'a>(&'a self, content: &'a str) -> Preimage<'a> {
        Preimage {
            content,
            id: &self.id,
            prev_hash: &self.prev_hash,
            task_id: &self.task_id,
            timestamp: &self.timestamp,
            kind: self.kind.as_str(),
        }
    }

    /// Returns its leaf in the second tree.
    pub fn envelope(&self) -> LeafEnvelope<'_> {
        LeafEnvelope {
            agent_id: &self.agent_id,
            content_hash: &self.content_hash,
            hash: &self.hash,
            id: &self.id,
            prev_hash: &self.prev_hash,
            session_id: &self.session_id,
            task_id: &self.task_id,
            timestamp: &self.timestamp,
            kind: self.kind.as_str(),
        }
    }
}

/// Membership in the original's tree (proof#first-tree).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LegacyInclusion {
    /// The tree's root.
    pub root: String,
    /// How many records were sealed.
    pub record_count: i64,
    /// From the record's hash to the root.
    pub proof: Vec<ProofStep>,
}

/// Inclusion in the second tree (proof#rfc9162-tree).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeInclusion {
    /// The record's place among the leaves, from 0.
    pub leaf_index: i64,
    /// How many leaves there are.
    pub tree_size: i64,
    /// From the leaf to the root.
    pub audit_path: Vec<String>,
    /// The tree's root.
    pub root_hash: String,
}

/// The bundle as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    v: i64,
    record: BundleRecord,
    legacy: LegacyInclusion,
    rfc9162: TreeInclusion,
    tree_head: SignedTreeHead,
}

impl From<InclusionBundle> for File {
    fn from(InclusionBundle { record, legacy, rfc9162, tree_head }: InclusionBundle) -> Self {
        Self { format: FORMAT.to_owned(), v: VERSION, record, legacy, rfc9162, tree_head }
    }
}

impl TryFrom<File> for InclusionBundle {
    type Error = &'static str;

    fn try_from(file: File) -> Result<Self, Self::Error> {
        if file.format != FORMAT || file.v != VERSION {
            return Err("another format or version");
        }
        let File { record, legacy, rfc9162, tree_head, .. } = file;
        let head = &tree_head.head;
        let numbers = [legacy.record_count, rfc9162.leaf_index, rfc9162.tree_size, head.tree_size];
        if numbers.into_iter().chain([head.head_index, head.log_exit_no]).any(|number| number < 0) {
            return Err("a number that is not natural");
        }
        Ok(Self { record, legacy, rfc9162, tree_head })
    }
}
