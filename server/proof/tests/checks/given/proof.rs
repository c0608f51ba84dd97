//! Forged proofs: one record of four, whose roots, head hash and key are public.

use colibri_canonical::HexDigest;
use colibri_proof::bundle::{InclusionBundle, verify_bundle};
use colibri_proof::given::{Matched, Part, Subject, matched};
use colibri_proof::keys::{SignatureStatus, TrustedKeys};
use colibri_proof::rfc9162;
use serde_json::{Value, json};

use super::{HEAD, ORIGIN, Passed, RECORD, WAYS, forger, hash, leaf, rehash, reseal, same, trusted};
use crate::proof::support::{bundle, key};

/// The last of the four records: its path also fits other places in larger trees.
fn genuine() -> Value {
    serde_json::to_value(bundle(3, Some(&key()))).unwrap()
}

/// Each single change of what the record says, who wrote it and what the head says.
fn changes() -> Vec<Value> {
    let mut all = vec![genuine()];
    let mut change = |pointer: &str, to: Value| {
        let mut forged = genuine();
        *forged.pointer_mut(pointer).unwrap() = to;
        all.push(forged);
    };
    for (field, to) in
        [("id", "other"), ("type", "decision"), ("task_id", "T"), ("timestamp", "2020-01-01T00:00:00.000Z")]
    {
        change(&format!("/record/{field}"), json!(to));
    }
    change("/record/prev_hash", json!("0".repeat(64)));
    change("/record/content", json!("We pay Mallory."));
    change("/record/agent_id", json!("the-board"));
    change("/record/session_id", json!("S-2"));
    for (field, to) in HEAD {
        let to = if field == "head_index" { json!(7) } else { json!(to) };
        change(&format!("/tree_head/{field}"), to);
    }
    change("/tree_head/log_exit_no", json!(1));
    all
}

/// The other shapes that a forger gives to the trees around a record.
fn shapes(changed: &Value) -> Vec<Value> {
    let root = genuine()["legacy"]["root"].clone();
    let mut all = vec![changed.clone()];
    let mut shape = |cold: bool, legacy: bool, tree: bool, alter: &dyn Fn(&mut Value)| {
        let mut forged = changed.clone();
        if cold {
            // Only the digest of the invented content is stated, so the hash may be any node of the legacy tree.
            let digest = HexDigest::of(forged["record"]["content"].as_str().unwrap().as_bytes());
            forged["record"]["content"] = Value::Null;
            forged["record"]["content_hash"] = json!(digest.as_str());
        } else {
            rehash(&mut forged["record"]);
        }
        alter(&mut forged);
        if legacy {
            forged["legacy"] = json!({ "root": forged["record"]["hash"], "record_count": 1, "proof": [] });
        }
        if tree {
            let alone = HexDigest::from_raw(&leaf(&forged["record"]));
            let alone =
                json!({ "leaf_index": 0, "tree_size": 1, "audit_path": [], "root_hash": alone.as_str() });
            forged["rfc9162"] = alone;
        }
        let size = forged["rfc9162"]["tree_size"].clone();
        forged["legacy"]["record_count"] = size;
        all.push(forged);
    };
    for cold in [false, true] {
        // Both trees kept, either one kept, neither.
        for (legacy, tree) in [(false, false), (true, false), (false, true), (true, true)] {
            shape(cold, legacy, tree, &|_| {});
        }
        // The same path at another place of a tree of another size.
        for size in 1..20_u64 {
            for index in 0..size {
                let place = move |forged: &mut Value| {
                    forged["rfc9162"]["leaf_index"] = json!(index);
                    forged["rfc9162"]["tree_size"] = json!(size);
                };
                let sealed = genuine();
                let path = sealed["rfc9162"]["audit_path"].as_array().unwrap();
                let path: Vec<_> = path.iter().map(|step| hash(step).raw()).collect();
                let (record, root) =
                    (leaf(&changed["record"]), hash(&genuine()["rfc9162"]["root_hash"]).raw());
                if rfc9162::verify_inclusion(index, size, &record, &path, &root) {
                    shape(cold, true, false, &place);
                }
            }
        }
    }
    // The root itself, or an inner node, passes for the hash of a record.
    shape(true, false, true, &|forged| {
        forged["record"]["hash"] = root.clone();
        forged["legacy"]["proof"] = json!([]);
    });
    shape(true, false, true, &|forged| {
        let proof = forged["legacy"]["proof"].as_array_mut().unwrap();
        let first = proof.remove(0);
        let [own, sibling] =
            [hash(&genuine()["record"]["hash"]), hash(&first["data"])].map(|hash| hash.raw());
        let pair = if own < sibling { [own, sibling] } else { [sibling, own] };
        forged["record"]["hash"] = json!(HexDigest::of(&pair.concat()).as_str());
    });
    all
}

/// Makes the head fit, and signs it or not.
fn sealed(shape: &Value) -> Vec<Value> {
    let seal = |signer| {
        let mut forged = shape.clone();
        forged["tree_head"]["session_id"] = forged["record"]["session_id"].clone();
        forged["tree_head"]["legacy_root"] = forged["legacy"]["root"].clone();
        forged["tree_head"]["root_hash"] = forged["rfc9162"]["root_hash"].clone();
        forged["tree_head"]["tree_size"] = forged["rfc9162"]["tree_size"].clone();
        reseal(&mut forged["tree_head"], signer);
        forged
    };
    vec![shape.clone(), seal(None), seal(Some(&forger()))]
}

/// Returns the parts in which a proof differs from the genuine one.
fn differences(forged: &Value) -> Vec<Part> {
    let genuine = genuine();
    let (record, was) = (&forged["record"], &genuine["record"]);
    let content = record["content"].is_null() || record["content"] == was["content"];
    let (tree, tree_was) = (&forged["rfc9162"], &genuine["rfc9162"]);
    let (head, head_was) = (&forged["tree_head"], &genuine["tree_head"]);
    let fields: Vec<&str> =
        HEAD.iter().map(|(field, _)| *field).chain(["log_exit_no", "root_hash", "legacy_root"]).collect();
    let checks = [
        (Part::Record, same(record, was, &RECORD) && content),
        (Part::Origin, same(record, was, &ORIGIN)),
        (Part::Order, tree["leaf_index"] == tree_was["leaf_index"]),
        (Part::Number, tree["tree_size"] == tree_was["tree_size"]),
        (Part::Head, same(head, head_was, &fields)),
        (Part::Signer, same(head, head_was, &["signature", "key_id", "public_key"])),
    ];
    checks.into_iter().filter(|(_, same)| !same).map(|(part, _)| part).collect()
}

#[test]
fn no_forged_proof_differs_in_a_part_that_the_table_calls_fixed() {
    let sealed_head = bundle(3, Some(&key())).tree_head;
    let mut passed = Passed::default();
    let forged = changes().iter().flat_map(shapes).collect::<Vec<_>>();
    for file in forged.iter().flat_map(sealed) {
        let Ok(bundle) = serde_json::from_value::<InclusionBundle>(file.clone()) else { continue };
        let whole = bundle.record.content.is_some();
        let unkeyed = verify_bundle(&bundle, &TrustedKeys::default(), false);
        let signed = verify_bundle(&bundle, &trusted(), true);
        for way in WAYS {
            let published = way.root.map(|root| match root {
                Matched::HeadHash => &sealed_head.head_hash,
                Matched::Rfc9162Root => &sealed_head.head.root_hash,
                Matched::LegacyRoot => &sealed_head.head.legacy_root,
            });
            let found = published.map(|root| matched(&HexDigest::parse(root).unwrap(), &bundle.tree_head));
            let passes = if way.signed {
                signed.valid
            } else {
                unkeyed.valid && found.is_none_or(|found| found.is_some())
            };
            if passes {
                assert_eq!(signed.signature == SignatureStatus::Valid, signed.valid);
                // The file may show the given hash under another name.
                let way = colibri_proof::given::Given { root: found.flatten(), ..way };
                passed.take(Subject::Proof, way, whole, &differences(&file), &file.to_string());
            }
        }
    }
    passed.are_all_that_the_table_leaves_open(Subject::Proof);
}

/// The hash that a reader has may be of any kind. As a bare legacy root it would let anyone invent a record.
#[test]
fn no_published_hash_proves_an_invented_record_as_a_bare_legacy_root() {
    let head = bundle(3, Some(&key())).tree_head;
    for published in [&head.head_hash, &head.head.root_hash, &head.head.legacy_root] {
        let mut forged = genuine();
        forged["record"]["content"] = Value::Null;
        forged["record"]["hash"] = json!(published);
        forged["record"]["agent_id"] = json!("the-board");
        forged["legacy"] = json!({ "root": published, "record_count": 1, "proof": [] });
        let alone = HexDigest::from_raw(&leaf(&forged["record"]));
        forged["rfc9162"] =
            json!({ "leaf_index": 0, "tree_size": 1, "audit_path": [], "root_hash": alone.as_str() });
        let forged = sealed(&forged).remove(1);
        let bundle: InclusionBundle = serde_json::from_value(forged).unwrap();
        assert!(verify_bundle(&bundle, &TrustedKeys::default(), false).valid, "the file agrees with itself");
        let root = matched(&HexDigest::parse(published).unwrap(), &bundle.tree_head);
        assert_eq!(root, Some(Matched::LegacyRoot));
        let given = colibri_proof::given::Given { root, signed: false };
        assert_eq!(given.fixes(Subject::Proof, false), []);
    }
}
