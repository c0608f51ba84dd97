//! The history of tasks: what each call leaves behind, and `task_history`.

use colibri_test_support::sqlite_only;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_test_support::client::Server;
use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};

use super::era::{Client, ERAS, Era, launch};
use super::verified::{assert_sound, findings};

fn create(client: &mut Client, task: Value) -> Value {
    client.data("task_create", task)["id"].clone()
}

/// The whole history, oldest first.
pub fn history(client: &mut Client, id: &Value) -> Vec<Value> {
    let page = client.data("task_history", json!({ "id": id, "limit": 500 }));
    let mut events = page["events"].as_array().unwrap().clone();
    assert_eq!((&page["task_id"], &page["total_count"]), (id, &json!(events.len())));
    events.reverse();
    events
}

/// A server on a database that 0.1.0 has left.
pub fn of_an_earlier_version(era: Era) -> Client {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden_databases/0.1.0-full.db.gz");
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    let launch = launch();
    std::fs::write(launch.folder().path().join("colibri.db"), bytes).unwrap();
    Client::of(launch, era)
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["kind"].as_str().unwrap()).collect()
}

fn stored(server: &Server) -> i64 {
    server.sql().query_row("SELECT count(*) FROM task_events", [], |row| row.get(0)).unwrap()
}

/// The task after each event, from the events alone.
pub fn states(id: &Value, events: &[Value]) -> Vec<Value> {
    // A history that begins later says when the task was created.
    let created_at = if events[0]["kind"] == "created" { events[0]["at"].clone() } else { Value::Null };
    let mut task = json!({
        "task_id": id, "id": id, "project_id": null, "title": null, "description": null, "status": null,
        "priority": null, "assignee": null, "created_at": created_at, "updated_at": null, "deleted_at": null,
    });
    let mut states = Vec::new();
    for event in events {
        for (field, change) in event["changes"].as_object().unwrap() {
            assert_eq!(task.get(field).unwrap_or(&Value::Null), &change["old"], "{event}");
            task[field] = change["new"].clone();
        }
        let fields: &mut Map<String, Value> = task.as_object_mut().unwrap();
        if fields.get("depends_on").is_some_and(Value::is_null) {
            fields.remove("depends_on");
        }
        task["status"] = event["to"].clone();
        task["updated_at"] = event["at"].clone();
        states.push(task.clone());
    }
    states
}

/// Asserts that the state after each event is the reply of its call.
fn assert_replies(server: &Server, id: &Value, events: &[Value]) {
    for (event, task) in events.iter().zip(states(id, events)) {
        let reply = canonical_json(&json!({ "ok": true, "data": task }), NumberRule::Wire).unwrap();
        let hash: String = server
            .sql()
            .query_row(
                "SELECT result_hash FROM actions WHERE sequence_no = ?1",
                [event["call"].as_i64()],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(sha256_hex(reply.as_bytes()), hash, "{event}");
    }
}

#[test]
fn people_14_a_task_has_no_stored_event_until_its_first_change() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({ "title": "A", "priority": "high" }));
        let events = history(&mut client, &id);
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert_eq!((&event["kind"], &event["stored"]), (&json!("created"), &json!(false)));
        assert_eq!(
            (&event["from"], &event["to"], &event["skipped"]),
            (&Value::Null, &json!("INIT"), &json!([]))
        );
        let changes =
            json!({ "priority": { "old": null, "new": "high" }, "title": { "old": null, "new": "A" } });
        assert_eq!(event["changes"], changes);
        let who = &event["who"];
        assert_eq!(
            (&who["client"], &who["version"], &who["asserted"]),
            (&json!("people"), &json!("1"), &json!(true))
        );
        assert_eq!((&who["actor"], &who["caller"]), (&Value::Null, &json!(1)));
        assert!(who["os_user"].is_string() && who["host"].is_string(), "{who}");
        assert_eq!(stored(&client.server), 0);
        let shown: (String, String, i64) = client
            .server
            .sql()
            .query_row("SELECT kind, changes, stored FROM task_event_list", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(
            shown,
            ("created".to_owned(), r#"{"priority":[null,"high"],"title":[null,"A"]}"#.to_owned(), 0)
        );

        client.data("task_update", json!({ "id": id, "title": "B" }));
        let changed = history(&mut client, &id);
        assert_eq!(kinds(&changed), ["created", "changed"]);
        assert_eq!(stored(&client.server), 2);
        let mut first = event.clone();
        first["stored"] = json!(true);
        assert_eq!(changed[0], first);
        assert_eq!(changed[1]["changes"], json!({ "title": { "old": "A", "new": "B" } }));
        assert_sound(&client.server);
    }
}

#[test]
fn people_15_the_events_give_the_reply_of_every_call() {
    for era in ERAS {
        let mut client = Client::new(era);
        let others: Vec<Value> = (0..2).map(|_| create(&mut client, json!({ "title": "before" }))).collect();
        let id = create(&mut client, json!({ "title": "A", "assignee": "ada", "depends_on": [others[0]] }));
        client.data("task_update", json!({ "id": id, "status": "GATHER", "title": "é \"B\" \u{1f600}" }));
        client.data("task_update", json!({ "id": id, "depends_on": others, "assignee": null }));
        client.data("task_update", json!({ "id": id, "depends_on": [], "description": "" }));
        for status in ["ANALYZE", "PLAN", "APPLY", "VERIFY"] {
            client.data("task_update", json!({ "id": id, "status": status }));
        }
        client.server.think(&id);
        client.data("task_update", json!({ "id": id, "status": "DONE" }));
        let events = history(&mut client, &id);
        let steps: Vec<[&str; 2]> =
            events[1..].iter().map(|event| ["from", "to"].map(|end| event[end].as_str().unwrap())).collect();
        assert_eq!(steps[..4], [["INIT", "GATHER"], ["GATHER"; 2], ["GATHER"; 2], ["GATHER", "ANALYZE"]]);
        assert_eq!(steps[7], ["VERIFY", "DONE"]);
        let expected = json!({
            "assignee": { "old": "ada", "new": null },
            "depends_on": { "old": [others[0]], "new": [others[0], others[1]] },
        });
        assert_eq!(events[2]["changes"], expected);
        let expected = json!({
            "depends_on": { "old": others, "new": null },
            "description": { "old": null, "new": "" },
        });
        assert_eq!(events[3]["changes"], expected);
        assert_eq!(states(&id, &events).last().unwrap(), &client.data("task_get", json!({ "id": id })));
        assert_replies(&client.server, &id, &events);
        assert_sound(&client.server);
    }
}

#[test]
fn people_16_the_history_of_an_older_task_begins_with_its_state() {
    sqlite_only!("no release before this one has served PostgreSQL");
    for era in ERAS {
        let mut client = of_an_earlier_version(era);
        let tasks = client.data("task_list", json!({ "limit": 500 }))["tasks"].as_array().unwrap().clone();
        let (task, untouched) = (&tasks[3], &tasks[4]);
        let id = &task["id"];
        client.data("task_update", json!({ "id": id, "title": "touched" }));
        let events = history(&mut client, id);
        assert_eq!(kinds(&events), ["migrated", "changed"]);
        assert_eq!(states(id, &events)[0], *task);
        assert_eq!((&events[0]["who"], &events[0]["skipped"]), (&Value::Null, &json!([])));
        assert_eq!(events[1]["who"]["client"], "people");
        let shown = history(&mut client, &untouched["id"]);
        assert_eq!((kinds(&shown), &shown[0]["stored"]), (vec!["migrated"], &json!(false)));
        assert_eq!(states(&untouched["id"], &shown)[0], *untouched);
        assert_eq!(stored(&client.server), 2, "no other task has an event");
        assert_replies(&client.server, id, &events);
        assert_sound(&client.server);
    }
}

#[test]
fn people_17_what_changes_nothing_leaves_no_event() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({ "title": "A" }));
        for refused in [
            json!({ "id": id, "status": "DONE" }),
            json!({ "id": id, "title": "B", "depends_on": [id] }),
            json!({ "id": id, "title": "B", "claim": 1 }),
        ] {
            client.refused("task_update", refused);
        }
        client.data("task_update", json!({ "id": id }));
        client.data("task_get", json!({ "id": id }));
        client.data("task_list", json!({}));
        assert_eq!(
            client.data("task_claim", json!({ "agent_id": "a", "project_id": "nowhere" }))["task"],
            Value::Null
        );
        assert_eq!(stored(&client.server), 0);
        assert_eq!(kinds(&history(&mut client, &id)), ["created"]);
        assert_sound(&client.server);
    }
}

#[test]
fn people_19_pages_lead_back_to_the_first_event() {
    for era in ERAS {
        let mut client = Client::new(era);
        let id = create(&mut client, json!({ "title": "0" }));
        for title in ["1", "2", "3", "4"] {
            client.data("task_update", json!({ "id": id, "title": title }));
        }
        let (mut before, mut pages) = (Value::Null, Vec::new());
        loop {
            let mut arguments = json!({ "id": id, "limit": 2 });
            if !before.is_null() {
                arguments["before"] = before.clone();
            }
            let page = client.data("task_history", arguments);
            assert_eq!(page["total_count"], 5);
            let numbers =
                page["events"].as_array().unwrap().iter().map(|event| event["event_no"].as_i64().unwrap());
            pages.push(numbers.collect::<Vec<_>>());
            before = page["next_before"].clone();
            if before.is_null() {
                break;
            }
        }
        assert_eq!(pages, [vec![5, 4], vec![3, 2], vec![1]]);
        assert_eq!(client.refused("task_history", json!({ "id": "nope" })), "ERR_NOT_FOUND");
        client.server.sql().execute("UPDATE tasks SET deleted_at = '2026-01-01T00:00:00.000Z'", []).unwrap();
        assert_eq!(client.refused("task_get", json!({ "id": id })), "ERR_NOT_FOUND");
        assert_eq!(history(&mut client, &id).len(), 5);
    }
}

#[test]
fn people_14_a_history_of_two_callers_names_both() {
    let mut client = Client::new(Era::Handshake);
    let id = create(&mut client, json!({ "title": "A" }));
    let launch = launch().beside(&client.server).env("COLIBRI_ACTOR", "alice");
    let mut other = Client::of(launch, Era::Stateless);
    other.data("task_update", json!({ "id": id, "title": "B" }));
    let events = history(&mut client, &id);
    let actors: Vec<&Value> = events.iter().map(|event| &event["who"]["actor"]).collect();
    assert_eq!(actors, [&Value::Null, &json!("alice")]);
    assert_ne!(events[0]["who"]["caller"], events[1]["who"]["caller"]);
}

/// The file layer makes a write of the log fail: at first that of the row that enters the call, then that of its effects.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn people_17_a_commit_that_fails_leaves_no_event() {
    sqlite_only!("the layer beneath it is one of files");
    let mut told = Vec::new();
    for write in 1..=2 {
        let launch = launch();
        let folder = launch.folder().path().canonicalize().unwrap();
        // The first reply is that of `initialize`.
        let launch = launch
            .env("LD_PRELOAD", env!("COLIBRI_FILE_LAYER"))
            .env("SHIM_FOLDER", folder)
            .env("SHIM_ARM", "2")
            .env("SHIM_FAULT", format!("write 28 {write} 1 0 *"));
        let mut client = Client::of(launch, Era::Handshake);
        let id = create(&mut client, json!({ "title": "A" }));
        let envelope = client.call("task_update", json!({ "id": id, "title": "B" }));
        let events = if envelope["ok"] == true { 2 } else { 0 };
        assert_eq!(stored(&client.server), events, "{envelope}");
        told.push(envelope["error"]["message"].as_str().unwrap_or_default().to_owned());
        client.data("task_update", json!({ "id": id, "title": "C" }));
        assert_eq!(stored(&client.server), events.max(1) + 1);
        assert_sound(&client.server);
    }
    assert!(told.iter().any(|message| message.starts_with("STORE_COMMIT_FAILED: ")), "{told:?}");
}

#[test]
fn people_18_one_lost_event_of_thousands_is_named_within_the_steps_of_a_verification() {
    let mut client = Client::new(Era::Handshake);
    let id = create(&mut client, json!({ "title": "A" }));
    let claim = client.data("task_claim", json!({ "agent_id": "a", "id": id }))["claim"].clone();
    for _ in 0..50 {
        for _ in 0..50 {
            client.server.send_call("task_claim", json!({ "agent_id": "a", "id": id, "claim": claim }));
        }
        for _ in 0..50 {
            let answer = client.server.receive();
            assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
        }
    }
    let conn = client.server.sql();
    conn.tamper("DELETE FROM task_events WHERE event_no = 100");
    assert_eq!(findings(&client.server), ["EVENT_GAP", "EVENT_MISSING"]);
}

/// A task may have long texts, each byte of which its history may write as six.
#[test]
fn a_history_of_long_texts_is_sound() {
    for era in ERAS {
        let mut client = Client::new(era);
        let long = |text: &str| text.repeat(8_000 / text.encode_utf16().count());
        for text in ["d", "\u{1}", "\"", "\u{1f600}"] {
            let created = client.data("task_create", json!({ "title": "t", "description": long(text) }));
            let id = created["id"].clone();
            client.data("task_claim", json!({ "agent_id": "a", "id": id }));
            client.data("task_update", json!({ "id": id, "description": long("e"), "claim": 1 }));
            let history = client.data("task_history", json!({ "id": id }));
            assert_eq!(history["total_count"], 3, "{history}");
        }
        assert_sound(&client.server);
    }
}
