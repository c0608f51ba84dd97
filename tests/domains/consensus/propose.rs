//! Rounds.

use serde_json::{Value, json};

use crate::consensus::world::{R, R2, V, World, event, malformed_hashes};

#[test]
fn a_proposal_of_one_arbiter_reaches_a_quorum() {
    let mut world = World::new();
    assert_eq!(world.propose(R), json!({ "round_id": "1", "status": "QUORUM" }));
}

#[test]
fn every_proposal_is_a_round_of_its_own() {
    let mut world = World::proposed();
    assert_eq!(world.propose(R), json!({ "round_id": "2", "status": "QUORUM" }));
    assert_eq!(world.propose(R2), json!({ "round_id": "3", "status": "QUORUM" }));
    let roots = "SELECT prev_merkle_root FROM mcp_consensus_rounds ORDER BY round_id";
    let mut roots = world.sql.prepare(roots).unwrap();
    let previous = roots.query_map([], |row| Ok(row.get::<_, Vec<u8>>(0)?[0])).unwrap();
    let previous: Vec<u8> = previous.map(Result::unwrap).collect();
    assert_eq!(previous, [0, 0xaa, 0xaa], "each names the root before it");
    drop(roots);
}

#[test]
fn malformed_roots_open_no_round() {
    let mut world = World::new();
    for wrong in malformed_hashes() {
        let mut arguments = event(R, V);
        arguments["event"]["merkle_root_hex"] = wrong.clone();
        world.invalid("consensus_propose", arguments);
        let mut arguments = event(R, V);
        arguments["event"]["rule_version_hash_hex"] = wrong;
        world.invalid("consensus_propose", arguments);
    }
    assert_eq!(world.propose(R)["round_id"], "1", "no id was used up");
}

#[test]
fn an_event_is_a_strict_object() {
    let mut world = World::new();
    let hashes = json!({ "merkle_root_hex": R, "rule_version_hash_hex": V });
    let with = |key: &str| {
        let mut event = hashes.clone();
        event[key] = json!(1);
        event
    };
    let cases: [Value; 8] = [
        json!({}),
        json!({ "event": null }),
        json!({ "event": [] }),
        json!({ "event": "x" }),
        json!({ "event": { "merkle_root_hex": R } }),
        json!({ "event": { "rule_version_hash_hex": V } }),
        json!({ "event": with("more") }),
        json!({ "event": hashes, "more": 1 }),
    ];
    for arguments in cases {
        world.invalid("consensus_propose", arguments);
    }
    assert_eq!(world.propose(R)["round_id"], "1");
}
