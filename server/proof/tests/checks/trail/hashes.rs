//! Record hashes: the golden digests of trail#golden-vectors.

use colibri_canonical::HexDigest;
use colibri_canonical::{NumberRule, canonical_json};
use colibri_proof::record::{Preimage, THOUGHT_TYPES, ThoughtRecord, ThoughtType, compute_hash};
use proptest::prelude::*;
use serde_json::json;

use crate::trail::support::{five, id, record};

fn r1() -> ThoughtRecord {
    record("r1", ThoughtType::Plan, "t1", "hello", "2026-04-17T00:00:00Z", HexDigest::ZERO)
}

#[test]
fn the_pinned_record_hashes_as_the_original_did() {
    let preimage = concat!(
        r#"{"content":"hello","id":"r1","#,
        r#""prev_hash":"0000000000000000000000000000000000000000000000000000000000000000","#,
        r#""task_id":"t1","timestamp":"2026-04-17T00:00:00Z","type":"plan"}"#
    );
    let mut bytes = Vec::new();
    r1().preimage().write(&mut bytes);
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), preimage);
    assert_eq!(bytes.len(), 172);
    assert_eq!(r1().hash.as_str(), "6a2f9597f563d5515cfa69891a51806d0f93bfbe222997d3ba37c365ceee3f1a");
}

#[test]
fn every_variant_has_its_digest() {
    let kinds = [
        (ThoughtType::Analysis, "40f564920b018e7b3386606580faa4f20ec969762ccca70812886e61b58b4c21"),
        (ThoughtType::Decision, "37252a1284a90d5a6e225a68bc59527518e002b45b5aeb5d08807ea0ed6e2c0c"),
        (ThoughtType::Reflection, "a193ad5e1e94578f6ab8c737e0bd05eb989edc55aace8bee3159b08c7373baae"),
    ];
    for (kind, digest) in kinds {
        let varied = ThoughtRecord { kind, ..r1() };
        assert_eq!(compute_hash(&varied).as_str(), digest, "{kind:?}");
    }
    let long = "a".repeat(64);
    let contents = [
        ("", "c54edc6cb7354e37819d20bc27e618160fcdcc58027d9620bd813cb6bfe8f9ed"),
        ("x", "830e315e8ea24f3da19f7a5cff183fa46eb43f204882fe41d9b8551543fa362f"),
        (" ", "5a465f3220d6e5290db447d2991466ef85e68654037c5ddf6ca14df74711f80c"),
        ("\0", "2ca3322a196db2a987a65d16d3b1fccd81d1e6ffb05135cb3406299364000b18"),
        ("\u{e9}", "d7f9a8175c5013cd108b2ef4daecf34c0c42b5deb82d8fc222f00d041b3f03d7"),
        ("e\u{301}", "15af0884dafe3e71dff968a0147fa08ab261cbe85e20c0b78928d23606b06c9c"),
        (&long, "2890442dfcd177c6c20a780de673c7f47e9eaad4b014666af3b3a7efe4c32144"),
    ];
    for (content, digest) in contents {
        let varied = ThoughtRecord { content: content.to_owned(), ..r1() };
        assert_eq!(compute_hash(&varied).as_str(), digest, "{content:?}");
    }
}

#[test]
fn the_second_record_links_to_the_first() {
    let second = record("r2", ThoughtType::Reflection, "t1", "world", "2026-04-17T00:00:01Z", r1().hash);
    assert_eq!(second.hash.as_str(), "2f616d9fd12baac42b21f0b10bdb4e9840cac24154cffd13da621b4019b1347f");
}

#[test]
fn author_and_session_are_not_hashed() {
    let other = ThoughtRecord { agent_id: "somebody".to_owned(), session_id: Some("S".to_owned()), ..r1() };
    assert_eq!(compute_hash(&other), r1().hash);
}

#[test]
fn the_five_records_have_their_digests() {
    let digests: Vec<String> = five().iter().map(|record| record.hash.as_str().to_owned()).collect();
    let expected = [
        "cf5a3ced9a621eadd272ebf871f8501005f5a93e3589437bcba93b821f62aa5b",
        "f6ec467d458bdca4a24b291f722fee92cabc8443358912d30fe4812400d36a55",
        "fd0b093f33a391d1094bc6b526083274962e42a14835217f6bd8e90213a8c08e",
        "be32f512effce6f1bf5b6e9e4a0e9c111a75e8811b118eb53eb1f1dbd7edc29d",
        "add65fcd73e2bd30e00661310a712a1aa97ed32b5c4b9d26ffd7947de066af0b",
    ];
    assert_eq!(digests, expected);
}

#[test]
fn only_what_must_be_escaped_is() {
    let task = "11111111-1111-4111-8111-111111111111";
    let prev = "cb442dbde3290de883021555c288c256c989c40332f6732b9c65e801ea69e712";
    let content = "\u{6f22}\u{5b57} \u{e9} \u{1f600} \u{1} \u{7f} \u{2028} end";
    let prev = HexDigest::parse(prev).unwrap();
    let third = record(&id(3), ThoughtType::Decision, task, content, "2026-05-01T10:00:01.250Z", prev);
    assert_eq!(third.hash.as_str(), "be7bc3b9bca9d1cd4fb8969bb5bf2f21099013e11e8e35713f1a4064ad2243b9");
    let mut bytes = Vec::new();
    third.preimage().write(&mut bytes);
    assert_eq!(bytes.len(), 274);
    let start =
        b"{\"content\":\"\xe6\xbc\xa2\xe5\xad\x97 \xc3\xa9 \xf0\x9f\x98\x80 \\u0001 \x7f \xe2\x80\xa8 end\",";
    assert!(bytes.starts_with(start));
}

#[test]
fn thought_types_are_named_as_they_are_stored() {
    let names: Vec<&str> = THOUGHT_TYPES.into_iter().map(ThoughtType::as_str).collect();
    assert_eq!(names, ["plan", "analysis", "decision", "reflection"]);
    for kind in THOUGHT_TYPES {
        assert_eq!(ThoughtType::parse(kind.as_str()), Some(kind));
    }
    for unknown in ["Plan", "gate", "", "plan "] {
        assert_eq!(ThoughtType::parse(unknown), None, "{unknown:?}");
    }
}

proptest! {
    /// The writer of known keys and the project's one encoder agree, and the scratch is not part of the hash.
    #[test]
    fn preimages_are_what_the_general_encoder_writes(
        fields in prop::array::uniform6(any::<String>()),
        scratch in any::<Vec<u8>>(),
    ) {
        let [content, id, prev_hash, task_id, timestamp, kind] = &fields;
        let preimage = Preimage { content, id, prev_hash, task_id, timestamp, kind };
        let object = json!({
            "type": kind, "id": id, "content": content, "task_id": task_id,
            "timestamp": timestamp, "prev_hash": prev_hash,
        });
        let canonical = canonical_json(&object, NumberRule::Trail).unwrap();
        let mut bytes = Vec::new();
        preimage.write(&mut bytes);
        prop_assert_eq!(String::from_utf8(bytes).unwrap(), canonical.clone());
        let mut scratch = scratch;
        prop_assert_eq!(preimage.hash(&mut scratch), HexDigest::of(canonical.as_bytes()));
    }
}
