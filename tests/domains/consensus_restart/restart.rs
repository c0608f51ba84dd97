//! Rounds outlive their process, keys only if they have a file.

use crate::consensus_restart::support::{
    SEED_A, accept, accepted, assert_verified, ballot, finality, finish, folder, launch, level, node,
    numbers, observed, propose, refusal,
};
use colibri_test_support::client::{envelope, notices};
use serde_json::json;

#[test]
fn a_round_is_the_same_after_a_restart() {
    let folder = folder();
    let mut server = node(&folder);
    assert_eq!(propose(&mut server, "aa"), "1");
    accepted(&mut server, "1", "aa");
    let before = finality(&mut server, "1");
    assert_eq!(before["level"], "HARD");
    finish(server);

    let mut server = node(&folder);
    assert_eq!(finality(&mut server, "1"), before);
    assert_eq!(propose(&mut server, "cc"), "2");
    assert_eq!(level(&mut server, "2"), "QUORUM");
    let times = numbers(&server.sql(), "SELECT timestamp_logical FROM mcp_consensus_votes ORDER BY seq");
    // The proposal took 1 to 3, the vote 4; the next process goes on behind what is stored.
    assert_eq!(times, [Some(1), Some(4), Some(5)]);
    finish(server);
    assert_verified(&folder);
}

#[test]
fn every_kind_of_round_is_the_same_after_a_restart() {
    let folder = folder();
    let mut server = node(&folder);
    let rounds = ["1", "2", "3", "4", "5"];
    for (round_id, root) in rounds.iter().zip(["a1", "a2", "a3", "a4", "a5"]) {
        assert_eq!(propose(&mut server, root), *round_id);
    }
    server.data("consensus_vote", ballot("2", "a2", "REJECT"));
    accepted(&mut server, "3", "cc");
    accepted(&mut server, "3", "a3");
    accepted(&mut server, "4", "a4");
    accepted(&mut server, "4", "cc");
    accepted(&mut server, "4", "dd");
    observed(&mut server, "5", "a5");
    observed(&mut server, "5", "cc");
    accepted(&mut server, "5", "a5");
    let before: Vec<_> = rounds.iter().map(|id| finality(&mut server, id)).collect();
    let levels: Vec<_> = before.iter().map(|round| round["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["QUORUM", "QUORUM", "QUORUM", "HARD", "HARD"]);
    // The observer's equivocation is proven as well; the observer is outside the committee, so it disturbs nothing.
    let proven = "SELECT round_id FROM mcp_consensus_equivocations ORDER BY trigger_seq";
    assert_eq!(numbers(&server.sql(), proven), [Some(3), Some(4), Some(5)]);
    finish(server);
    assert_verified(&folder);
    let mut server = node(&folder);
    let after: Vec<_> = rounds.iter().map(|id| finality(&mut server, id)).collect();
    assert_eq!(after, before);
    // What was excluded stays excluded.
    assert!(refusal(&accept(&mut server, "3", "a3")).starts_with("ALREADY_VOTED: "));
    accepted(&mut server, "3", "ee");
    assert_eq!(level(&mut server, "3"), "QUORUM");
}

#[test]
fn a_fresh_key_is_an_observer_of_older_rounds() {
    let folder = folder();
    let mut server = launch(&folder).start();
    assert_eq!(propose(&mut server, "aa"), "1");
    finish(server);
    let mut server = launch(&folder).start();
    accepted(&mut server, "1", "aa");
    assert_eq!(level(&mut server, "1"), "QUORUM");
    let epochs = numbers(&server.sql(), "SELECT epoch FROM mcp_consensus_votes ORDER BY seq");
    assert_eq!(epochs, [Some(1), None]);
    // Its own rounds still belong to it.
    assert_eq!(propose(&mut server, "cc"), "2");
    accepted(&mut server, "2", "cc");
    assert_eq!(level(&mut server, "2"), "HARD");
    finish(server);
    assert_verified(&folder);
}

#[test]
fn a_key_with_a_file_is_the_same_after_a_restart() {
    let folder = folder();
    let mut server = node(&folder);
    assert_eq!(propose(&mut server, "aa"), "1");
    accepted(&mut server, "1", "aa");
    finish(server);
    let mut server = node(&folder);
    assert!(refusal(&accept(&mut server, "1", "aa")).starts_with("ALREADY_VOTED: soul:21fe31df"));
    // The same key by hand is the same arbiter.
    let mut vote = ballot("1", "aa", "ABSTAIN");
    vote["privKey"] = json!(SEED_A);
    let envelope = server.call("consensus_vote", vote);
    assert!(refusal(&envelope).starts_with("ALREADY_VOTED: soul:21fe31df"), "{envelope}");
}

#[test]
fn a_vote_that_does_not_count_says_so() {
    let folder = folder();
    // Without a file the key ends with the process.
    let mut server = launch(&folder).start();
    assert_eq!(propose(&mut server, "aa"), "1");
    let params =
        |round: &str| json!({ "name": "consensus_vote", "arguments": ballot(round, "aa", "ACCEPT") });
    let counted = server.request("tools/call", params("1"));
    assert_eq!(notices(&counted), [""; 0], "{counted}");
    assert_eq!(level(&mut server, "1"), "HARD");
    assert_eq!(propose(&mut server, "aa"), "2");
    finish(server);

    let mut server = launch(&folder).start();
    let vote = server.request("tools/call", params("2"));
    assert_eq!(envelope(&vote)["data"]["vote_signed"], true, "{vote}");
    assert_eq!(notices(&vote), ["VOTE_NOT_COUNTED"], "{vote}");
    assert_eq!(level(&mut server, "2"), "QUORUM");
    finish(server);
    assert_verified(&folder);
}

#[test]
fn what_readonly_keeps_in_memory_says_so() {
    let folder = folder();
    let mut server = node(&folder);
    assert_eq!(propose(&mut server, "aa"), "1");
    finish(server);
    let key = folder.path().join("node.key");
    let mut server =
        launch(&folder).env("COLIBRI_MODE", "READONLY").env("COLIBRI_CONSENSUS_KEY_FILE", key).start();
    let tuple = json!({ "merkle_root_hex": "aa".repeat(32), "rule_version_hash_hex": "bb".repeat(32) });
    let proposal = json!({ "name": "consensus_propose", "arguments": { "event": tuple } });
    let round = server.request("tools/call", proposal);
    assert_eq!(envelope(&round)["data"]["round_id"], "2", "{round}");
    assert_eq!(notices(&round), ["ROUND_NOT_STORED"], "{round}");
    let vote = json!({ "name": "consensus_vote", "arguments": ballot("1", "aa", "ACCEPT") });
    assert_eq!(notices(&server.request("tools/call", vote)), ["ROUND_NOT_STORED"]);
}
