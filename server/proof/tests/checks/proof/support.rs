//! The sealed session `S-1` of proof#golden-vectors, and vectors.

use colibri_canonical::HexDigest;
use colibri_proof::bundle::{BundleRecord, InclusionBundle, LegacyInclusion, TreeInclusion};
use colibri_proof::head::{ChainTip, SessionFacts, SignedTreeHead, TreeHead, chain_tips_hash};
use colibri_proof::keys::SigningKey;
use colibri_proof::record::{ThoughtRecord, ThoughtType, compute_hash};
use colibri_proof::tree::legacy::{build_merkle_tree, generate_proof};
use colibri_proof::tree::rfc9162::{Hash, inclusion_path, root};
use serde_json::Value;

pub const TASK: &str = "11111111-1111-4111-8111-111111111111";

/// The four records, in the order in which they were appended.
pub fn records() -> Vec<ThoughtRecord> {
    let listed = [
        (ThoughtType::Plan, "Plan: build the \u{3b6} verifier", "2026-05-01T10:00:00.000Z"),
        (
            ThoughtType::Analysis,
            "Line one\nLine two\t\"quoted\" back\\slash /slash",
            "2026-05-01T10:00:01.250Z",
        ),
        (
            ThoughtType::Decision,
            "\u{6f22}\u{5b57} \u{e9} \u{1f600} \u{1} \u{7f} \u{2028} end",
            "2026-05-01T10:00:01.250Z",
        ),
        (ThoughtType::Reflection, "Done; tests green; blockers: none", "2026-05-01T10:00:59.999Z"),
    ];
    let mut records: Vec<ThoughtRecord> = Vec::new();
    for (index, (kind, content, timestamp)) in listed.into_iter().enumerate() {
        let mut record = ThoughtRecord {
            id: format!("00000000-0000-4000-8000-{:012}", index + 1),
            kind,
            task_id: TASK.to_owned(),
            agent_id: "agent-7".to_owned(),
            content: content.to_owned(),
            timestamp: timestamp.to_owned(),
            prev_hash: records.last().map_or(HexDigest::ZERO, |last| last.hash),
            hash: HexDigest::ZERO,
            session_id: Some("S-1".to_owned()),
        };
        record.hash = compute_hash(&record);
        records.push(record);
    }
    records
}

/// A record as a bundle holds it.
pub fn bundle_record(record: &ThoughtRecord) -> BundleRecord {
    BundleRecord {
        id: record.id.clone(),
        kind: record.kind,
        task_id: record.task_id.clone(),
        agent_id: record.agent_id.clone(),
        content: Some(record.content.clone()),
        content_hash: HexDigest::of(record.content.as_bytes()).as_str().to_owned(),
        timestamp: record.timestamp.clone(),
        prev_hash: record.prev_hash.as_str().to_owned(),
        hash: record.hash.as_str().to_owned(),
        session_id: record.session_id.clone().unwrap(),
    }
}

/// The leaves of the second tree.
pub fn leaves() -> Vec<Hash> {
    let mut scratch = Vec::new();
    records().iter().map(|record| bundle_record(record).envelope().leaf_hash(&mut scratch)).collect()
}

/// What the session says of itself.
pub const FACTS: SessionFacts<'static> = SessionFacts {
    session_id: "S-1",
    intent: "Build the verifier",
    task_id: Some(TASK),
    started_at: "2026-05-01T09:59:59.000Z",
};

/// The head of the session.
pub fn head() -> TreeHead {
    let records = records();
    let hashes: Vec<HexDigest> = records.iter().map(|record| record.hash).collect();
    let tip_hash = hashes[3].as_str().to_owned();
    let mut tips = [ChainTip { task_id: TASK.to_owned(), chain_length: 4, tip_hash }];
    TreeHead {
        session_id: "S-1".to_owned(),
        session_hash: FACTS.hash().as_str().to_owned(),
        tree_size: 4,
        root_hash: hex(&root(&leaves())),
        legacy_root: build_merkle_tree(&hashes).root().as_str().to_owned(),
        chain_tips_hash: chain_tips_hash(&mut tips).as_str().to_owned(),
        head_index: 0,
        prev_head_hash: HexDigest::ZERO.as_str().to_owned(),
        log_exit_no: 6,
        log_row_hash: HexDigest::of(b"log tip").as_str().to_owned(),
        finalized_at: "2026-05-01T10:01:00.000Z".to_owned(),
    }
}

/// The key of proof#golden-vectors: bytes 00 to 1f.
pub fn key() -> SigningKey {
    SigningKey::generate(std::array::from_fn(|index| index as u8))
}

/// A head with its hash, signed if there is a key.
pub fn sealed(head: TreeHead, key: Option<&SigningKey>) -> SignedTreeHead {
    let head_hash = head.hash().as_str().to_owned();
    let signature = key.map(|key| key.sign(&head));
    SignedTreeHead { head, head_hash, signature }
}

/// The bundle of record `index`.
pub fn bundle(index: usize, key: Option<&SigningKey>) -> InclusionBundle {
    let records = records();
    let hashes: Vec<HexDigest> = records.iter().map(|record| record.hash).collect();
    let tree = build_merkle_tree(&hashes);
    InclusionBundle {
        record: bundle_record(&records[index]),
        legacy: LegacyInclusion {
            root: tree.root().as_str().to_owned(),
            record_count: 4,
            proof: generate_proof(&tree, &hashes[index]),
        },
        rfc9162: TreeInclusion {
            leaf_index: index as i64,
            tree_size: 4,
            audit_path: inclusion_path(&leaves(), index as u64).iter().map(hex).collect(),
            root_hash: hex(&root(&leaves())),
        },
        tree_head: sealed(head(), key),
    }
}

pub fn hex(hash: &Hash) -> String {
    HexDigest::from_raw(hash).as_str().to_owned()
}

pub fn unhex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

pub fn hash(text: &str) -> Hash {
    HexDigest::parse(text).unwrap().raw()
}

/// The hashes of a JSON array.
pub fn hashes(values: &Value) -> Vec<Hash> {
    values.as_array().unwrap().iter().map(|value| hash(value.as_str().unwrap())).collect()
}

/// `leaf-0`, `leaf-1` and so on, hashed (proof#golden-vectors).
pub fn legacy_leaf(index: usize) -> HexDigest {
    HexDigest::of(format!("leaf-{index}").as_bytes())
}

/// The first `count` of them.
pub fn legacy_leaves(count: usize) -> Vec<HexDigest> {
    (0..count).map(legacy_leaf).collect()
}
