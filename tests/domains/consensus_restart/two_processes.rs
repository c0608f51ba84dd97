//! Two processes with one key file on one database.

use serde_json::json;

use crate::consensus_restart::support::{
    SEED_B, accept, accepted, assert_verified, ballot, finish, folder, launch, level, node, numbers,
    observed, propose, refusal,
};

#[test]
fn two_processes_with_one_key_take_turns() {
    let folder = folder();
    let (mut one, mut other) = (node(&folder), node(&folder));
    assert_eq!((propose(&mut one, "a1").as_str(), propose(&mut other, "a2").as_str()), ("1", "2"));
    for _ in 0..5 {
        propose(&mut one, "a3");
        propose(&mut other, "a4");
    }
    // Each votes on its own round, then on the other's; in between each reads what the other has done.
    accepted(&mut one, "1", "a1");
    accepted(&mut other, "2", "a2");
    for (server, round) in [(&mut one, "2"), (&mut other, "1")] {
        assert_eq!(level(server, round), "HARD");
    }
    for round in 3..13 {
        let (round, root) = (round.to_string(), if round % 2 == 1 { "a3" } else { "a4" });
        assert_eq!((level(&mut one, &round), level(&mut other, &round)), ("QUORUM".into(), "QUORUM".into()));
        let (voter, reader) = if round.len() == 1 { (&mut one, &mut other) } else { (&mut other, &mut one) };
        accepted(voter, &round, root);
        assert_eq!(level(reader, &round), "HARD", "round {round}");
        assert!(refusal(&accept(reader, &round, root)).starts_with("ALREADY_VOTED: "));
    }
    let times = numbers(&one.sql(), "SELECT timestamp_logical FROM mcp_consensus_votes ORDER BY seq");
    assert!(times.is_sorted_by(|earlier, later| earlier < later), "{times:?}");
    finish(one);
    finish(other);
    assert_verified(&folder);
}

/// A vote of the other process in a round that this one has in memory, with its epoch and level unchanged.
#[test]
fn votes_that_change_no_level_are_seen_too() {
    let folder = folder();
    let (mut one, mut other) = (node(&folder), node(&folder));
    assert_eq!(propose(&mut one, "aa"), "1");
    observed(&mut other, "1", "c1");
    observed(&mut one, "1", "c2");
    observed(&mut other, "1", "c3");
    for root in ["c1", "c2", "c3"] {
        let mut vote = ballot("1", root, "ACCEPT");
        vote["privKey"] = json!(SEED_B);
        for server in [&mut one, &mut other] {
            let envelope = server.call("consensus_vote", vote.clone());
            assert!(refusal(&envelope).starts_with("ALREADY_VOTED: soul:39f713d0"), "{root}: {envelope}");
        }
    }
    assert_eq!(numbers(&one.sql(), "SELECT count(*) FROM mcp_consensus_equivocations"), [Some(1)]);
    finish(one);
    finish(other);
    assert_verified(&folder);
}

/// The process that loses the race for the file reads the winner's.
#[test]
fn processes_that_make_the_key_file_at_once_end_with_one_key() {
    for _ in 0..4 {
        let folder = folder();
        let key = folder.path().join("made.key");
        let mut servers: Vec<_> =
            (0..4).map(|_| launch(&folder).env("COLIBRI_CONSENSUS_KEY_FILE", &key).start()).collect();
        let proposal = ballot("1", "aa", "ACCEPT")["vote"].clone();
        let event = json!({ "event": {
            "merkle_root_hex": proposal["merkle_root_hex"],
            "rule_version_hash_hex": proposal["rule_version_hash_hex"],
        } });
        for server in &mut servers {
            server.send_call("consensus_propose", event.clone());
        }
        for server in &mut servers {
            let reply = server.receive();
            assert_eq!(reply["result"]["structuredContent"]["ok"], true, "{reply}");
        }
        let keys = "SELECT count(DISTINCT public_key) FROM mcp_consensus_committee";
        assert_eq!(numbers(&servers[0].sql(), keys), [Some(1)]);
        let text = std::fs::read_to_string(&key).unwrap();
        assert_eq!(text.len(), 65);
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{names:?}");
        servers.into_iter().for_each(finish);
        assert_verified(&folder);
    }
}

#[test]
fn without_a_key_file_each_process_observes_the_others_rounds() {
    let folder = folder();
    let (mut one, mut other) = (launch(&folder).start(), launch(&folder).start());
    assert_eq!(propose(&mut one, "aa"), "1");
    accepted(&mut other, "1", "aa");
    assert_eq!(level(&mut one, "1"), "QUORUM");
    accepted(&mut one, "1", "aa");
    assert_eq!(level(&mut other, "1"), "HARD");
    let sql = "SELECT count(DISTINCT sender_id) FROM mcp_consensus_votes";
    assert_eq!(numbers(&one.sql(), sql), [Some(2)]);
}
