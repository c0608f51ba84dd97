//! Random sequences of calls from two processes, one of which is killed now and then.

use colibri_test_support::dice::Dice;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};
use super::history::{history, states};
use super::verified::assert_sound;

const SEQUENCES: u64 = 100;
const CALLS: usize = 12;
const STATES: [&str; 7] = ["GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"];

/// A call about one of these tasks, legal or not.
fn any_call(dice: &Dice, tasks: &[Value]) -> (&'static str, Value) {
    let id = dice.pick(tasks);
    let claim = 1 + dice.place(3);
    match dice.place(8) {
        0 => ("task_claim", json!({ "agent_id": dice.pick(&["a", "b"]), "id": id })),
        1 => ("task_claim", json!({ "agent_id": "a", "id": id, "claim": claim })),
        2 => ("task_release", json!({ "id": id, "claim": claim })),
        3 => ("task_update", json!({ "id": id, "status": dice.pick(&STATES), "claim": claim })),
        4 => ("task_update", json!({ "id": id, "status": dice.pick(&STATES) })),
        5 => (
            "task_update",
            json!({ "id": id, "depends_on": [dice.pick(tasks)], "assignee": dice.pick(&[None, Some("é")]) }),
        ),
        6 => (
            "task_update",
            json!({ "id": id, "patch": { "title": "T", "description": null }, "claim": claim }),
        ),
        _ => {
            ("task_update", json!({ "id": id, "priority": dice.pick(&["p0", "low", ""]), "project_id": "p" }))
        }
    }
}

/// Asserts that each task is what its history says, and that each state before is the reply of a call.
fn assert_agreement(client: &mut Client, tasks: &[Value]) {
    for id in tasks {
        let mut row = client.data("task_get", json!({ "id": id }));
        row.as_object_mut().unwrap().remove("held");
        let events = history(client, id);
        // Events of claims have a time of their own, which is not the task's.
        let told: Vec<Value> = events.into_iter().filter(|event| event["claim"].is_null()).collect();
        assert_eq!(states(id, &told).last(), Some(&row));
    }
}

#[test]
fn people_20_history_row_and_log_agree_whatever_two_processes_do() {
    let [first, second] = ERAS;
    let mut one = Client::of(launch().env("COLIBRI_DURABILITY", "normal"), first);
    let beside = |client: &Client, era: Era| {
        Client::of(launch().beside(&client.server).env("COLIBRI_DURABILITY", "normal"), era)
    };
    let mut other = beside(&one, second);
    let (mut done, mut refused) = (0, 0);
    for seed in 0..SEQUENCES {
        let dice = Dice::new(0x5E9_0000 + seed);
        let tasks: Vec<Value> =
            (0..3).map(|_| one.data("task_create", json!({ "title": "T" }))["id"].clone()).collect();
        for _ in 0..CALLS {
            let (tool, arguments) = any_call(&dice, &tasks);
            let client = if dice.one_in(2) { &mut one } else { &mut other };
            let envelope = client.call(tool, arguments);
            assert_eq!(envelope["ok"], true, "seed {seed}: {envelope}");
            *(if envelope["data"]["ok"] == false { &mut refused } else { &mut done }) += 1;
        }
        if seed % 10 == 9 {
            for _ in 0..CALLS {
                let (tool, arguments) = any_call(&dice, &tasks);
                other.server.send_call(tool, arguments);
            }
            other.server.kill();
            other = beside(&one, second);
            other.data("task_list", json!({}));
            assert_sound(&one.server);
        }
        assert_agreement(&mut one, &tasks);
    }
    assert!(done > 200 && refused > 200, "{done} {refused}");
}
