//! Rows that do not follow from their votes, and guards against changing them by mistake.

use colibri_test_support::engine;
use colibri_test_support::sql::dialect;
use colibri_test_support::sqlite_only;

use crate::consensus_restart::support::{
    accept, accepted, database, finality, finish, folder, launch, level, node, observed, propose, refusal,
};
use serde_json::json;

/// Changes rows with the guards dropped before and put back after.
fn tamper(path: &std::path::Path, sql: &str) {
    assert!(engine::open(path).tamper(sql) > 0, "{sql} changes nothing");
}

/// One byte of a column, changed.
fn flipped(column: &str) -> String {
    format!("{column} = {}", dialect::first_byte_zero(column))
}

/// What is done to round 1, and what the refusal names.
fn damages() -> Vec<(String, &'static str)> {
    vec![
        (format!("UPDATE mcp_consensus_votes SET {} WHERE seq = 3", flipped("signature")), "vote 3"),
        (format!("UPDATE mcp_consensus_votes SET {} WHERE seq = 5", flipped("signature")), "vote 5"),
        (format!("UPDATE mcp_consensus_votes SET {} WHERE seq = 1", flipped("public_key")), "vote 1"),
        ("UPDATE mcp_consensus_votes SET vote_type = 'REJECT' WHERE seq = 3".to_owned(), "vote 3"),
        ("UPDATE mcp_consensus_votes SET timestamp_logical = 99 WHERE seq = 3".to_owned(), "vote 3"),
        ("UPDATE mcp_consensus_votes SET epoch = 9 WHERE seq = 3".to_owned(), "epoch of vote 3"),
        ("UPDATE mcp_consensus_votes SET epoch = 2 WHERE seq = 5".to_owned(), "epoch of vote 5"),
        (
            format!("UPDATE mcp_consensus_votes SET signature = {} WHERE seq = 3", dialect::bytes("00")),
            "vote 3 is malformed",
        ),
        ("DELETE FROM mcp_consensus_votes WHERE seq = 1".to_owned(), "proposal's vote"),
        (
            "UPDATE mcp_consensus_rounds SET level = 'QUORUM' WHERE round_id = 1".to_owned(),
            "HARD, not QUORUM",
        ),
        ("UPDATE mcp_consensus_rounds SET epoch = 2 WHERE round_id = 1".to_owned(), "epoch 3, not 2"),
        ("UPDATE mcp_consensus_rounds SET n_arbiters = 2 WHERE round_id = 1".to_owned(), "n_arbiters"),
        (
            "UPDATE mcp_consensus_rounds SET dispute_window_epochs = 1 WHERE round_id = 1".to_owned(),
            "dispute window",
        ),
        (
            "UPDATE mcp_consensus_rounds SET leader = leader || '0' WHERE round_id = 1".to_owned(),
            "the leader is not",
        ),
        (
            format!("UPDATE mcp_consensus_rounds SET {} WHERE round_id = 1", flipped("merkle_root")),
            "the proposed tuple",
        ),
        (
            format!("UPDATE mcp_consensus_committee SET {} WHERE round_id = 1", flipped("public_key")),
            "member 0 of the committee",
        ),
        (
            format!(
                "UPDATE mcp_consensus_transitions SET {} WHERE round_id = 1 AND ordinal = 2",
                flipped("evidence")
            ),
            "transitions",
        ),
        (
            "DELETE FROM mcp_consensus_transitions WHERE round_id = 1 AND ordinal = 1".to_owned(),
            "transitions",
        ),
        ("DELETE FROM mcp_consensus_equivocations WHERE round_id = 1".to_owned(), "equivocations"),
        (
            "UPDATE mcp_consensus_equivocations SET slash_status = 'APPLIED' WHERE round_id = 1".to_owned(),
            "equivocations",
        ),
    ]
}

#[test]
fn a_round_that_does_not_follow_from_its_votes_is_refused() {
    let origin = folder();
    let mut server = node(&origin);
    assert_eq!(propose(&mut server, "aa"), "1");
    assert_eq!(propose(&mut server, "ab"), "2");
    accepted(&mut server, "1", "aa");
    accepted(&mut server, "1", "cc");
    observed(&mut server, "1", "aa");
    finish(server);
    for (sql, expected) in damages() {
        let folder = folder();
        engine::copy(database(&origin), database(&folder));
        tamper(&database(&folder), &sql);
        let mut server = launch(&folder).start();
        let refused = refusal(&server.call("consensus_finality", json!({ "round_id": "1" })));
        assert!(refused.starts_with("CONSENSUS_STATE_CORRUPT: round 1: "), "{sql}: {refused}");
        assert!(refused.contains(expected), "{sql}: {refused}");
        assert_eq!(refusal(&accept(&mut server, "1", "ee")), refused, "{sql}");
        assert_eq!(level(&mut server, "2"), "QUORUM", "{sql}");
        assert_eq!(propose(&mut server, "ef"), "3", "{sql}");
        let tampered = engine::open(database(&folder));
        let votes: i64 = tampered
            .query_row("SELECT count(*) FROM mcp_consensus_votes WHERE round_id = 1", [], |row| row.get(0))
            .unwrap();
        assert!(votes <= 4, "{sql}: a vote was stored in a round that is refused");
        let verify = launch(&folder).arg("verify").command().output().unwrap();
        assert_eq!(verify.status.code(), Some(1), "{sql}: verify sees nothing");
        let text = String::from_utf8_lossy(&verify.stdout).into_owned();
        assert!(text.contains("consensus ROUND_CORRUPT"), "{sql}: {text}");
    }
}

#[test]
fn rows_are_kept_as_they_are() {
    sqlite_only!("in PostgreSQL privileges refuse what triggers refuse in SQLite");
    let folder = folder();
    let mut server = node(&folder);
    assert_eq!(propose(&mut server, "aa"), "1");
    accepted(&mut server, "1", "cc");
    let before = finality(&mut server, "1");
    let conn = server.sql();
    conn.sqlite().pragma_update(None, "foreign_keys", false).unwrap();
    for table in ["rounds", "committee", "votes", "transitions", "equivocations"] {
        let refused = conn.execute(&format!("DELETE FROM mcp_consensus_{table}"), []).unwrap_err();
        assert!(refused.to_string().contains(&format!("mcp_consensus_{table}")), "{refused}");
    }
    for (table, columns) in [
        (
            "rounds",
            "round_id merkle_root rule_version_hash prev_merkle_root leader n_arbiters dispute_window_epochs \
             sequence_no",
        ),
        ("committee", "round_id position sender_id public_key"),
        (
            "votes",
            "seq round_id sender_id public_key merkle_root rule_version_hash vote_type timestamp_logical \
             signature origin epoch sequence_no",
        ),
        ("transitions", "round_id ordinal from_level to_level epoch evidence"),
        (
            "equivocations",
            "evidence_hash round_id sender_id vote_a_seq vote_b_seq trigger_seq finality_level",
        ),
    ] {
        for column in columns.split_whitespace() {
            let sql = format!("UPDATE mcp_consensus_{table} SET {column} = {column}");
            let refused = conn.execute(&sql, []).unwrap_err();
            assert!(refused.to_string().contains(&format!("mcp_consensus_{table}")), "{sql}: {refused}");
        }
    }
    assert_eq!(finality(&mut server, "1"), before);
}
