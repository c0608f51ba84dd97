//! The node's key file (consensus#node-key).

use crate::consensus_restart::support::{
    SEED_A, folder, launch, level, node, propose, refusal, set_mode, write_key,
};
use serde_json::json;

fn proposal() -> serde_json::Value {
    json!({ "event": { "merkle_root_hex": "aa".repeat(32), "rule_version_hash_hex": "bb".repeat(32) } })
}

#[cfg(unix)]
fn mode_of(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;

    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_that_is_not_there_is_made_when_the_key_is_needed() {
    let folder = folder();
    let path = folder.path().join("made.key");
    let mut server = launch(&folder).env("COLIBRI_CONSENSUS_KEY_FILE", &path).start();
    server.data("consensus_gossip", json!({ "peer_id": "p" }));
    assert!(!path.exists(), "nobody needed it");
    assert_eq!(propose(&mut server, "aa"), "1");
    let text = std::fs::read_to_string(&path).unwrap();
    let (hex, end) = text.split_at(64);
    assert!(end == "\n" && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    #[cfg(unix)]
    assert_eq!(mode_of(&path), 0o600);
    server.finish();
    // The next process has the same key.
    let mut server = launch(&folder).env("COLIBRI_CONSENSUS_KEY_FILE", &path).start();
    crate::consensus_restart::support::accepted(&mut server, "1", "aa");
    assert_eq!(level(&mut server, "1"), "HARD");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_file_that_cannot_be_used_fails_the_calls_that_need_it() {
    let malformed = "expected 64 lowercase hex characters";
    let cases: [(&str, String, u32, &str); 8] = [
        ("uppercase", SEED_A.to_uppercase(), 0o600, malformed),
        ("too short", SEED_A[1..].to_owned(), 0o600, malformed),
        ("too long", format!("{SEED_A}0"), 0o600, malformed),
        ("two line ends", format!("{SEED_A}\n\n"), 0o600, malformed),
        ("Windows's line end", format!("{SEED_A}\r\n"), 0o600, malformed),
        ("empty", String::new(), 0o600, malformed),
        ("seed and public key", SEED_A.repeat(2), 0o600, malformed),
        ("readable by others", SEED_A.to_owned(), 0o640, "mode 0640"),
    ];
    for (name, text, mode, expected) in cases {
        let folder = folder();
        let path = folder.path().join("node.key");
        write_key(&path, &text, mode);
        let mut server = node(&folder);
        let refused = refusal(&server.call("consensus_propose", proposal()));
        assert!(refused.starts_with("INVALID_KEY: node key file: "), "{name}: {refused}");
        assert!(refused.contains(expected), "{name}: {refused}");
        assert!(!refused.contains("node.key") && !refused.contains(&SEED_A[..8]), "{name}: {refused}");
        // What needs no key works, and a key that was mended is used without a restart.
        server.data("consensus_gossip", json!({ "peer_id": "p" }));
        std::fs::write(&path, SEED_A).unwrap();
        set_mode(&path, 0o600);
        assert_eq!(propose(&mut server, "aa"), "1", "{name}");
    }
    let folder = folder();
    std::fs::create_dir(folder.path().join("node.key")).unwrap();
    let refused = refusal(&node(&folder).call("consensus_propose", proposal()));
    assert_eq!(refused, "INVALID_KEY: node key file: not a regular file");
}

#[test]
fn a_folder_that_is_not_there_is_said() {
    let folder = folder();
    let path = folder.path().join("none").join("node.key");
    let mut server = launch(&folder).env("COLIBRI_CONSENSUS_KEY_FILE", &path).start();
    let refused = refusal(&server.call("consensus_propose", proposal()));
    assert!(
        refused.starts_with("INVALID_KEY: node key file: cannot be created (entity not found)"),
        "{refused}"
    );
}

#[test]
fn an_unknown_round_is_said_before_a_bad_key_file() {
    let folder = folder();
    write_key(&folder.path().join("node.key"), "no key", 0o600);
    let mut server = node(&folder);
    let refused = refusal(&crate::consensus_restart::support::accept(&mut server, "7", "aa"));
    assert_eq!(refused, "ROUND_NOT_FOUND: 7");
}
