//! Proof files: made where the database is, checked where it is not.

use colibri_proof::bundle::{parse_bundle, verify_bundle};
use colibri_proof::keys::TrustedKeys;
use serde_json::Value;

use crate::auditor::world::{Elsewhere, World, hash};

#[test]
fn a_proof_made_here_checks_elsewhere_without_database_and_environment() {
    let mut world = World::signing();
    let (ids, head) = world.usual();
    let elsewhere = Elsewhere::new();
    for id in &ids {
        elsewhere.put("proof.json", world.product(&["proof", "S", id]));
        let check =
            ["check-proof", "proof.json", "--root", hash(&head, "head_hash"), "--key", &world.public_key];
        let verdict = elsewhere.run(&[&check[..], &["--json"]].concat()).ends(0).json();
        assert_eq!(
            (&verdict["valid"], &verdict["record_id"]),
            (&Value::from(true), &Value::from(id.as_str()))
        );
        assert_eq!((&verdict["root_match"], &verdict["signature"]), (&"head_hash".into(), &"valid".into()));
        let text = elsewhere.run(&check).ends(0).out;
        assert!(text.contains("The proof holds.") && text.contains("Proven: the head was signed"), "{text}");
        assert!(!text.contains(['\0', '\u{202e}']), "{text}");
    }
    assert_eq!(elsewhere.files(), ["proof.json"]);
}

#[test]
fn each_of_the_three_published_hashes_is_recognised_and_any_other_refused() {
    let mut world = World::new();
    let (ids, head) = world.usual();
    let elsewhere = Elsewhere::new();
    elsewhere.put("proof.json", world.product(&["proof", "S", &ids[0]]));
    for (name, matched) in
        [("head_hash", "head_hash"), ("root_hash", "rfc9162_root"), ("legacy_root", "legacy_root")]
    {
        let upper = hash(&head, name).to_uppercase();
        let run = elsewhere.run(&["check-proof", "proof.json", "--json", "--root", &upper]).ends(0);
        assert_eq!(run.json()["root_match"], matched);
    }
    let other = "0".repeat(64);
    let refused = elsewhere.run(&["check-proof", "proof.json", "--root", &other]).ends(1);
    assert!(refused.out.contains("FAIL  --root"), "{}", refused.out);
}

#[test]
fn every_changed_byte_of_a_proof_file_fails() {
    let mut world = World::signing();
    let (ids, _) = world.usual();
    let good = world.product(&["proof", "S", &ids[1]]).into_bytes();
    let holds = |bytes: &[u8]| {
        parse_bundle(bytes).is_ok_and(|b| verify_bundle(&b, &TrustedKeys::default(), false).valid)
    };
    assert!(holds(&good));
    let mut changed = good.clone();
    for at in 0..good.len() {
        for bit in 0..8 {
            changed[at] = good[at] ^ 1 << bit;
            assert!(!holds(&changed), "byte {at} as {}", changed[at]);
        }
        changed[at] = good[at];
        assert!(!holds(&[&good[..at], &good[at + 1..]].concat()), "without byte {at}");
        assert!(!holds(&good[..at]), "the first {at} bytes");
    }
    assert!(!holds(&[&good[..], b"\n"].concat()));
}

#[test]
fn a_changed_proof_file_fails_by_the_check_that_it_concerns() {
    let mut world = World::signing();
    let (ids, head) = world.usual();
    let good = world.product(&["proof", "S", &ids[0]]);
    let elsewhere = Elsewhere::new();
    let intent = (hash(&head, "session_hash"), "0".repeat(64));
    for (from, to, failed) in [
        ("\"first\"", "\"fIrst\"", "FAIL  content"),
        ("agent-7", "agent-8", "FAIL  RFC 9162"),
        ("\"leaf_index\":0", "\"leaf_index\":1", "FAIL  RFC 9162"),
        ("\"record_count\":3", "\"record_count\":4", "FAIL  tree head"),
        ("\"log_exit_no\":5", "\"log_exit_no\":6", "FAIL  head hash"),
        (intent.0, &intent.1, "FAIL  head hash"),
        (hash(&head, "signature"), &"0".repeat(128), "FAIL  signature"),
        ("\"v\":1", "\"v\": 1", "FAIL  form"),
        ("\"record\":{", "\"record\":", "FAIL  form"),
    ] {
        assert!(good.contains(from), "{from}");
        elsewhere.put("proof.json", good.replace(from, to));
        let run = elsewhere.run(&["check-proof", "proof.json"]).ends(1);
        assert!(run.out.contains(failed), "{from} -> {to}: {}", run.out);
        let json = elsewhere.run(&["check-proof", "proof.json", "--json"]).ends(1).json();
        assert_eq!(json["valid"], false);
    }
}

#[test]
fn a_signature_is_required_when_a_key_is_named_and_only_then() {
    let mut unsigned = World::new();
    let (ids, _) = unsigned.usual();
    let signing = World::signing();
    let elsewhere = Elsewhere::new();
    elsewhere.put("proof.json", unsigned.product(&["proof", "S", &ids[0]]));
    let text = elsewhere.run(&["check-proof", "proof.json"]).ends(3).out;
    assert!(text.contains("Not proven: who sealed it; the head is not signed."), "{text}");
    elsewhere.run(&["check-proof", "proof.json", "--key", &signing.public_key]).ends(1);
}

#[test]
fn a_key_counts_by_its_text_or_its_file_and_another_does_not() {
    let mut world = World::signing();
    let (ids, _) = world.usual();
    let other = World::signing().public_key;
    let elsewhere = Elsewhere::new();
    elsewhere.put("proof.json", world.product(&["proof", "S", &ids[0]]));
    elsewhere.put("auditor.pub", format!("{}\n", world.public_key));
    let check = |keys: &[&str]| elsewhere.run(&[&["check-proof", "proof.json"], keys].concat());
    check(&["--key", "auditor.pub"]).ends(0);
    check(&["--key", &other, "--key", &world.public_key]).ends(0);
    let refused = check(&["--key", &other]).ends(1);
    assert!(refused.out.contains("FAIL  signature"), "{}", refused.out);
}

#[test]
fn what_was_asked_the_wrong_way_ends_with_2() {
    let mut world = World::signing();
    let (ids, _) = world.usual();
    let elsewhere = Elsewhere::new();
    elsewhere.put("proof.json", world.product(&["proof", "S", &ids[0]]));
    elsewhere.put("words.txt", "no key at all");
    // The signing key's own file in place of its public half: it is never trusted, even if it parses as a key.
    elsewhere.put("seed", std::fs::read(world.folder.path().join("seal.key")).unwrap());
    for wrong in [
        &["check-proof"][..],
        &["check-proof", "none.json"],
        &["check-proof", "."],
        &["check-proof", "words.txt"],
        &["check-proof", "proof.json", "--root", "abc"],
        &["check-proof", "proof.json", "--key", "none.pub"],
        &["check-proof", "proof.json", "--key", "words.txt"],
        &["check-proof", "proof.json", "--key", "seed"],
    ] {
        let run = elsewhere.run(wrong).ends(2);
        assert_eq!(run.out, "", "{wrong:?}");
        assert!(!run.err.is_empty(), "{wrong:?}");
    }
}

#[test]
fn there_is_no_proof_of_what_is_not_sealed() {
    let mut world = World::new();
    let (ids, _) = world.usual();
    world.start("open");
    let loose = world.think("open", "T", "not yet");
    for (session, record, expected) in [
        ("open", &loose, "still open"),
        ("S", &loose, "is not in audit session S"),
        ("none", &ids[0], "there is no audit session \"none\""),
    ] {
        let run = world.run(&["proof", session, record]).ends(2);
        assert!(run.out.is_empty() && run.err.contains(expected), "{}", run.err);
    }
    world.tamper("UPDATE thought_records SET agent_id = 'somebody' WHERE content = 'first'");
    let run = world.run(&["proof", "S", &ids[0]]).ends(1);
    assert!(run.out.is_empty() && run.err.contains("has changed since it was sealed"), "{}", run.err);
    world.product(&["proof", "S", &ids[2]]);
}

#[test]
fn a_proof_file_is_never_written_over_another() {
    let mut world = World::new();
    let (ids, head) = world.usual();
    let said = world.run(&["proof", "S", &ids[0], "--out", "proof.json"]).ends(0).out;
    assert!(said.contains(hash(&head, "head_hash")), "{said}");
    let first = std::fs::read(world.folder.path().join("proof.json")).unwrap();
    assert_eq!(first, world.product(&["proof", "S", &ids[0]]).into_bytes());
    let again = world.run(&["proof", "S", &ids[1], "--out", "proof.json"]).ends(2);
    assert!(again.err.contains("was not changed"), "{}", again.err);
    assert_eq!(std::fs::read(world.folder.path().join("proof.json")).unwrap(), first);
    let json = world.run(&["proof", "S", &ids[1], "--out", "second.json", "--json"]).ends(0).json();
    assert_eq!(json["head_hash"], head["head_hash"]);
}

#[test]
fn a_dropped_content_is_proved_by_its_digest() {
    let mut world = World::new();
    let (ids, head) = world.usual();
    let digest = colibri_canonical::HexDigest::of(b"first");
    let sql = world.sql();
    let dropped = "UPDATE thought_records SET content = NULL, zone = 'cold', content_hash = ?1 WHERE id = ?2";
    sql.execute(dropped, (digest.as_str(), &ids[0])).unwrap();
    let elsewhere = Elsewhere::new();
    elsewhere.put("proof.json", world.product(&["proof", "S", &ids[0]]));
    let verdict = elsewhere
        .run(&["check-proof", "proof.json", "--json", "--root", hash(&head, "head_hash")])
        .ends(0)
        .json();
    assert_eq!((&verdict["record_hash"], &verdict["rfc9162_proof"]), (&Value::Null, &Value::from(true)));
    assert!(elsewhere.run(&["check-proof", "proof.json"]).ends(3).out.contains(digest.as_str()));
}

#[test]
fn a_store_sealed_anew_from_the_start_does_not_give_the_published_hash() {
    let (mut honest, mut forger) = (World::new(), World::new());
    let (_, published) = honest.usual();
    let (ids, _) = forger.usual();
    let elsewhere = Elsewhere::new();
    elsewhere.put("proof.json", forger.product(&["proof", "S", &ids[0]]));
    elsewhere.run(&["check-proof", "proof.json"]).ends(3);
    elsewhere.run(&["check-proof", "proof.json", "--root", hash(&published, "head_hash")]).ends(1);
}
