//! Verdicts on bundles (proof#bundle).

use colibri_proof::bundle::{BundleVerdict, InclusionBundle, verify_bundle};
use colibri_proof::keys::{SignatureStatus, SigningKey, TrustedKeys};
use serde_json::{Value, json};

use crate::proof::support::{bundle, key};

fn trusted() -> TrustedKeys {
    let mut trusted = TrustedKeys::default();
    trusted.trust(key().public_key());
    trusted
}

const SOUND: BundleVerdict = BundleVerdict {
    record_hash: Some(true),
    legacy_proof: true,
    rfc9162_proof: true,
    tree_head_match: true,
    head_hash: true,
    signature: SignatureStatus::Valid,
    valid: true,
};

#[test]
fn the_bundle_of_each_record_is_valid() {
    for index in 0..4 {
        let signed = bundle(index, Some(&key()));
        assert_eq!(verify_bundle(&signed, &trusted(), true), SOUND, "record {index}");
        let unknown = BundleVerdict { signature: SignatureStatus::UnknownKey, ..SOUND };
        assert_eq!(verify_bundle(&signed, &TrustedKeys::default(), false), unknown, "record {index}");
        let unsigned = BundleVerdict { signature: SignatureStatus::Unsigned, ..SOUND };
        assert_eq!(verify_bundle(&bundle(index, None), &trusted(), false), unsigned, "record {index}");
    }
}

#[test]
fn a_signature_that_is_required_must_be_a_trusted_keys() {
    let unsigned = verify_bundle(&bundle(0, None), &trusted(), true);
    assert_eq!((unsigned.valid, unsigned.signature), (false, SignatureStatus::Unsigned));
    let stranger = verify_bundle(&bundle(0, Some(&SigningKey::generate([9; 32]))), &trusted(), true);
    assert_eq!((stranger.valid, stranger.signature), (false, SignatureStatus::UnknownKey));
}

#[test]
fn dropped_content_leaves_the_rest_valid() {
    let mut cold = bundle(2, Some(&key()));
    cold.record.content = None;
    let verdict = verify_bundle(&cold, &trusted(), true);
    assert_eq!(verdict, BundleVerdict { record_hash: None, ..SOUND });
    cold.record.content_hash = cold.record.hash.clone();
    let verdict = verify_bundle(&cold, &trusted(), true);
    assert!(!verdict.valid && !verdict.rfc9162_proof, "the digest is still proved");
}

/// Each check speaks for itself: what was altered, and the one or two verdicts that say so.
#[test]
fn each_verdict_is_about_its_own_part() {
    type Alter = fn(&mut InclusionBundle);
    let cases: [(&str, Alter, BundleVerdict); 6] = [
        (
            "author",
            |bundle| bundle.record.agent_id.push('x'),
            BundleVerdict { rfc9162_proof: false, valid: false, ..SOUND },
        ),
        (
            "content",
            |bundle| bundle.record.content.as_mut().unwrap().push('x'),
            BundleVerdict { record_hash: Some(false), valid: false, ..SOUND },
        ),
        (
            "legacy proof",
            |bundle| drop(bundle.legacy.proof.pop()),
            BundleVerdict { legacy_proof: false, valid: false, ..SOUND },
        ),
        (
            "number of records",
            |bundle| bundle.legacy.record_count += 1,
            BundleVerdict { tree_head_match: false, valid: false, ..SOUND },
        ),
        (
            "hash of the head",
            |bundle| bundle.tree_head.head_hash = "0".repeat(64),
            BundleVerdict { head_hash: false, valid: false, ..SOUND },
        ),
        (
            "signature",
            |bundle| bundle.tree_head.signature.as_mut().unwrap().signature = "0".repeat(128),
            BundleVerdict { signature: SignatureStatus::Invalid, valid: false, ..SOUND },
        ),
    ];
    for (what, alter, verdict) in cases {
        let mut altered = bundle(1, Some(&key()));
        alter(&mut altered);
        assert_eq!(verify_bundle(&altered, &trusted(), false), verdict, "{what}");
    }
}

#[test]
fn altering_any_field_is_seen() {
    for signing in [Some(key()), None] {
        let sound = serde_json::to_value(bundle(1, signing.as_ref())).unwrap();
        let mut places = Vec::new();
        leaves(&sound, String::new(), &mut places);
        assert!(places.len() >= 37, "{places:?}");
        for place in places {
            for altered in alterations(sound.pointer(&place).unwrap()) {
                let mut file = sound.clone();
                *file.pointer_mut(&place).unwrap() = altered.clone();
                let valid = serde_json::from_value::<InclusionBundle>(file)
                    .is_ok_and(|bundle| verify_bundle(&bundle, &TrustedKeys::default(), false).valid);
                // Positions are advisory, because pairs are sorted; and a text in place of a step's side is not a side.
                let expected = place.ends_with("/position") && ["left", "right"].iter().any(|side| altered == *side)
                    // Retention drops it; the digest stays proved.
                    || place == "/record/content" && altered.is_null();
                assert_eq!(valid, expected, "{place} = {altered}");
            }
        }
    }
}

/// The places of all values that hold no other.
fn leaves(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| leaves(value, format!("{at}/{key}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| leaves(value, format!("{at}/{index}"), found));
        }
        _ => found.push(at),
    }
}

/// Other values in the place of one.
fn alterations(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let number = number.as_i64().unwrap();
            vec![
                json!(number + 1),
                json!(number - 1),
                json!(-number - 1),
                json!(i64::MAX),
                json!("1"),
                json!(null),
            ]
        }
        Value::Null => vec![json!("0".repeat(64)), json!(""), json!(0)],
        Value::String(text) => {
            let mut others =
                vec![json!(format!("{text}x")), json!(""), json!("0".repeat(64)), json!(7), json!(null)];
            others.extend(["left", "right", "plan", "analysis"].map(|word| json!(word)));
            others.push(json!(text.to_uppercase()));
            others.retain(|other| other != value);
            others
        }
        other => panic!("{other} is no leaf"),
    }
}

#[test]
fn hostile_numbers_and_texts_do_not_panic() {
    for number in [i64::MIN, -1, 0, i64::MAX] {
        let mut hostile = bundle(3, Some(&key()));
        hostile.rfc9162.leaf_index = number;
        hostile.rfc9162.tree_size = i64::MAX;
        hostile.tree_head.head.tree_size = number;
        hostile.rfc9162.audit_path.push("é".repeat(32));
        assert!(!verify_bundle(&hostile, &trusted(), false).valid);
    }
}
