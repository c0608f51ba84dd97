//! `task_update` and the state machine with its writeback gate.

use serde_json::json;

use crate::tasks::world::{STATES, World, id_of};

#[test]
fn five_steps_lead_from_init_to_verify() {
    let mut world = World::new();
    let mut task = world.create(json!({ "title": "A" }));
    let id = id_of(&task);
    for status in &STATES[1..=5] {
        let next = world.go(&id, status);
        assert_eq!(next["status"], *status);
        assert_eq!(next["created_at"], task["created_at"]);
        assert!(next["updated_at"].as_str() >= task["updated_at"].as_str(), "{task} {next}");
        task = next;
    }
}

#[test]
fn done_needs_a_thought_record() {
    let mut world = World::new();
    let id = world.task_in("VERIFY");
    let error = world.refused_move(&id, "DONE");
    assert_eq!(error["code"], "ERR_WRITEBACK_REQUIRED");
    assert_eq!(error["message"], format!("Task {id} needs a thought record before it can be DONE"));
    assert_eq!(error["task_id"], json!(id));
    assert_eq!(error["missing_fields"], json!(["thought_record"]));
    assert_eq!(world.get(&id)["status"], "VERIFY");
}

#[test]
fn one_thought_record_of_any_type_opens_the_gate_sealed_or_not() {
    let mut world = World::new();
    for kind in ["plan", "analysis", "decision", "reflection"] {
        for sealed in [false, true] {
            let (other, id) = (world.task_in("VERIFY"), world.task_in("VERIFY"));
            world.think_as(&other, kind);
            assert_eq!(world.refused_move(&id, "DONE")["code"], "ERR_WRITEBACK_REQUIRED", "{kind}");
            let session = world.think_as(&id, kind);
            if sealed {
                world.server.data("merkle_finalize", json!({ "session_id": session }));
            }
            assert_eq!(world.go(&id, "DONE")["status"], "DONE", "{kind}, sealed: {sealed}");
        }
    }
}

#[test]
fn an_edge_that_cannot_be_taken_is_named_before_the_gate() {
    let mut world = World::new();
    let id = world.task_in("INIT");
    let error = world.refused_move(&id, "DONE");
    assert_eq!(error["code"], "ERR_INVALID_TRANSITION");
    assert_eq!(error["message"], format!("Task {id} cannot go from INIT to DONE"));
    assert_eq!(error["task_id"], json!(id));
    assert_eq!((&error["from"], &error["to"]), (&json!("INIT"), &json!("DONE")));
    assert_eq!(error["allowed"], json!(["GATHER", "CANCELLED"]));
}

#[test]
fn a_thought_record_opens_no_edge() {
    let mut world = World::new();
    let id = world.task_in("INIT");
    world.think(&id);
    assert_eq!(world.refused_move(&id, "DONE")["code"], "ERR_INVALID_TRANSITION");
}

#[test]
fn a_retry_goes_back_to_gather_only() {
    let mut world = World::new();
    let id = world.task_in("VERIFY");
    assert_eq!(world.go(&id, "GATHER")["status"], "GATHER");
    let id = world.task_in("VERIFY");
    let error = world.refused_move(&id, "APPLY");
    assert_eq!(error["code"], "ERR_INVALID_TRANSITION");
    assert_eq!(error["allowed"], json!(["GATHER", "DONE", "CANCELLED"]));
}

#[test]
fn every_live_state_can_be_cancelled_without_a_thought() {
    let mut world = World::new();
    for status in &STATES[..6] {
        let id = world.task_in(status);
        assert_eq!(world.go(&id, "CANCELLED")["status"], "CANCELLED", "{status}");
    }
}

#[test]
fn nothing_leaves_a_terminal_state_and_no_state_repeats() {
    let mut world = World::new();
    for terminal in ["DONE", "CANCELLED"] {
        let id = world.task_in(terminal);
        for status in STATES {
            let error = world.refused_move(&id, status);
            assert_eq!(error["code"], "ERR_INVALID_TRANSITION", "{terminal} -> {status}");
            assert_eq!(error["allowed"], json!([]), "{terminal} -> {status}");
        }
    }
    let id = world.task_in("GATHER");
    assert_eq!(world.refused_move(&id, "GATHER")["code"], "ERR_INVALID_TRANSITION");
}
