//! Claims: who holds a task, and what others may do meanwhile.

use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};
use super::verified::assert_sound;

/// Creates a task and returns its id.
pub fn create(client: &mut Client, mut task: Value, title: &str) -> Value {
    task["title"] = json!(title);
    client.data("task_create", task)["id"].clone()
}

/// Claims a task by its id.
pub fn claim(client: &mut Client, agent: &str, id: &Value) -> Value {
    client.data("task_claim", json!({ "agent_id": agent, "id": id }))
}

/// A refusal's error.
pub fn refusal(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let envelope = client.call(tool, arguments);
    assert_eq!(envelope["data"]["ok"], false, "{envelope}");
    envelope["data"]["error"].clone()
}

#[test]
fn people_21_the_most_urgent_free_task_comes_first() {
    for era in ERAS {
        let mut client = Client::new(era);
        let low = create(&mut client, json!({ "priority": "low" }), "low");
        let assigned = create(&mut client, json!({ "priority": "critical", "assignee": "b" }), "of b");
        let mine = create(&mut client, json!({ "priority": "high", "assignee": "a" }), "mine");
        let nameless = create(&mut client, json!({ "priority": "high", "assignee": "" }), "of no name");
        create(&mut client, json!({ "priority": "critical", "depends_on": [low] }), "waits");
        let urgent = create(&mut client, json!({ "priority": "critical", "project_id": "p" }), "urgent");
        claim(&mut client, "c", &urgent);

        let queue = client.data("task_next_actions", json!({ "unclaimed": true }));
        let ids: Vec<&Value> = queue["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
        assert_eq!(ids, [&assigned, &mine, &nameless, &low]);
        for expected in [&mine, &nameless, &low] {
            let given = client.data("task_claim", json!({ "agent_id": "a" }));
            assert_eq!((&given["task"]["id"], &given["claim"]), (expected, &json!(1)));
            assert_eq!((&given["renewed"], &given["taken_over_from"]), (&json!(false), &Value::Null));
        }
        let none = client.data("task_claim", json!({ "agent_id": "a" }));
        assert_eq!(
            (&none["task"], &none["claim"], &none["until"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        let first_end = client.data("task_get", json!({ "id": urgent }))["held"]["until"].clone();
        assert_eq!(none["retry_at"], first_end, "{none}");
        let of_project = client.data("task_claim", json!({ "agent_id": "a", "project_id": null }));
        assert_ne!(of_project["retry_at"], first_end, "{of_project}");
        assert_eq!(client.data("task_claim", json!({ "agent_id": "b" }))["task"]["id"], assigned);
        assert_sound(&client.server);
    }
}

#[test]
fn people_22_eight_processes_claim_each_task_once() {
    for era in ERAS {
        let mut client = Client::new(era);
        let ids: Vec<Value> =
            (0..100).map(|number| create(&mut client, json!({}), &number.to_string())).collect();
        let together = Arc::new(Barrier::new(8));
        let agents: Vec<_> = (0..8)
            .map(|number| {
                let mut agent =
                    Client::of(launch().beside(&client.server).env("COLIBRI_DURABILITY", "normal"), era);
                let together = together.clone();
                std::thread::spawn(move || {
                    together.wait();
                    let mut taken = Vec::new();
                    loop {
                        let given =
                            agent.data("task_claim", json!({ "agent_id": format!("agent-{number}") }));
                        if given["task"].is_null() {
                            return taken;
                        }
                        assert_eq!(given["claim"], 1);
                        taken.push(given["task"]["id"].clone());
                    }
                })
            })
            .collect();
        let mut taken: Vec<Value> = agents.into_iter().flat_map(|agent| agent.join().unwrap()).collect();
        let by_id = |id: &Value| id.as_str().unwrap().to_owned();
        let mut expected = ids;
        taken.sort_by_key(by_id);
        expected.sort_by_key(by_id);
        assert_eq!(taken, expected);
        assert_sound(&client.server);
    }
}

#[test]
fn people_25_only_the_holder_renews() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({}), "A");
        let first = claim(&mut client, "a", &id);
        let longer = json!({ "agent_id": "a", "id": id, "claim": 1, "lease_seconds": 3600 });
        let renewed = client.data("task_claim", longer);
        assert_eq!((&renewed["claim"], &renewed["renewed"]), (&json!(1), &json!(true)));
        assert!(renewed["until"].as_str() > first["until"].as_str(), "{renewed}");
        // An agent that lost the number goes on.
        let again = claim(&mut client, "a", &id);
        assert_eq!((&again["claim"], &again["renewed"]), (&json!(1), &json!(true)));
        assert!(again["until"].as_str() < renewed["until"].as_str(), "a shorter lease is a shorter lease");

        let mut other = Client::of(launch().beside(&client.server), era);
        let error = refusal(&mut other, "task_claim", json!({ "agent_id": "a", "id": id }));
        let until = again["until"].as_str().unwrap();
        assert_eq!((&error["code"], &error["held_by"]), (&json!("ERR_CLAIMED"), &json!("a")));
        assert_eq!((&error["task_id"], &error["until"]), (&id, &json!(until)));
        let message = format!("Task {} is held by a until {until}", id.as_str().unwrap());
        assert_eq!(error["message"], message);
        // The number makes the holder.
        let moved = other.data("task_claim", json!({ "agent_id": "a", "id": id, "claim": 1 }));
        assert_eq!((&moved["renewed"], &moved["agent_id"]), (&json!(true), &json!("a")));
        let error = refusal(&mut other, "task_claim", json!({ "agent_id": "a", "id": id, "claim": 2 }));
        assert_eq!((&error["code"], &error["newest"]), (&json!("ERR_CLAIM_STALE"), &json!(1)));
        assert_sound(&client.server);
    }
}

#[test]
fn people_26_tasks_that_nobody_claims_are_updated_as_before() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({}), "A");
        let error = refusal(&mut client, "task_update", json!({ "id": id, "title": "B", "claim": 7 }));
        assert_eq!((&error["code"], &error["newest"]), (&json!("ERR_CLAIM_STALE"), &Value::Null));
        assert_eq!((&error["task_id"], &error["claim"]), (&id, &json!(7)));
        let message = format!("Claim 7 of task {} is not the newest", id.as_str().unwrap());
        assert_eq!(error["message"], message);
        let answer = client.answer("task_update", json!({ "id": id, "title": "B" }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let task = &answer["result"]["structuredContent"]["data"];
        let (id, created, updated) = (&task["id"], &task["created_at"], &task["updated_at"]);
        let expected = format!(
            "{{\"ok\":true,\"data\":{{\"id\":{id},\"task_id\":{id},\"project_id\":null,\"title\":\"B\",\"description\":null,\
             \"status\":\"INIT\",\"priority\":null,\"assignee\":null,\"created_at\":{created},\"updated_at\":{updated},\
             \"deleted_at\":null}}}}"
        );
        assert_eq!(text, expected);
    }
}

#[test]
fn people_27_finished_and_blocked_tasks_are_not_given_out() {
    for era in ERAS {
        let mut client = Client::new(era);
        let done = create(&mut client, json!({}), "done");
        claim(&mut client, "a", &done);
        client.server.think(&done);
        for status in ["GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE"] {
            client.data("task_update", json!({ "id": done, "claim": 1, "status": status }));
        }
        let cancelled = create(&mut client, json!({}), "cancelled");
        claim(&mut client, "a", &cancelled);
        client.data("task_update", json!({ "id": cancelled, "claim": 1, "status": "CANCELLED" }));
        for (id, status) in [(&done, "DONE"), (&cancelled, "CANCELLED")] {
            assert_eq!(client.data("task_get", json!({ "id": id })).get("held"), None);
            for arguments in
                [json!({ "agent_id": "a", "id": id }), json!({ "agent_id": "a", "id": id, "claim": 1 })]
            {
                let error = refusal(&mut client, "task_claim", arguments);
                assert_eq!((&error["code"], &error["status"]), (&json!("ERR_FINISHED"), &json!(status)));
                assert_eq!(error["message"], format!("Task {} is {status}", id.as_str().unwrap()));
            }
            let released = client.data("task_release", json!({ "id": id, "claim": 1 }));
            assert_eq!(released["released_at"], client.data("task_get", json!({ "id": id }))["updated_at"]);
        }
        let waits = create(&mut client, json!({ "depends_on": [done, cancelled] }), "waits");
        let error = refusal(&mut client, "task_claim", json!({ "agent_id": "a", "id": waits }));
        assert_eq!((&error["code"], &error["waiting_for"]), (&json!("ERR_BLOCKED"), &json!([cancelled])));
        let message = format!("Task {} waits for {}", waits.as_str().unwrap(), cancelled.as_str().unwrap());
        assert_eq!(error["message"], message);
        let nothing = refusal(&mut client, "task_claim", json!({ "agent_id": "a", "id": "nope" }));
        assert_eq!(nothing["code"], "ERR_NOT_FOUND");
        assert_sound(&client.server);
    }
}

#[test]
fn people_28_a_task_is_given_back_once() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({}), "A");
        let error = refusal(&mut client, "task_release", json!({ "id": id, "claim": 1 }));
        assert_eq!((&error["code"], &error["newest"]), (&json!("ERR_CLAIM_STALE"), &Value::Null));
        claim(&mut client, "a", &id);
        let first = client.data("task_release", json!({ "id": id, "claim": 1 }));
        assert_eq!((&first["task_id"], &first["claim"], &first["agent_id"]), (&id, &json!(1), &json!("a")));
        assert_eq!(client.data("task_release", json!({ "id": id, "claim": 1 })), first);
        let history = client.data("task_history", json!({ "id": id }));
        let kinds: Vec<&Value> =
            history["events"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
        assert_eq!(kinds, ["released", "claimed", "created"]);
        let released = &history["events"][0];
        assert_eq!(
            (&released["claim"], &released["agent_id"], &released["at"]),
            (&json!(1), &json!("a"), &first["released_at"])
        );

        let stale = refusal(&mut client, "task_claim", json!({ "agent_id": "a", "id": id, "claim": 1 }));
        assert_eq!(stale["code"], "ERR_CLAIM_STALE", "a released claim is not renewed");
        let next = claim(&mut client, "b", &id);
        assert_eq!((&next["claim"], &next["taken_over_from"]), (&json!(2), &Value::Null));
        let error = refusal(&mut client, "task_release", json!({ "id": id, "claim": 1 }));
        assert_eq!((&error["code"], &error["newest"]), (&json!("ERR_CLAIM_STALE"), &json!(2)));
        let missing = refusal(&mut client, "task_release", json!({ "id": "nope", "claim": 1 }));
        assert_eq!(missing["code"], "ERR_NOT_FOUND");
        assert_sound(&client.server);
    }
}

#[test]
fn people_30_leases_and_numbers_have_bounds_and_readonly_gives_out_nothing() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({}), "A");
        for (tool, arguments) in [
            ("task_claim", json!({ "agent_id": "a", "lease_seconds": 29 })),
            ("task_claim", json!({ "agent_id": "a", "lease_seconds": 86_401 })),
            ("task_claim", json!({ "agent_id": "a", "lease_seconds": 1.5 })),
            ("task_claim", json!({ "agent_id": "a", "id": id, "claim": 0 })),
            ("task_claim", json!({ "agent_id": "a", "claim": 1 })),
            ("task_claim", json!({ "agent_id": "a", "id": id, "project_id": null })),
            ("task_claim", json!({ "agent_id": "" })),
            ("task_claim", json!({ "agent_id": "a\u{7}" })),
            ("task_update", json!({ "id": id, "title": "B", "claim": 0 })),
            ("task_update", json!({ "id": id, "patch": { "title": "B", "claim": 1 } })),
            ("task_release", json!({ "id": id, "claim": 0 })),
            ("task_release", json!({ "id": id })),
        ] {
            assert_eq!(client.refused(tool, arguments.clone()), "INVALID_PARAMS", "{tool} {arguments}");
        }
        for lease in [30, 86_400] {
            client.data("task_claim", json!({ "agent_id": "a", "id": id, "lease_seconds": lease }));
        }
        let mut reader = Client::of(launch().beside(&client.server).env("COLIBRI_MODE", "READONLY"), era);
        for (tool, arguments) in
            [("task_claim", json!({ "agent_id": "a" })), ("task_release", json!({ "id": id, "claim": 1 }))]
        {
            assert_eq!(reader.refused(tool, arguments), "TOOL_NOT_ADMITTED", "{tool}");
        }
        assert_eq!(reader.data("task_get", json!({ "id": id }))["held"]["by"], "a");
        assert_eq!(reader.data("task_history", json!({ "id": id }))["total_count"], 3);
    }
}

#[test]
fn people_31_reads_say_who_holds_a_task_and_writes_do_not() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({}), "held");
        let free = create(&mut client, json!({}), "free");
        let waits = create(&mut client, json!({ "depends_on": [free] }), "waits");
        let claimed = claim(&mut client, "a", &id);
        assert_eq!(claimed["task"].get("held"), None);
        let updated = client.data("task_update", json!({ "id": id, "claim": 1, "title": "still held" }));
        assert_eq!(updated.get("held"), None);
        let held = json!({ "by": "a", "until": claimed["until"] });
        assert_eq!(client.data("task_get", json!({ "id": id }))["held"], held);
        for (tool, list) in [
            ("task_list", "tasks"),
            ("task_next_actions", "tasks"),
            ("task_list", "brief"),
            ("task_next_actions", "brief"),
        ] {
            let detail = if list == "brief" { "brief" } else { "full" };
            let reply = client.data(tool, json!({ "detail": detail }));
            let tasks = reply[list].as_array().unwrap();
            assert_eq!((&tasks[0]["id"], &tasks[0]["held"]), (&id, &held), "{tool} {detail}");
            assert!(tasks[1..].iter().all(|task| task.get("held").is_none()), "{tool} {detail}: {reply}");
        }
        let counts = |reply: &Value| (reply["total_count"].clone(), reply["blocked_count"].clone());
        let all = client.data("task_next_actions", json!({}));
        assert_eq!(counts(&all), (json!(2), json!(1)));
        let unclaimed = client.data("task_next_actions", json!({ "unclaimed": true }));
        assert_eq!(counts(&unclaimed), (json!(1), json!(1)));
        assert_eq!(unclaimed["tasks"][0]["id"], free);
        assert_eq!(unclaimed["blocked"][0]["id"], waits);
        client.data("task_release", json!({ "id": id, "claim": 1 }));
        assert_eq!(client.data("task_get", json!({ "id": id })).get("held"), None);
        let unclaimed = client.data("task_next_actions", json!({ "unclaimed": true }));
        assert_eq!(counts(&unclaimed), (json!(2), json!(1)));
    }
}

#[test]
fn people_25_two_callers_of_one_process_do_not_share_a_claim() {
    let mut client = Client::new(Era::Handshake);
    let id = create(&mut client, json!({}), "A");
    claim(&mut client, "a", &id);
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "another", "version": "1" } });
    client.request("initialize", hello);
    assert_eq!(
        refusal(&mut client, "task_claim", json!({ "agent_id": "a", "id": id }))["code"],
        "ERR_CLAIMED"
    );
}
