//! The signing key.

use colibri_test_support::engine;
use serde_json::Value;

use crate::proof::world::{SEED, World, key_file, launch, set_mode, text};

#[test]
fn without_a_key_heads_are_unsigned() {
    let mut world = World::new();
    let head = world.sealed("S", "T", &["x"])["tree_head"].clone();
    for member in ["signature", "key_id", "public_key"] {
        assert_eq!(head.as_object().unwrap().get(member), Some(&Value::Null), "{member}");
    }
    let nulls =
        "SELECT count(*) FROM tree_heads WHERE signature IS NULL AND key_id IS NULL AND public_key IS NULL";
    assert_eq!(world.number(nulls, &[]), 1);
}

#[test]
fn with_a_key_they_name_it() {
    let mut world = World::signing();
    let head = world.sealed("S", "T", &["x"])["tree_head"].clone();
    assert_eq!(head["public_key"], "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
    assert_eq!(head["key_id"], "56475aa75463474c0285df5dbf2bcab7");
    assert_eq!(text(&head, "signature").len(), 128);
}

/// Whether the server refuses to start with that key file, before it has opened anything.
fn refused(text: &str, mode: u32) -> String {
    let launch = launch();
    let path = key_file(launch.folder().path(), "key", text);
    set_mode(&path, mode);
    let server = launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", &path).start();
    let database = server.database();
    let ended = server.wait();
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    assert!(ended.rest.is_empty());
    assert!(engine::is_postgres() || !database.exists());
    assert!(ended.stderr.contains("[colibri] fatal: COLIBRI_PROOF_SIGNING_KEY_FILE"), "{}", ended.stderr);
    assert!(!ended.stderr.contains(&SEED[8..40]), "the seed is shown: {}", ended.stderr);
    ended.stderr
}

#[test]
fn a_malformed_key_file_is_refused() {
    for text in [&SEED[1..], "", &format!("{SEED}00"), &format!("x{}", &SEED[1..]), &format!("{SEED}\n\n")] {
        refused(text, 0o600);
    }
}

#[cfg(unix)]
#[test]
fn a_key_file_that_others_may_read_is_refused() {
    for mode in [0o644, 0o640, 0o604, 0o620] {
        let stderr = refused(SEED, mode);
        assert!(stderr.contains(&format!("{mode:04o}")), "{stderr}");
    }
}

#[test]
fn a_key_file_that_is_not_there_is_refused() {
    let ended = launch().env("COLIBRI_PROOF_SIGNING_KEY_FILE", "no-such-file").start().wait();
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("no-such-file"), "{}", ended.stderr);
}

#[test]
fn a_line_end_after_the_key_does_not_matter() {
    let launch = launch();
    let path = key_file(launch.folder().path(), "key", &format!("{SEED}\n"));
    let mut world = World::around(launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", path).start());
    assert!(world.sealed("S", "T", &["x"])["tree_head"]["signature"].is_string());
}

#[test]
fn minimal_reads_no_key() {
    let launch =
        launch().env("COLIBRI_MODE", "MINIMAL").env("COLIBRI_PROOF_SIGNING_KEY_FILE", "no-such-file");
    let mut server = launch.start();
    server.data("server_ping", serde_json::json!({}));
    assert_eq!(server.finish().code(), 0);
}

#[test]
fn a_trusted_key_that_is_no_key_is_refused() {
    // 64 hex characters, but a point of small order: it would verify forged signatures.
    let weak = "0".repeat(64);
    let ended = launch().env("COLIBRI_PROOF_TRUSTED_KEYS", &weak).start().wait();
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("COLIBRI_PROOF_TRUSTED_KEYS"), "{}", ended.stderr);
}
