//! Exports made with the library's writers, and their check.

use std::borrow::Cow;

use colibri_canonical::HexDigest;
use colibri_proof::envelope::LeafEnvelope;
use colibri_proof::head::{ChainTip, SessionFacts, SignedTreeHead, TreeHead, chain_tips_hash};
use colibri_proof::keys::{PublicKey, SigningKey, TrustedKeys};
use colibri_proof::record::Preimage;
use colibri_proof::session_export::{
    ExportCheck, ExportHeader, ExportRecord, ExportState, ExportVerdict, NotAnExport, head_line, tips_line,
};
use colibri_proof::tree::legacy::build_merkle_tree;
use colibri_proof::tree::rfc9162;

/// The session of proof#golden-vectors as an export, written by hand from `docs/reference/formats.md` in Python.
pub const GOLDEN: &str = include_str!("../../vectors/session-export.jsonl");
pub const GOLDEN_KEY: &str = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
pub const GOLDEN_SEED: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

pub const SESSION: SessionFacts<'static> = SessionFacts {
    session_id: "S-1",
    intent: "Build the verifier",
    task_id: None,
    started_at: "2026-05-01T09:59:59.000Z",
};

/// Checks a file as the command does, with no key and no root.
pub fn check(file: &[u8]) -> Result<ExportVerdict, NotAnExport> {
    check_with(file, &TrustedKeys::default())
}

pub fn check_with(file: &[u8], trusted: &TrustedKeys) -> Result<ExportVerdict, NotAnExport> {
    let mut check = ExportCheck::new(trusted);
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        if !check.line(line)? {
            break;
        }
    }
    check.finish()
}

pub fn is_valid(file: &[u8]) -> bool {
    check(file).is_ok_and(|verdict| verdict.valid)
}

/// The codes of what was found, in order.
pub fn codes(file: &[u8]) -> Vec<&'static str> {
    check(file).unwrap().issues.iter().map(|issue| issue.code.as_str()).collect()
}

/// How the file leaves the form of an export.
pub fn fault(file: &[u8]) -> String {
    let verdict = check(file).unwrap();
    assert!(!verdict.valid && !verdict.checks.form);
    verdict.fault.map_or_else(|| panic!("no fault"), |fault| fault.to_string())
}

pub fn trusting(keys: &[&str]) -> TrustedKeys {
    let mut trusted = TrustedKeys::default();
    keys.iter().for_each(|key| trusted.trust(PublicKey::parse(key).unwrap()));
    trusted
}

/// A record whose hashes are right.
pub fn record(number: usize, task_id: &str, prev: &str, content: &str) -> ExportRecord<'static> {
    let own = |text: &str| Cow::<'static, str>::Owned(text.to_owned());
    let mut record = ExportRecord {
        agent_id: own("agent-7"),
        content: Some(own(content)),
        content_hash: own(HexDigest::of(content.as_bytes()).as_str()),
        hash: own(""),
        id: own(&format!("00000000-0000-4000-8000-{number:012}")),
        prev_hash: own(prev),
        session_id: own(SESSION.session_id),
        task_id: own(task_id),
        timestamp: own("2026-05-01T10:00:00.000Z"),
        kind: own("plan"),
    };
    rehash(&mut record);
    record
}

/// Gives a record the hash that its fields have.
pub fn rehash(record: &mut ExportRecord<'_>) {
    let preimage = Preimage {
        content: record.content.as_deref().unwrap(),
        id: &record.id,
        prev_hash: &record.prev_hash,
        task_id: &record.task_id,
        timestamp: &record.timestamp,
        kind: &record.kind,
    };
    record.hash = Cow::Owned(preimage.hash(&mut Vec::new()).as_str().to_owned());
}

/// A chain of `count` records of one task, each after the other.
pub fn chain(first: usize, task_id: &str, prev: &str, count: usize) -> Vec<ExportRecord<'static>> {
    let mut records: Vec<ExportRecord<'static>> = Vec::new();
    for number in first..first + count {
        let prev = records.last().map_or(prev, |last| &last.hash).to_owned();
        records.push(record(number, task_id, &prev, &format!("step {number}")));
    }
    records
}

pub fn tip(task_id: &str, chain_length: i64, tip_hash: &str) -> ChainTip {
    ChainTip { task_id: task_id.to_owned(), chain_length, tip_hash: tip_hash.to_owned() }
}

/// The head that seals these records.
pub fn head_of(records: &[ExportRecord<'_>], tips: &mut [ChainTip]) -> TreeHead {
    let hashes: Vec<HexDigest> =
        records.iter().map(|record| HexDigest::parse(&record.hash).unwrap()).collect();
    let leaves: Vec<rfc9162::Hash> = records.iter().map(leaf).collect();
    TreeHead {
        session_id: SESSION.session_id.to_owned(),
        session_hash: SESSION.hash().as_str().to_owned(),
        tree_size: i64::try_from(records.len()).unwrap(),
        root_hash: HexDigest::from_raw(&rfc9162::root(&leaves)).as_str().to_owned(),
        legacy_root: build_merkle_tree(&hashes).root().as_str().to_owned(),
        chain_tips_hash: chain_tips_hash(tips).as_str().to_owned(),
        head_index: 0,
        prev_head_hash: HexDigest::ZERO.as_str().to_owned(),
        log_exit_no: 0,
        log_row_hash: HexDigest::ZERO.as_str().to_owned(),
        finalized_at: "2026-05-01T10:01:00.000Z".to_owned(),
    }
}

fn leaf(record: &ExportRecord<'_>) -> rfc9162::Hash {
    let envelope = LeafEnvelope {
        agent_id: &record.agent_id,
        content_hash: &record.content_hash,
        hash: &record.hash,
        id: &record.id,
        prev_hash: &record.prev_hash,
        session_id: &record.session_id,
        task_id: &record.task_id,
        timestamp: &record.timestamp,
        kind: &record.kind,
    };
    envelope.leaf_hash(&mut Vec::new())
}

pub fn unsigned(head: TreeHead) -> SignedTreeHead {
    let head_hash = head.hash().as_str().to_owned();
    SignedTreeHead { head, head_hash, signature: None }
}

pub fn signed(head: TreeHead) -> SignedTreeHead {
    let signature = SigningKey::from_seed_text(GOLDEN_SEED).unwrap().sign(&head);
    SignedTreeHead { signature: Some(signature), ..unsigned(head) }
}

/// A sealed export of those parts, whether they fit or not.
pub fn sealed_file(records: &[ExportRecord<'_>], tips: &mut [ChainTip], head: &SignedTreeHead) -> Vec<u8> {
    let mut file = unsealed_lines(records, ExportState::Sealed);
    for line in [tips_line(tips).unwrap(), head_line(head).unwrap()] {
        file.extend_from_slice(line.as_bytes());
        file.push(b'\n');
    }
    file
}

/// A sealed export whose parts fit: unsigned, one tip a task.
pub fn sealed(records: &[ExportRecord<'_>], mut tips: Vec<ChainTip>) -> Vec<u8> {
    let head = unsigned(head_of(records, &mut tips));
    sealed_file(records, &mut tips, &head)
}

pub fn open(records: &[ExportRecord<'_>]) -> Vec<u8> {
    unsealed_lines(records, ExportState::Open)
}

fn unsealed_lines(records: &[ExportRecord<'_>], state: ExportState) -> Vec<u8> {
    let header = ExportHeader::new(&SESSION, state, i64::try_from(records.len()).unwrap());
    let mut file = header.line().unwrap().into_bytes();
    file.push(b'\n');
    for record in records {
        record.write(&mut file);
        file.push(b'\n');
    }
    file
}
