//! Votes by the node.

use serde_json::{Value, json};

use crate::consensus::world::{
    R, R2, SEED_A, SIG_V2, SIG_V2R, SIG_VX, V, World, malformed_hashes, sender_id, sha256_hex, vote,
};

/// What is said of a second explicit vote of the node on a root in round 1.
fn already(root: &str) -> String {
    format!("ALREADY_VOTED: {} has voted on 1|{root}|{V} before", sender_id(SEED_A))
}

#[test]
fn the_vote_after_the_proposal_makes_a_round_hard() {
    let mut world = World::proposed();
    assert_eq!(world.vote("1", R, "ACCEPT"), SIG_V2);
    assert_eq!(world.level("1"), "HARD");
    let evidence = world.evidence("1");
    assert_eq!(evidence.len(), 492);
    assert_eq!(sha256_hex(&evidence), "b16cd03d3623ee5678c45ea690ddff27d2d27cc10e689f326ab879bf1cd450cd");
}

#[test]
fn one_explicit_vote_for_each_tuple() {
    let mut world = World::hard();
    let before = world.finality("1");
    for vote_type in ["ACCEPT", "REJECT", "ABSTAIN"] {
        assert_eq!(world.failed("consensus_vote", vote("1", R, vote_type)), already(R));
    }
    assert!(already(R).starts_with("ALREADY_VOTED: soul:21fe31df"));
    assert_eq!(world.finality("1"), before);
}

#[test]
fn a_rejection_does_not_count_and_cannot_be_taken_back() {
    let mut world = World::proposed();
    assert_eq!(world.vote("1", R, "REJECT"), SIG_V2R);
    assert_eq!(world.level("1"), "QUORUM");
    assert_eq!(world.failed("consensus_vote", vote("1", R, "ACCEPT")), already(R));
    assert_eq!(world.level("1"), "QUORUM");
    assert_eq!(world.equivocations(), (0, None), "another type on the same tuple is no double vote");
}

#[test]
fn a_vote_on_another_root_is_signed_and_proven() {
    let mut world = World::proposed();
    assert_eq!(world.vote("1", R2, "ACCEPT"), SIG_VX);
    assert_eq!(world.level("1"), "QUORUM");
    let hash = "e7830a3378b9a466c861e979810f819f3abe43beb04fa7914108289af0f6daa2";
    assert_eq!(world.equivocations(), (1, Some(hash.to_owned())));
    world.vote("1", R, "ACCEPT");
    assert_eq!(world.level("1"), "QUORUM", "the votes of a proven equivocator do not count");
    assert_eq!(world.number("SELECT count(*) FROM mcp_consensus_votes"), 3, "but they are kept");
}

#[test]
fn a_level_that_was_reached_is_kept() {
    let mut world = World::hard();
    world.vote("1", R2, "ACCEPT");
    assert_eq!(world.level("1"), "HARD");
    assert_eq!(world.equivocations().0, 1);
    world.vote("1", &"dd".repeat(32), "ACCEPT");
    assert_eq!(
        (world.level("1").as_str(), world.equivocations().0),
        ("HARD", 1),
        "one proof a round and sender"
    );
    let statuses = "SELECT count(*) FROM mcp_consensus_equivocations WHERE slash_status = 'UNAPPLIED'";
    assert_eq!(world.number(statuses), 1);
}

#[test]
fn a_vote_is_a_strict_object() {
    let mut world = World::proposed();
    let with = |key: &str, value: Value| {
        let mut arguments = vote("1", R, "ACCEPT");
        arguments["vote"][key] = value;
        arguments
    };
    let without = |key: &str| {
        let mut arguments = vote("1", R, "ACCEPT");
        arguments["vote"].as_object_mut().unwrap().remove(key);
        arguments
    };
    for wrong in ["accept", "MAYBE", "", "ACCEPT "] {
        world.invalid("consensus_vote", with("vote_type", json!(wrong)));
    }
    world.invalid("consensus_vote", without("vote_type"));
    world.invalid("consensus_vote", with("vote_type", json!(1)));
    world.invalid("consensus_vote", with("more", json!(1)));
    world.invalid("consensus_vote", json!({ "round_id": "1" }));
    let mut more = vote("1", R, "ACCEPT");
    more["more"] = json!(1);
    world.invalid("consensus_vote", more);
    for id in [json!(1), json!("-1"), json!(""), json!("9".repeat(79))] {
        let mut arguments = vote("1", R, "ACCEPT");
        arguments["round_id"] = id;
        world.invalid("consensus_vote", arguments);
    }
}

#[test]
fn signatures_are_88_characters_of_base64() {
    let mut world = World::proposed();
    for root in [R.to_owned(), R2.to_owned(), "12".repeat(32), "ef".repeat(32)] {
        let signature = world.vote("1", &root, "ABSTAIN");
        assert_eq!(signature.len(), 88);
        let digits = signature.strip_suffix("==").expect("64 bytes end so");
        assert!(digits.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'+' || c == b'/'), "{signature}");
        let sql = "SELECT signature FROM mcp_consensus_votes ORDER BY seq DESC LIMIT 1";
        let stored: Vec<u8> = world.sql.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(decoded(&signature), stored, "the stored one");
    }
}

/// The bytes of base64, digit by digit.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = text.bytes().filter(|c| *c != b'=').flat_map(|c| {
        let value = DIGITS.bytes().position(|digit| digit == c).unwrap();
        (0..6).rev().map(move |bit| value >> bit & 1)
    });
    let bits: Vec<usize> = bits.collect();
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | *bit as u8)).collect()
}

#[test]
fn malformed_hashes_in_a_vote_store_nothing() {
    let mut world = World::proposed();
    for key in ["merkle_root_hex", "rule_version_hash_hex"] {
        for wrong in malformed_hashes() {
            let mut arguments = vote("1", R, "ACCEPT");
            arguments["vote"][key] = wrong;
            world.invalid("consensus_vote", arguments);
        }
        let mut arguments = vote("1", R, "ACCEPT");
        arguments["vote"].as_object_mut().unwrap().remove(key);
        world.invalid("consensus_vote", arguments);
    }
    assert_eq!(world.level("1"), "QUORUM");
}

#[test]
fn an_abstention_is_signed_and_does_not_count() {
    let mut world = World::proposed();
    assert_eq!(world.vote("1", R, "ABSTAIN").len(), 88);
    assert_eq!(world.level("1"), "QUORUM");
}
