//! Reading a round.

use colibri_canonical::hex;
use colibri_consensus::messages::{Message, SignedMessage, Vote, VoteType};
use colibri_consensus::signing::StrictEd25519;
use serde_json::{Value, json};

use crate::consensus::world::{SEED_A, World, sender_id, sha256_hex};

/// The public key of arbiter A.
const PUBLIC_A: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

#[test]
fn the_evidence_of_a_quorum_is_checked_outside() {
    let mut world = World::proposed();
    let finality = world.finality("1");
    assert_eq!((&finality["round_id"], &finality["level"]), (&json!("1"), &json!("QUORUM")), "{finality}");
    let evidence = world.evidence("1");
    assert_eq!(evidence.len(), 479);
    assert_eq!(sha256_hex(&evidence), "4e1c9c3120300e77ab6a56f3712a7c45ca03f4c0ea1bf8022822037785de9ca6");

    let evidence: Value = serde_json::from_slice(&evidence).unwrap();
    let votes = evidence["votes"].as_array().unwrap();
    assert_eq!((&evidence["tag"], votes.len()), (&json!("quorum"), 1));
    let vote = Vote::from_value(&votes[0]).unwrap();
    assert_eq!((vote.sender_id, vote.vote_type), (sender_id(SEED_A), VoteType::Accept));
    assert!(vote.is_signed_by(&hex::decode_array(PUBLIC_A).unwrap(), &StrictEd25519));
}

#[test]
fn a_round_that_is_not_there() {
    let mut world = World::proposed();
    let message = world.failed("consensus_finality", json!({ "round_id": "999" }));
    assert_eq!(message, "ROUND_NOT_FOUND: 999");
}

#[test]
fn a_round_id_is_its_decimal_and_nothing_else() {
    let mut world = World::proposed();
    let nines = "9".repeat(78);
    for id in ["0", "01", "9223372036854775808", nines.as_str(), "2", "00000000000000000001"] {
        let message = world.failed("consensus_finality", json!({ "round_id": id }));
        assert_eq!(message, format!("ROUND_NOT_FOUND: {id}"));
    }
    let long = "9".repeat(79);
    for id in ["-1", "+1", "1.0", "1e0", "abc", "", " 1", "1 ", "1\n", "\u{661}", long.as_str()] {
        world.invalid("consensus_finality", json!({ "round_id": id }));
    }
    for arguments in [json!({ "round_id": 1 }), json!({ "round_id": null }), json!({})] {
        world.invalid("consensus_finality", arguments);
    }
    world.invalid("consensus_finality", json!({ "round_id": "1", "more": 1 }));
}

#[test]
fn reading_changes_nothing() {
    let mut world = World::proposed();
    let mut text = || {
        let params = json!({ "name": "consensus_finality", "arguments": { "round_id": "1" } });
        world.server.request("tools/call", params)["result"]["content"][0]["text"].clone()
    };
    let first = text();
    assert!(first.as_str().unwrap().contains("QUORUM"), "{first}");
    assert_eq!(text(), first, "byte for byte");
}
