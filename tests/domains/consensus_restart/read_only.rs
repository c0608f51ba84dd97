//! A database that is only read.

use crate::consensus_restart::support::{
    SEED_A, accept, accepted, ballot, database, finality, finish, folder, launch, level, node, observed,
    propose, refusal, write_key,
};
use colibri_test_support::engine;
use serde_json::json;

#[test]
fn a_read_only_database_is_left_as_it_is() {
    let folder = folder();
    let mut server = node(&folder);
    for (root, round) in [("a1", "1"), ("a2", "2"), ("a3", "3")] {
        assert_eq!(propose(&mut server, root), round);
    }
    accepted(&mut server, "1", "a1");
    let before: Vec<_> = ["1", "2", "3"].iter().map(|id| finality(&mut server, id)).collect();
    finish(server);
    let bytes = engine::contents(&database(&folder));

    let key = folder.path().join("node.key");
    write_key(&key, SEED_A, 0o600);
    let read_only =
        || launch(&folder).env("COLIBRI_MODE", "READONLY").env("COLIBRI_CONSENSUS_KEY_FILE", &key).start();
    let mut server = read_only();
    let seen: Vec<_> = ["1", "2", "3"].iter().map(|id| finality(&mut server, id)).collect();
    assert_eq!(seen, before);
    // New rounds get ids above the stored ones, and go through the same levels.
    assert_eq!(propose(&mut server, "b4"), "4");
    assert_eq!(propose(&mut server, "b5"), "5");
    assert_eq!(level(&mut server, "4"), "QUORUM");
    accepted(&mut server, "4", "b4");
    assert_eq!(level(&mut server, "4"), "HARD");
    assert!(refusal(&accept(&mut server, "4", "b4")).starts_with("ALREADY_VOTED: "));
    accepted(&mut server, "5", "cc");
    accepted(&mut server, "5", "b5");
    assert_eq!(level(&mut server, "5"), "QUORUM", "an equivocator is excluded in memory as well");
    // Stored rounds can be voted on, in memory.
    accepted(&mut server, "2", "a2");
    observed(&mut server, "3", "a3");
    assert_eq!((level(&mut server, "2"), level(&mut server, "3")), ("HARD".into(), "QUORUM".into()));
    assert!(refusal(&accept(&mut server, "1", "a1")).starts_with("ALREADY_VOTED: "));
    let unknown = server.call("consensus_vote", ballot("6", "aa", "ACCEPT"));
    assert_eq!(refusal(&unknown), "ROUND_NOT_FOUND: 6");
    finish(server);
    assert_eq!(engine::contents(&database(&folder)), bytes);

    // The next process knows nothing of it.
    let mut server = read_only();
    let seen: Vec<_> = ["1", "2", "3"].iter().map(|id| finality(&mut server, id)).collect();
    assert_eq!(seen, before);
    let gone = server.call("consensus_finality", json!({ "round_id": "4" }));
    assert_eq!(refusal(&gone), "ROUND_NOT_FOUND: 4");
}

/// A round that another process goes on with, and one that is new.
#[test]
fn what_others_write_meanwhile_is_read() {
    let folder = folder();
    let mut writer = node(&folder);
    assert_eq!(propose(&mut writer, "a1"), "1");
    let mut reader = launch(&folder).env("COLIBRI_MODE", "READONLY").start();
    assert_eq!(level(&mut reader, "1"), "QUORUM");
    accepted(&mut writer, "1", "a1");
    assert_eq!(level(&mut reader, "1"), "HARD");
    assert_eq!(propose(&mut writer, "a2"), "2");
    assert_eq!(level(&mut reader, "2"), "QUORUM");
    assert_eq!(propose(&mut reader, "b3"), "3");
    assert_eq!(level(&mut reader, "3"), "QUORUM");
}
