//! The events that finished tasks and sealed sessions leave (reputation#events).

use colibri_test_support::sql::Refused;
use serde_json::{Value, json};

use crate::reputation::world::{World, entries, launch};

#[test]
fn a_finished_task_credits_its_executor_once() {
    let mut world = World::new();
    let task_id = world.finished(Some("alice"), &[("alice", "reflection")]);
    let events = world.events_of("alice");
    assert_eq!(events.len(), 1);
    assert_eq!((&events[0]["delta"], &events[0]["reason"]), (&json!(50), &json!("task_done")));
    assert_eq!(events[0]["event_id"], format!("task:{task_id}:done"));
    let (entry, ..) = entries(&world.sql).remove(0);
    assert_eq!((entry.source.as_str(), entry.acker_id, entry.weight_bps), ("task", None, 2500));
    assert_eq!((entry.nominal_delta, entry.epoch), (200, events[0]["epoch"].as_i64().unwrap()));
    let call = "SELECT ledger.sequence_no = (SELECT max(sequence_no) FROM actions WHERE tool = 'task_update') \
                FROM reputation_ledger AS ledger";
    assert_eq!(world.number(call, &[]), 1, "the entry names its call");

    let before = world.rows();
    let repeated = world.server.call("task_update", json!({ "id": task_id, "status": "DONE" }));
    assert_eq!(repeated["data"]["error"]["code"], "ERR_INVALID_TRANSITION");
    // A finished task's other fields may change, and that does not make an event.
    world.server.data("task_update", json!({ "id": task_id, "title": "u", "assignee": "bob" }));
    assert_eq!(world.rows(), before);
    world.assert_ledger_is_sound();
}

#[test]
fn without_an_assignee_the_first_author_is_the_executor() {
    let mut world = World::new();
    world.finished(None, &[("first", "plan"), ("second", "analysis")]);
    world.finished(Some(""), &[("first", "plan")]);
    assert_eq!(world.score("first", 0), 100);
    assert_eq!(world.counts()[0], 1);
    // The assignee is the agent that the same call names.
    let task_id = world.task(Some("old"));
    world.start("S");
    world.think("S", &task_id, "old", "plan");
    let patch = json!({ "status": "DONE", "assignee": "new" });
    world.server.data("task_update", json!({ "id": task_id, "patch": patch }));
    assert_eq!(world.score("new", 0), 50);
    assert_eq!(world.row("old", "execution", 0), Value::Null);
}

#[test]
fn a_reviewer_is_the_last_peer_who_reflected() {
    let mut world = World::new();
    // An unknown peer's word weighs 1000: +20.
    world.finished(Some("alice"), &[("alice", "plan"), ("carol", "reflection"), ("alice", "reflection")]);
    let (entry, ..) = entries(&world.sql).remove(0);
    assert_eq!((entry.acker_id.as_deref(), entry.weight_bps, entry.delta), (Some("carol"), 1000, 20));
    // A known peer's word weighs as much as its standing; only reflections count, and of them the last one.
    let epoch = entry.epoch;
    world.put("bob", "execution", 6000, epoch + 1000);
    let thoughts = [("bob", "plan"), ("carol", "reflection"), ("bob", "reflection"), ("carol", "decision")];
    world.finished(Some("alice"), &thoughts);
    let (entry, ..) = entries(&world.sql).remove(1);
    assert_eq!((entry.acker_id.as_deref(), entry.weight_bps, entry.delta), (Some("bob"), 6000, 120));
    assert_eq!(world.score("alice", 0), 140);
}

#[test]
fn reserved_names_and_cancelled_tasks_earn_nothing() {
    let mut world = World::new();
    world.finished(Some("colibri:gc"), &[("alice", "plan")]);
    world.finished(None, &[("colibri:gc", "plan"), ("alice", "reflection")]);
    let cancelled = world.task(Some("alice"));
    world.start("S");
    world.think("S", &cancelled, "alice", "plan");
    world.server.data("task_update", json!({ "id": cancelled, "status": "CANCELLED" }));
    let open = world.task(Some("alice"));
    let ungated = world.server.call("task_update", json!({ "id": open, "status": "DONE" }));
    assert_eq!(ungated["data"]["error"]["code"], "ERR_WRITEBACK_REQUIRED");
    assert_eq!(world.counts(), [0; 6]);
}

#[test]
fn a_sealed_session_credits_each_of_its_agents() {
    let mut world = World::new();
    world.start("S");
    for (task, agent) in [("t", "y"), ("u", "x"), ("t", "y"), ("t", "colibri:gc")] {
        world.think("S", task, agent, "analysis");
    }
    let failed = world.server.call("merkle_finalize", json!({ "session_id": "nope" }));
    assert_eq!(failed["data"]["error"]["code"], "ERR_SESSION_NOT_FOUND");
    assert_eq!(world.counts(), [0; 6]);
    world.server.data("merkle_finalize", json!({ "session_id": "S" }));
    let told: Vec<_> = entries(&world.sql)
        .into_iter()
        .map(|(entry, ..)| {
            (entry.event_id, entry.delta, entry.weight_bps, entry.source.as_str(), entry.reason)
        })
        .collect();
    let event =
        |agent: &str| (format!("session:S:{agent}"), 50, 10_000, "session", "session_sealed".to_owned());
    assert_eq!(told, [event("x"), event("y")]);
    let before = world.rows();
    let again = world.server.call("merkle_finalize", json!({ "session_id": "S" }));
    assert_eq!(again["data"]["error"]["code"], "ERR_ALREADY_FINALIZED");
    assert_eq!(world.rows(), before);
    // Seals leave no tokens.
    assert_eq!(world.counts(), [2, 2, 2, 1, 0, 0]);
    world.assert_ledger_is_sound();
}

#[test]
fn with_the_feed_off_nothing_is_written() {
    let mut world = World::around(launch().env("COLIBRI_REPUTATION_FEED", "off").start());
    let task_id = world.finished(Some("alice"), &[("alice", "plan")]);
    world.server.data("merkle_finalize", json!({ "session_id": format!("of-{task_id}") }));
    assert_eq!(world.counts(), [0; 6]);
}

/// Makes the next event fail in the database.
fn break_ledger(world: &World) {
    world.sql.refuse(Refused::Inserts("reputation_ledger"));
}

fn storage_failure(envelope: &Value) {
    assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{envelope}");
    let message = envelope["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("STORAGE_FAILURE: "), "{message}");
}

#[test]
fn what_reputation_cannot_store_the_task_does_not_keep() {
    let mut world = World::new();
    let task_id = world.task(Some("alice"));
    world.start("S");
    world.think("S", &task_id, "alice", "plan");
    break_ledger(&world);
    let before = colibri_test_support::stored::stored(&world.sql);
    storage_failure(
        &world.server.call("task_update", json!({ "id": task_id, "status": "DONE", "title": "u" })),
    );
    assert_eq!(colibri_test_support::stored::stored(&world.sql), before);
    assert_eq!(world.server.data("task_get", json!({ "id": task_id }))["status"], "VERIFY");
    world.sql.allow();
    world.finish(&task_id);
    assert_eq!(world.score("alice", 0), 50);
}

#[test]
fn what_reputation_cannot_store_the_session_does_not_seal() {
    let mut world = World::new();
    world.start("S");
    world.think("S", "t", "alice", "plan");
    break_ledger(&world);
    let before = colibri_test_support::stored::stored(&world.sql);
    storage_failure(&world.server.call("merkle_finalize", json!({ "session_id": "S" })));
    assert_eq!(colibri_test_support::stored::stored(&world.sql), before);
    world.think("S", "t", "alice", "reflection");
    world.sql.allow();
    assert_eq!(world.server.data("merkle_finalize", json!({ "session_id": "S" }))["record_count"], 2);
    assert_eq!(world.score("alice", 0), 50);
}

#[test]
fn every_table_that_fails_fails_the_call() {
    for table in ["reputation_clock", "reputation_history", "reputations", "experience_tokens"] {
        let mut world = World::new();
        world.sql.refuse(Refused::Inserts(table));
        let task_id = world.task(Some("alice"));
        world.start("S");
        world.think("S", &task_id, "alice", "plan");
        storage_failure(&world.server.call("task_update", json!({ "id": task_id, "status": "DONE" })));
        assert_eq!(world.counts(), [0; 6], "{table}");
        assert_eq!(world.server.data("task_get", json!({ "id": task_id }))["status"], "VERIFY", "{table}");
    }
}

#[test]
fn the_reply_is_the_same_with_the_feed_and_without() {
    let replies = ["on", "off"].map(|feed| {
        let mut world = World::around(launch().env("COLIBRI_REPUTATION_FEED", feed).start());
        let task_id = world.task(Some("alice"));
        world.start("S");
        world.think("S", &task_id, "alice", "plan");
        let mut task = world.finish(&task_id);
        let mut seal = world.server.data("merkle_finalize", json!({ "session_id": "S" }));
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let shape = (keys(&task), keys(&seal), keys(&seal["tree_head"]));
        for varies in ["id", "task_id", "created_at", "updated_at"] {
            task[varies] = json!("");
        }
        (shape, task, seal["record_count"].take())
    });
    assert_eq!(replies[0], replies[1]);
}
