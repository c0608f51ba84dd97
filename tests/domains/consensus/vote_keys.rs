//! Votes with keys of the caller's own.

use serde_json::json;

use crate::consensus::world::{PKCS8, PUBLIC_B, R, SEED_B, SEED_C, SIG_VB, V, World, sender_id, vote_by};

fn already_b() -> String {
    format!("ALREADY_VOTED: {} has voted on 1|{R}|{V} before", sender_id(SEED_B))
}

#[test]
fn a_vote_by_another_key_is_an_observers() {
    let mut world = World::proposed();
    assert_eq!(world.vote_by(SEED_B), SIG_VB);
    assert_eq!(world.level("1"), "QUORUM");
    let observed = "SELECT count(*) FROM mcp_consensus_votes WHERE epoch IS NULL AND origin = 'VOTE'";
    assert_eq!(world.number(observed), 1);
    let epoch = "SELECT epoch FROM mcp_consensus_rounds WHERE round_id = 1";
    assert_eq!(world.number(epoch), 1, "it uses up no epoch");
}

#[test]
fn the_node_votes_after_an_observer() {
    let mut world = World::proposed();
    world.vote_by(SEED_B);
    world.vote("1", R, "ACCEPT");
    assert_eq!(world.level("1"), "HARD");
    assert_eq!(world.failed("consensus_vote", vote_by("1", R, "ACCEPT", SEED_B)), already_b());
}

#[test]
fn every_form_of_a_key_is_the_same_sender() {
    let forms = [SEED_B.to_owned(), format!("{PKCS8}{SEED_B}"), format!("{SEED_B}{PUBLIC_B}")];
    for first in &forms {
        let mut world = World::proposed();
        assert_eq!(world.vote_by(first), SIG_VB, "{first}");
        for second in &forms {
            let message = world.failed("consensus_vote", vote_by("1", R, "ACCEPT", second));
            assert_eq!(message, already_b());
        }
    }
}

#[test]
fn what_is_no_key_signs_nothing() {
    let mut world = World::proposed();
    for (key, message) in [
        ("aa".repeat(31), "INVALID_KEY: expected 32, 48 or 64 bytes, got 31"),
        (String::new(), "INVALID_KEY: key is empty"),
        ("aa".repeat(128), "INVALID_KEY: expected 32, 48 or 64 bytes, got 128"),
        ("aa".repeat(48), "INVALID_KEY: 48-byte key is not an Ed25519 PKCS#8 document"),
        (format!("{SEED_C}{PUBLIC_B}"), "INVALID_KEY: public half does not match the seed"),
    ] {
        assert_eq!(world.failed("consensus_vote", vote_by("1", R, "ACCEPT", &key)), message, "{key}");
    }
    let odd = &SEED_B[1..];
    let long = "aa".repeat(129);
    for key in [odd, &SEED_B.to_uppercase(), &format!("0x{SEED_B}"), "zz", " ", &long] {
        world.invalid("consensus_vote", vote_by("1", R, "ACCEPT", key));
    }
    let mut arguments = vote_by("1", R, "ACCEPT", SEED_B);
    arguments["privKey"] = json!(null);
    world.invalid("consensus_vote", arguments);
}

#[test]
fn the_round_is_looked_for_first() {
    let mut world = World::proposed();
    let message = world.failed("consensus_vote", vote_by("7", R, "ACCEPT", "aa"));
    assert_eq!(message, "ROUND_NOT_FOUND: 7");
}
