//! The file form of bundles: one form only, and every byte of it counts.

use colibri_proof::bundle::{
    BundleError, InclusionBundle, MAX_FILE_BYTES, NotABundle, parse_bundle, verify_bundle,
};
use colibri_proof::keys::TrustedKeys;
use proptest::prelude::*;

use crate::proof::support::{bundle, key};

fn file(index: usize) -> String {
    bundle(index, Some(&key())).to_file().unwrap()
}

#[test]
fn a_file_is_read_as_it_was_written() {
    for index in 0..4 {
        let mut cold = bundle(index, None);
        cold.record.content = None;
        for bundle in [bundle(index, Some(&key())), bundle(index, None), cold] {
            let file = bundle.to_file().unwrap();
            assert!(file.starts_with(r#"{"format":"colibri-inclusion-bundle","legacy":{"#), "{file}");
            assert!(file.ends_with("},\"v\":1}\n") && file.lines().count() == 1, "{file}");
            assert_eq!(parse_bundle(file.as_bytes()).unwrap(), bundle);
        }
    }
}

#[test]
fn each_changed_byte_of_a_file_is_seen() {
    // Two records: one whose content needs escapes, one beyond ASCII. No key is trusted: the file itself tells.
    for index in [1, 2] {
        let sound = file(index).into_bytes();
        for at in 0..sound.len() {
            for other in others(sound[at]) {
                let mut bytes = sound.clone();
                bytes[at] = other;
                assert!(!holds(&bytes), "record {index}, byte {at}: {} -> {other}", sound[at]);
            }
            let mut shorter = sound.clone();
            shorter.remove(at);
            assert!(!holds(&shorter), "record {index}, byte {at} left out");
        }
    }
}

/// Bytes that are likely to read as something else, and one with each bit flipped.
fn others(byte: u8) -> Vec<u8> {
    let mut others: Vec<u8> = (0..8).map(|bit| byte ^ 1 << bit).collect();
    others.extend(b"09afF \n\"\\,}-.\0");
    others.retain(|other| *other != byte);
    others
}

fn holds(bytes: &[u8]) -> bool {
    parse_bundle(bytes).is_ok_and(|bundle| verify_bundle(&bundle, &TrustedKeys::default(), false).valid)
}

#[test]
fn other_forms_of_the_same_values_are_refused() {
    let sound = file(0);
    assert!(holds(sound.as_bytes()));
    let forms = [
        sound.trim_end().to_owned(),
        format!("{sound}\n"),
        format!(" {sound}"),
        sound.replace("\n", "\r\n"),
        sound.replacen(':', ": ", 1),
        sound.replacen("agent-7", "agent\\u002d7", 1),
        sound.replacen("\"v\":1", "\"v\":1.0", 1),
        sound.replacen("\"tree_size\":4", "\"tree_size\":4e0", 1),
        sound.replacen("\"leaf_index\":0", "\"leaf_index\":-0", 1),
        sound.replacen("\"legacy\":{", "\"legacy\":{\"more\":1,", 1),
        sound.replacen("{\"format\"", "{\"a\":1,\"format\"", 1),
        sound.replacen("\"position\":\"left\"}", "\"position\":\"left\",\"position\":\"left\"}", 1),
        format!("\u{feff}{sound}"),
        serde_json::to_string_pretty(&bundle(0, Some(&key()))).unwrap(),
        serde_json::to_string(&bundle(0, Some(&key()))).unwrap() + "\n",
    ];
    for form in forms {
        assert_ne!(form, sound, "a form that is none");
        assert!(parse_bundle(form.as_bytes()).is_err(), "{form}");
    }
    let error = parse_bundle(format!("{sound} ").as_bytes()).unwrap_err();
    assert!(matches!(error, BundleError::NotCanonical { at } if at == sound.len()), "{error}");
}

#[test]
fn members_that_are_missing_are_missed() {
    let unsigned = bundle(0, None).to_file().unwrap();
    for member in [
        r#""content":"Plan: build the ζ verifier","#,
        r#","signature":null"#,
        r#""key_id":null,"#,
        ",\"v\":1",
    ] {
        let without = unsigned.replacen(member, "", 1);
        assert_ne!(without, unsigned, "{member}");
        assert!(parse_bundle(without.as_bytes()).is_err(), "without {member}");
    }
}

#[test]
fn no_file_is_too_large_or_too_deep_to_be_refused() {
    let mut huge = file(0).into_bytes();
    huge.resize(MAX_FILE_BYTES + 1, b' ');
    assert!(matches!(parse_bundle(&huge), Err(BundleError::NotABundle(NotABundle::TooLarge))));
    for open in ["[", "{\"record\":", "{\"legacy\":{\"proof\":["] {
        assert!(parse_bundle(open.repeat(200_000).as_bytes()).is_err(), "{open}");
    }
    let mut unsafe_number = bundle(0, None);
    unsafe_number.legacy.record_count = 1 << 53;
    assert!(matches!(unsafe_number.to_file(), Err(BundleError::Number(_))));
}

#[test]
fn the_largest_record_fits() {
    let mut largest: InclusionBundle = bundle(0, None);
    largest.record.content = Some("\u{1}".repeat(1 << 20));
    let file = largest.to_file().unwrap();
    assert!(file.len() < MAX_FILE_BYTES);
    assert_eq!(parse_bundle(file.as_bytes()).unwrap(), largest);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
        prop_assert!(parse_bundle(&bytes).is_err());
    }

    /// Several edits at random places: refused, or not valid.
    #[test]
    fn edited_files_prove_nothing(
        index in 0_usize..4,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let sound = file(index).into_bytes();
        let mut bytes = sound.clone();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert_eq!(holds(&bytes), bytes == sound);
    }
}
