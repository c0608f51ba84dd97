//! What each way of trust fixes in a proof and in an export: a forger changes every part by every way that a public root leaves
//! open, and no part that the table calls fixed ever differs in a file that passes.

mod export;
mod proof;

use std::collections::BTreeMap;

use colibri_canonical::{HexDigest, NumberRule, canonical_json};
use colibri_proof::checkpoint::{PinnedRecord, RecordsPin};
use colibri_proof::given::{Given, Matched, Part, Subject};
use colibri_proof::head::{SessionFacts, SignedTreeHead};
use colibri_proof::keys::{SigningKey, TrustedKeys};
use colibri_proof::record::Preimage;
use colibri_proof::rfc9162;
use serde_json::{Value, json};

use crate::proof::support::key;

const PARTS: [Part; 6] = [Part::Record, Part::Origin, Part::Order, Part::Number, Part::Head, Part::Signer];

/// What a reader gives.
const WAYS: [Given; 5] = [
    Given { root: None, signed: false },
    Given { root: Some(Matched::LegacyRoot), signed: false },
    Given { root: Some(Matched::Rfc9162Root), signed: false },
    Given { root: Some(Matched::HeadHash), signed: false },
    Given { root: None, signed: true },
];

/// Which forgeries passed: by the way of trust, whether all contents are there, and the part that differs.
#[derive(Default)]
struct Passed(BTreeMap<String, usize>);

impl Passed {
    fn row(way: Given, whole: bool, part: Part) -> String {
        let root = way.root;
        format!("{root:?}, signed {}, whole {whole}: {part:?}", way.signed)
    }

    /// Takes a file that passes all checks by this way; `differs` says what is not as it was sealed.
    fn take(&mut self, subject: Subject, way: Given, whole: bool, differs: &[Part], file: &str) {
        for part in differs {
            let fixed = way.fixes(subject, whole).contains(part);
            assert!(!fixed, "{subject:?} with another {part:?} passes by {way:?}: {file}");
            *self.0.entry(Self::row(way, whole, *part)).or_default() += 1;
        }
    }

    /// Each part that the table leaves open was forged.
    fn are_all_that_the_table_leaves_open(&self, subject: Subject) {
        for way in WAYS {
            for whole in [true, false] {
                for part in PARTS {
                    let open = !way.fixes(subject, whole).contains(&part);
                    let row = Self::row(way, whole, part);
                    assert_eq!(self.0.contains_key(&row), open, "{subject:?}: {row}");
                }
            }
        }
    }
}

/// Returns the hash of a record's six fields, given its content.
fn record_hash(record: &Value) -> HexDigest {
    let field = |name: &str| record[name].as_str().unwrap();
    let preimage = Preimage {
        content: field("content"),
        id: field("id"),
        prev_hash: field("prev_hash"),
        task_id: field("task_id"),
        timestamp: field("timestamp"),
        kind: field("type"),
    };
    preimage.hash(&mut Vec::new())
}

/// Gives a record with a content the digests that belong to it.
fn rehash(record: &mut Value) {
    if let Some(content) = record["content"].as_str() {
        record["content_hash"] = json!(HexDigest::of(content.as_bytes()).as_str());
        record["hash"] = json!(record_hash(record).as_str());
    }
}

fn leaf(record: &Value) -> rfc9162::Hash {
    let mut envelope = record.clone();
    envelope.as_object_mut().unwrap().remove("content");
    envelope["v"] = json!(1);
    rfc9162::leaf_hash(canonical(&envelope).as_bytes())
}

fn canonical(value: &Value) -> String {
    canonical_json(value, NumberRule::Trail).unwrap()
}

fn hash(text: &Value) -> HexDigest {
    HexDigest::parse(text.as_str().unwrap()).unwrap()
}

/// Gives a head the hash of its fields, and the signature of a key.
fn reseal(head: &mut Value, signer: Option<&SigningKey>) {
    for name in ["signature", "key_id", "public_key"] {
        head[name] = Value::Null;
    }
    let mut signed: SignedTreeHead = serde_json::from_value(head.clone()).unwrap();
    signed.head_hash = signed.head.hash().as_str().to_owned();
    signed.signature = signer.map(|signer| signer.sign(&signed.head));
    *head = serde_json::to_value(signed).unwrap();
}

/// The forger's own key.
fn forger() -> SigningKey {
    SigningKey::generate([9; 32])
}

fn trusted() -> TrustedKeys {
    let mut trusted = TrustedKeys::default();
    trusted.trust(key().public_key());
    trusted
}

/// The fields of each record that one part has.
const RECORD: [&str; 7] = ["id", "type", "task_id", "timestamp", "prev_hash", "hash", "content_hash"];
const ORIGIN: [&str; 2] = ["agent_id", "session_id"];
/// The fields of a head of which a forger chooses the value; the others follow from the records.
const HEAD: [(&str, &str); 6] = [
    ("session_hash", "3a921d6de9f979197df4413a3b54ef1c3650205b994660104915285710269063"),
    ("chain_tips_hash", "1b950c361a83570db6630fd9a1551c37f262f10428b6fbd2577df83b12c251d5"),
    ("head_index", "7"),
    ("prev_head_hash", "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"),
    ("log_row_hash", "abababababababababababababababababababababababababababababababab"),
    ("finalized_at", "1999-01-01T00:00:00.000Z"),
];

fn same(left: &Value, right: &Value, fields: &[&str]) -> bool {
    fields.iter().all(|field| left[field] == right[field])
}

fn session_hash(session: &Value) -> HexDigest {
    let field = |name: &str| session[name].as_str().unwrap();
    let facts = SessionFacts {
        session_id: field("session_id"),
        intent: field("intent"),
        task_id: session["task_id"].as_str(),
        started_at: field("started_at"),
    };
    facts.hash()
}

/// A checkpoint pins every column of a record but the content, of which it pins the digest.
#[test]
fn a_checkpoint_fixes_every_column_of_a_record() {
    const GENUINE: PinnedRecord<'_> = PinnedRecord {
        agent_id: "a",
        content_hash: "b",
        created_at: "c",
        hash: "d",
        id: "e",
        prev_hash: "f",
        seq: 1,
        sequence_no: Some(2),
        session_id: Some("g"),
        task_id: "h",
        timestamp: "i",
        kind: "j",
    };
    let digest = |records: &[PinnedRecord<'_>]| {
        let mut pin = RecordsPin::NONE;
        records.iter().for_each(|record| pin.add(record, &mut Vec::new()));
        pin.digest
    };
    let other = [
        PinnedRecord { agent_id: "x", ..GENUINE },
        PinnedRecord { content_hash: "x", ..GENUINE },
        PinnedRecord { created_at: "x", ..GENUINE },
        PinnedRecord { hash: "x", ..GENUINE },
        PinnedRecord { id: "x", ..GENUINE },
        PinnedRecord { prev_hash: "x", ..GENUINE },
        PinnedRecord { seq: 2, ..GENUINE },
        PinnedRecord { sequence_no: None, ..GENUINE },
        PinnedRecord { session_id: None, ..GENUINE },
        PinnedRecord { task_id: "x", ..GENUINE },
        PinnedRecord { timestamp: "x", ..GENUINE },
        PinnedRecord { kind: "x", ..GENUINE },
    ];
    for forged in other {
        assert_ne!(digest(&[forged]), digest(&[GENUINE]), "{forged:?}");
        assert_ne!(digest(&[forged, GENUINE]), digest(&[GENUINE, forged]), "{forged:?}");
    }
    assert_ne!(digest(&[GENUINE, GENUINE]), digest(&[GENUINE]));
}
