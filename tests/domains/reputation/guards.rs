//! The tables guard themselves.

use colibri::domains::reputation::event::Acker;
use colibri_test_support::sqlite_only;

use crate::reputation::world::World;

#[test]
fn what_would_rewrite_reputation_is_refused() {
    sqlite_only!("in PostgreSQL privileges refuse what triggers refuse in SQLite");
    let mut world = World::new();
    world.finished(Some("alice"), &[("alice", "plan"), ("bob", "reflection")]);
    world.gain("bob", (100, Acker::System { weight_bps: 10_000 }), 30_000);
    let token = world.text("SELECT id FROM experience_tokens LIMIT 1", &[]);
    let witness = "INSERT INTO mcp_witnesses VALUES ('wit_1', 'bob', ?1, 'execution', 200, 30, 0)";
    world.sql.execute(witness, [token]).unwrap();
    assert_eq!(world.counts(), [2, 2, 2, 1, 2, 1]);
    let before = world.rows();
    let refusal = |statement: &str| world.sql.execute_batch(statement).expect_err(statement).to_string();
    for (table, column) in [
        ("reputation_history", "delta"),
        ("reputation_ledger", "score_after"),
        ("reputation_clock", "epoch_seconds"),
        ("experience_tokens", "outcome_delta"),
        ("mcp_witnesses", "weight_cap"),
    ] {
        for statement in [format!("UPDATE {table} SET {column} = {column}"), format!("DELETE FROM {table}")] {
            assert!(refusal(&statement).contains("append-only table"), "{statement}");
        }
    }
    for (statement, text) in [
        ("DELETE FROM reputations", "reputations may not be deleted"),
        ("UPDATE reputations SET node_id = 'eve'", "scars are permanent and activity never goes back"),
        (
            "UPDATE reputations SET last_activity_epoch = 0",
            "scars are permanent and activity never goes back",
        ),
        (
            "INSERT INTO reputations VALUES ('eve', 'execution', 6000, 5000, NULL, 0)",
            "CHECK constraint failed",
        ),
        ("INSERT INTO reputations VALUES ('eve', 'execution', 10001, 0, NULL, 0)", "CHECK constraint failed"),
        ("INSERT INTO reputations VALUES ('eve', 'karma', 1, 0, NULL, 0)", "CHECK constraint failed"),
        ("INSERT INTO reputations VALUES ('', 'social', 1, 0, NULL, 0)", "CHECK constraint failed"),
        ("INSERT INTO reputations VALUES ('eve', 'social', 1, 0, NULL, -1)", "CHECK constraint failed"),
        ("INSERT INTO reputation_clock VALUES (2, 60, 0)", "CHECK constraint failed"),
        ("INSERT INTO reputation_clock VALUES (1, 60, 0)", "UNIQUE constraint failed"),
    ] {
        assert!(refusal(statement).contains(text), "{statement}: {}", refusal(statement));
    }
    assert_eq!(world.rows(), before);
}
