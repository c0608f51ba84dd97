//! Inclusion bundles of stored records.

use colibri::domains::proof::{ExportError, bundle_of};
use colibri_proof::bundle::{InclusionBundle, parse_bundle, verify_bundle};
use colibri_proof::keys::{SignatureStatus, TrustedKeys};
use colibri_runtime::handler::Failure;
use serde_json::{Value, json};

use crate::proof::world::{SEED, World, launch};

/// The key of [`SEED`].
fn trusted() -> TrustedKeys {
    TrustedKeys::parse("03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8").unwrap()
}

fn ids(world: &World) -> Vec<String> {
    let mut statement = world.sql.prepare("SELECT id FROM thought_records ORDER BY seq").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn bundle(world: &World, record_id: &str) -> InclusionBundle {
    bundle_of(&world.db(), "S", record_id).unwrap()
}

#[test]
fn each_record_of_a_seal_has_a_bundle_that_proves_it() {
    let mut world = World::signing();
    world.sealed("S", "T", &["one", "two", "three", "four", "five", "six", "seven"]);
    for id in ids(&world) {
        let file = bundle(&world, &id).to_file().unwrap();
        assert!(!file.contains(SEED));
        let parsed = parse_bundle(file.as_bytes()).unwrap();
        let verdict = verify_bundle(&parsed, &trusted(), true);
        assert!(verdict.valid, "{verdict:?}");
        assert_eq!((verdict.record_hash, verdict.signature), (Some(true), SignatureStatus::Valid));
    }
}

#[test]
fn without_a_signature_a_bundle_does_not_do_where_one_is_required() {
    let mut world = World::new();
    world.sealed("S", "T", &["one", "two"]);
    let bundle = bundle(&world, &ids(&world)[0]);
    assert!(verify_bundle(&bundle, &trusted(), false).valid);
    assert!(!verify_bundle(&bundle, &trusted(), true).valid);
}

/// Changes each scalar of a value by itself, except the advisory positions of the legacy proof.
fn each_change(value: &Value, path: &str, change: &mut dyn FnMut(&str, Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "position") {
                each_change(member, &format!("{path}/{name}"), change);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                each_change(item, &format!("{path}/{index}"), change);
            }
        }
        Value::String(text) => {
            let last = if text.ends_with('0') { '1' } else { '0' };
            let mut chars: Vec<char> = text.chars().collect();
            *chars.last_mut().unwrap() = last;
            change(path, json!(chars.into_iter().collect::<String>()));
        }
        Value::Number(number) => change(path, json!(number.as_i64().unwrap() + 1)),
        Value::Null | Value::Bool(_) => panic!("nothing to change at {path}"),
    }
}

#[test]
fn any_one_change_of_a_bundle_is_seen() {
    let mut world = World::signing();
    world.sealed("S", "T", &["one", "two", "three", "four", "five"]);
    let sound = serde_json::to_value(bundle(&world, &ids(&world)[2])).unwrap();
    let mut changes = 0;
    each_change(&sound, "", &mut |path, value| {
        let mut changed = sound.clone();
        *changed.pointer_mut(path).unwrap() = value;
        let valid = serde_json::from_value::<InclusionBundle>(changed)
            .is_ok_and(|bundle| verify_bundle(&bundle, &trusted(), false).valid);
        assert!(!valid, "a change of {path} is not seen");
        changes += 1;
    });
    assert!(changes > 35, "{changes}");
}

#[test]
fn a_record_whose_content_was_dropped_is_still_proved() {
    let mut world = World::new();
    world.sealed("S", "T", &["one", "two", "three"]);
    let id = &ids(&world)[1];
    let digest = colibri_canonical::HexDigest::of(b"two");
    world.tamper(
        "UPDATE thought_records SET zone = 'cold', content = NULL, content_hash = ?2 WHERE id = ?1",
        &[id, &digest.as_str()],
    );
    let bundle = bundle(&world, id);
    assert_eq!(bundle.record.content, None);
    let verdict = verify_bundle(&bundle, &TrustedKeys::default(), false);
    assert_eq!((verdict.record_hash, verdict.valid), (None, true), "{verdict:?}");
    assert_eq!(world.verify("S")["session"]["tree_head_match"], true);
}

#[test]
fn a_record_changed_since_gets_a_bundle_that_proves_nothing() {
    let mut world = World::new();
    world.sealed("S", "T", &["one", "two", "three"]);
    let ids = ids(&world);
    world.disarm();
    world.tamper("UPDATE thought_records SET content = 'forged' WHERE id = ?1", &[&ids[1]]);
    let verdict = verify_bundle(&bundle(&world, &ids[1]), &TrustedKeys::default(), false);
    assert_eq!((verdict.record_hash, verdict.rfc9162_proof, verdict.valid), (Some(false), false, false));
    // The session's other records are still proved.
    assert!(verify_bundle(&bundle(&world, &ids[2]), &TrustedKeys::default(), false).valid);
}

/// Returns why a bundle was refused.
fn refusal(world: &World, session_id: &str, record_id: &str) -> ExportError {
    match bundle_of(&world.db(), session_id, record_id) {
        Err(Failure::Domain(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_records_of_sealed_sessions_have_bundles() {
    let mut world = World::around(launch().start());
    world.start("open");
    world.think("open", "T", "zero");
    world.sealed("S", "T", &["one"]);
    let ids = ids(&world);
    assert_eq!(refusal(&world, "nope", &ids[1]), ExportError::SessionNotFound("nope".into()));
    assert_eq!(refusal(&world, "open", &ids[0]), ExportError::NotFinalized("open".into()));
    for record in [&ids[0], "nope"] {
        let expected = ExportError::RecordNotFound { record_id: record.into(), session_id: "S".into() };
        assert_eq!(refusal(&world, "S", record), expected);
    }
    world.disarm();
    world.tamper("DELETE FROM thought_records WHERE id = ?1", &[&ids[1]]);
    assert!(matches!(refusal(&world, "S", &ids[1]), ExportError::Damaged { .. }));
    world.tamper("DELETE FROM tree_heads", &[]);
    assert!(matches!(refusal(&world, "S", &ids[1]), ExportError::Damaged { .. }));
}
