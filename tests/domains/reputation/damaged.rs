//! Rows that no writer leaves.

use colibri_test_support::sql::dialect;
use serde_json::{Value, json};

use crate::reputation::world::World;

fn message(envelope: &Value) -> String {
    assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{envelope}");
    envelope["error"]["message"].as_str().unwrap().to_owned()
}

fn impossible(node: &str, domain: &str, field: &str) -> String {
    format!("REPUTATION_ROW_INVALID: the stored standing of {node} in {domain} has an impossible {field}")
}

/// What a tool says of the rows that are there.
fn said(world: &mut World, tool: &str, arguments: Value) -> String {
    message(&world.server.call(tool, arguments))
}

#[test]
fn a_row_out_of_range_is_named_and_left_as_it_is() {
    let mut world = World::new();
    world.put("good", "execution", 100, 0);
    world.sql.disarm();
    world.put("high", "execution", 20_000, 0);
    world.put("wrong", "karma", 1, 0);
    world.put_row("scarred", "execution", (6000, 5000), None, 0);
    world.put_row("mutilated", "execution", (0, 10_001), None, 0);
    world.put("early", "execution", 9500, -1);
    world.put("", "social", 1, 0);
    let before = world.rows();
    for (node_id, domain, field) in [
        ("high", "execution", "score"),
        ("wrong", "karma", "domain"),
        ("scarred", "execution", "score"),
        ("mutilated", "execution", "scar_bps"),
        ("early", "execution", "last_activity_epoch"),
    ] {
        let text = impossible(node_id, domain, field);
        let arguments = json!({ "node_id": node_id, "current_epoch": 0 });
        assert_eq!(said(&mut world, "reputation_get", arguments.clone()), text);
        assert_eq!(said(&mut world, "reputation_check_gates", arguments), text);
        if node_id != "wrong" {
            let one = json!({ "node_id": node_id, "domain": "execution", "current_epoch": 0 });
            assert_eq!(said(&mut world, "reputation_get", one), text);
        }
    }
    let board = json!({ "domain": "execution", "current_epoch": 0 });
    let text = impossible("high", "execution", "score");
    assert_eq!(said(&mut world, "reputation_leaderboard", board), text);
    let board = json!({ "domain": "social", "current_epoch": 0 });
    let text = impossible("", "social", "node_id");
    assert_eq!(said(&mut world, "reputation_leaderboard", board), text);
    assert_eq!(world.score("good", 0), 100);
    assert_eq!(world.rows(), before);
}

#[test]
fn an_event_out_of_range_is_named() {
    let mut world = World::new();
    world.sql.disarm();
    world.remember("n", "execution", -1, 5);
    let arguments = json!({ "node_id": "n", "domain": "execution" });
    let text = impossible("n", "execution", "epoch");
    assert_eq!(said(&mut world, "reputation_history", arguments.clone()), text);
    let sql = "INSERT INTO reputation_history (node_id, domain, epoch, delta, reason, event_id) \
               VALUES ('n', 'execution', 9, 1, 'r', ?1)";
    world.sql.execute(&sql.replace("?1", &dialect::bytes_as_text("ff")), []).unwrap();
    let text = impossible("n", "execution", "event_id");
    assert_eq!(said(&mut world, "reputation_history", arguments), text);
}

#[test]
fn a_damaged_row_stops_its_own_events_and_no_call() {
    let mut world = World::new();
    world.sql.disarm();
    world.put("n", "execution", 20_000, 0);
    let task_id = world.finished(Some("n"), &[("n", "plan"), ("other", "plan")]);
    let task = world.server.data("task_get", json!({ "id": task_id }));
    assert_eq!(task["status"], "DONE");
    assert_eq!(world.counts(), [1, 0, 0, 0, 0, 0]);
    world.server.data("merkle_finalize", json!({ "session_id": format!("of-{task_id}") }));
    assert_eq!(world.number("SELECT score FROM reputations WHERE node_id = 'n'", &[]), 20_000);
    assert_eq!(world.events_of("other").len(), 1);
    assert_eq!(world.events_of("n"), [] as [Value; 0]);
}
