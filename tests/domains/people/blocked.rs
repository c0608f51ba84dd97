//! What blocked tasks wait for, and the way out where the wait would never end.

use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};

fn create(client: &mut Client, title: &str, more: Value) -> String {
    let mut task = json!({ "title": title });
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.data("task_create", task)["id"].as_str().unwrap().to_owned()
}

fn titles(tasks: &Value) -> Vec<&str> {
    tasks.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect()
}

#[test]
fn people_48_a_task_that_waits_for_a_cancelled_one_is_offered_the_call_that_frees_it() {
    for era in ERAS {
        let mut client = Client::new(era);
        let a = create(&mut client, "A", json!({}));
        let c = create(&mut client, "C", json!({}));
        let b = create(&mut client, "B", json!({ "depends_on": [a, c], "priority": "high" }));
        client.data("task_update", json!({ "id": a, "status": "CANCELLED" }));

        let queue = client.data("task_next_actions", json!({}));
        assert_eq!((titles(&queue["tasks"]), &queue["blocked_count"]), (vec!["C"], &json!(1)), "{queue}");
        let call = json!({ "tool": "task_update", "arguments": { "id": b, "depends_on": [c] } });
        let expected = json!([{
            "id": b, "title": "B", "status": "INIT", "priority": "high",
            "waiting_for": [
                { "id": a, "title": "A", "status": "CANCELLED", "reason": "cancelled" },
                { "id": c, "title": "C", "status": "INIT", "reason": "not_done" },
            ],
            "waiting_count": 2,
            "remedy": "Drop the dependency with task_update, or create the missing work anew.",
            "next": [call],
        }]);
        assert_eq!(queue["blocked"], expected, "{queue}");

        // The call does what it says; what is left is ordinary work.
        client.data("task_update", call["arguments"].clone());
        let queue = client.data("task_next_actions", json!({}));
        let waiting = json!([{ "id": c, "title": "C", "status": "INIT", "reason": "not_done" }]);
        assert_eq!(queue["blocked"][0]["waiting_for"], waiting, "{queue}");
        assert!(queue["blocked"][0].get("remedy").is_none() && queue["blocked"][0].get("next").is_none());
        client.data("task_update", json!({ "id": b, "depends_on": [] }));
        let queue = client.data("task_next_actions", json!({}));
        assert_eq!((titles(&queue["tasks"]), queue.get("blocked")), (vec!["B", "C"], None), "{queue}");
    }
}

#[test]
fn people_48_a_deleted_dependency_is_named_and_a_finished_one_is_kept() {
    let mut client = Client::new(Era::Handshake);
    let done = create(&mut client, "done", json!({ "status": "VERIFY" }));
    let gone = create(&mut client, "gone", json!({}));
    let b = create(&mut client, "B", json!({ "depends_on": [done, gone] }));
    client.data("audit_session_start", json!({ "intent": "test", "session_id": "S" }));
    let thought =
        json!({ "type": "plan", "task_id": done, "agent_id": "a", "content": "x", "session_id": "S" });
    client.data("thought_record", thought);
    client.data("task_update", json!({ "id": done, "status": "DONE" }));
    // No tool deletes a task; the column is there for those that will.
    let sql = client.server.sql();
    sql.execute("UPDATE tasks SET deleted_at = updated_at WHERE id = ?1", [&gone]).unwrap();
    let blocked = client.data("task_next_actions", json!({}))["blocked"][0].clone();
    let waiting = json!([{ "id": gone, "title": "gone", "status": "INIT", "reason": "deleted" }]);
    assert_eq!((&blocked["waiting_for"], &blocked["waiting_count"]), (&waiting, &json!(1)), "{blocked}");
    assert_eq!(blocked["next"][0]["arguments"], json!({ "id": b, "depends_on": [done] }));

    // A server offers no call that it would refuse: by its mode, or since the operator left the tool out.
    for (setting, value) in [("COLIBRI_MODE", "READONLY"), ("COLIBRI_TOOLS", "task_next_actions")] {
        let mut other = Client::of(launch().beside(&client.server).env(setting, value), Era::Handshake);
        let blocked = other.data("task_next_actions", json!({}))["blocked"][0].clone();
        assert_eq!(
            (blocked.get("next"), blocked["remedy"].is_string()),
            (None, true),
            "{setting}: {blocked}"
        );
    }
}

#[test]
fn people_48_the_first_ten_of_twenty_blocked_tasks_are_shown_most_urgent_first() {
    for era in ERAS {
        let mut client = Client::new(era);
        let many: Vec<String> =
            (0..12).map(|n| create(&mut client, &format!("a{n:02}"), json!({}))).collect();
        for number in 0..20 {
            let priority = if number == 19 { "critical" } else { "low" };
            let more = json!({ "depends_on": many, "priority": priority });
            create(&mut client, &format!("b{number:02}"), more);
        }
        let queue = client.data("task_next_actions", json!({}));
        let shown = ["b19", "b00", "b01", "b02", "b03", "b04", "b05", "b06", "b07", "b08"];
        assert_eq!(titles(&queue["blocked"]), shown, "{queue}");
        assert_eq!(queue["blocked_count"], 20);
        let first = &queue["blocked"][0];
        assert_eq!(titles(&first["waiting_for"]), ["a00", "a01", "a02", "a03", "a04", "a05", "a06", "a07"]);
        assert_eq!(first["waiting_count"], 12);
        for (limit, shown) in [(1, Some(1)), (50, Some(20)), (0, None)] {
            let queue = client.data("task_next_actions", json!({ "blocked_limit": limit }));
            let blocked = queue.get("blocked").map(|blocked| blocked.as_array().unwrap().len());
            assert_eq!((blocked, &queue["blocked_count"]), (shown, &json!(20)), "{limit}");
        }
        assert_eq!(client.refused("task_next_actions", json!({ "blocked_limit": 51 })), "INVALID_PARAMS");
    }
}
