//! Compact replies: `detail: brief`.

use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};

/// The names of an object's members, in the order of the reply.
fn members(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// What a reply costs its reader.
fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

/// Asserts that a call without `detail` is answered as one with `full`, with these members.
fn full(client: &mut Client, tool: &str, arguments: &Value, expected: &[&str]) -> Value {
    let reply = client.data(tool, arguments.clone());
    assert_eq!(members(&reply), expected, "{tool}");
    let mut full = arguments.clone();
    full["detail"] = json!("full");
    assert_eq!(client.data(tool, full).to_string(), reply.to_string(), "{tool}");
    reply
}

#[test]
fn people_47_a_hundred_long_tasks_are_short_in_brief() {
    for era in ERAS {
        let mut client = Client::new(era);
        let text = "x".repeat(8000);
        for number in 0..100 {
            let title = format!("task {number}");
            client.data("task_create", json!({ "title": title, "description": text, "assignee": "ada" }));
        }
        let list = ["tasks", "total_count", "limit", "offset", "has_more"];
        let whole = full(&mut client, "task_list", &json!({}), &list);
        assert!(bytes(&whole) > 800_000, "{}", bytes(&whole));
        let page = client.data("task_list", json!({ "detail": "brief" }));
        assert!(bytes(&page) < 40_000, "{}", bytes(&page));
        assert_eq!((&page["tasks"], &page["total_count"]), (&json!([]), &json!(100)));
        let of = |task: &Value| {
            let names = ["id", "title", "status", "priority", "assignee", "project_id", "updated_at"];
            names.map(|name| (name.to_owned(), task[name].clone())).into_iter().collect::<Value>()
        };
        let expected: Vec<Value> = whole["tasks"].as_array().unwrap().iter().map(of).collect();
        assert_eq!(page["brief"], json!(expected));

        let page = client.data("task_list", json!({ "detail": "brief", "limit": 60, "offset": 60 }));
        assert_eq!((page["brief"].as_array().unwrap().len(), &page["has_more"]), (40, &json!(false)));
        let page = client.data("task_list", json!({ "detail": "brief", "limit": 60 }));
        assert_eq!((page["brief"].as_array().unwrap().len(), &page["has_more"]), (60, &json!(true)));

        let queue = ["tasks", "total_count", "blocked_count"];
        let whole = full(&mut client, "task_next_actions", &json!({ "limit": 100 }), &queue);
        let short = client.data("task_next_actions", json!({ "limit": 100, "detail": "brief" }));
        assert!(bytes(&short) < 40_000, "{}", bytes(&short));
        let expected: Vec<Value> = whole["tasks"].as_array().unwrap().iter().map(of).collect();
        assert_eq!((&short["tasks"], &short["brief"]), (&json!([]), &json!(expected)));
    }
}

#[test]
fn people_47_long_thoughts_are_cut_in_brief() {
    for era in ERAS {
        let mut client = Client::new(era);
        client.data("audit_session_start", json!({ "intent": "test", "session_id": "S" }));
        let contents = ["ζ".repeat(500), "short".to_owned(), "y".repeat(160)];
        for content in &contents {
            let thought = json!({
                "type": "plan", "task_id": "T", "agent_id": "a", "content": content, "session_id": "S",
            });
            client.data("thought_record", thought);
        }
        let list = ["records", "count", "has_more", "next_after"];
        let whole =
            full(&mut client, "thought_record_list", &json!({ "session_id": "S", "limit": 2 }), &list);
        let page =
            client.data("thought_record_list", json!({ "session_id": "S", "limit": 2, "detail": "brief" }));
        for member in ["count", "has_more", "next_after"] {
            assert_eq!(page[member], whole[member], "{member}");
        }
        assert_eq!((&page["records"], &page["count"]), (&json!([]), &json!(2)));
        let first = &page["brief"][0];
        let names =
            ["id", "type", "task_id", "agent_id", "timestamp", "session_id", "content", "content_bytes"];
        assert_eq!(members(first), names);
        assert_eq!((&first["content"], &first["content_bytes"]), (&json!("ζ".repeat(160)), &json!(1000)));
        assert_eq!(page["brief"][1]["content"], "short");
        let rest = json!({ "session_id": "S", "after": page["next_after"], "detail": "brief" });
        let rest = client.data("thought_record_list", rest);
        assert_eq!((&rest["brief"][0]["content_bytes"], &rest["has_more"]), (&json!(160), &json!(false)));
    }
}

#[test]
fn people_47_a_dropped_content_is_null_in_brief() {
    let mut client = Client::new(Era::Handshake);
    client.data("audit_session_start", json!({ "intent": "test", "session_id": "S" }));
    // One more than hot and warm records together: retention drops the content of the oldest.
    for _ in 0..=1000 {
        let thought =
            json!({ "type": "plan", "task_id": "T", "agent_id": "a", "content": "12345", "session_id": "S" });
        client.data("thought_record", thought);
    }
    // What no seal commits to is kept.
    client.data("merkle_finalize", json!({ "session_id": "S" }));
    let retention = launch().beside(&client.server).arg("retention").command().output().unwrap();
    assert!(retention.status.success(), "{retention:?}");
    let page = client.data("thought_record_list", json!({ "detail": "brief", "limit": 2 }));
    let shown = |index: usize| {
        let record = &page["brief"][index];
        (record["content"].clone(), record["content_bytes"].clone())
    };
    assert_eq!(shown(0), (Value::Null, Value::Null), "{page}");
    assert_eq!(shown(1), (json!("12345"), json!(5)), "{page}");
}

/// An agent sees from the description alone which entries a page has and how it gets to the next one.
#[test]
fn people_47_each_list_says_its_order_and_how_its_pages_go_on() {
    let expected = [
        ("task_list", "oldest first", "Pages go by limit and offset.", (500, 100)),
        ("task_next_actions", "most urgent first", "there are no further pages", (100, 20)),
        ("thought_record_list", "oldest first", "Go on with after while has_more is true.", (10_000, 1000)),
        ("audit_session_list", "newest first", "go on with before while next_before is not null", (200, 20)),
    ];
    for era in ERAS {
        let mut client = Client::new(era);
        let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
        for (name, order, pages, (most, default)) in expected {
            let tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
            let description = tool["description"].as_str().unwrap();
            assert!(description.contains(order) && description.contains(pages), "{name}: {description}");
            let limit = &tool["inputSchema"]["properties"]["limit"];
            let bounds = [&limit["minimum"], &limit["maximum"], &limit["default"]];
            assert_eq!(bounds.map(Value::as_i64), [Some(1), Some(most), Some(default)], "{name}");
        }
    }
}

/// Pages of full records end at 8 MiB of content; short entries show next to nothing of it.
#[test]
fn people_47_the_contents_that_brief_leaves_out_end_no_page() {
    let mut client = Client::new(Era::Handshake);
    client.data("audit_session_start", json!({ "intent": "test", "session_id": "S" }));
    for _ in 0..9 {
        let content = "x".repeat(1_048_576);
        let thought =
            json!({ "type": "plan", "task_id": "T", "agent_id": "a", "content": content, "session_id": "S" });
        client.data("thought_record", thought);
    }
    assert_eq!(client.data("thought_record_list", json!({}))["count"], 8);
    let page = client.data("thought_record_list", json!({ "detail": "brief" }));
    assert_eq!((&page["count"], &page["has_more"]), (&json!(9), &json!(false)));
}

#[test]
fn people_47_a_brief_verdict_names_broken_chains_only() {
    for era in ERAS {
        let mut client = Client::new(era);
        client.data("audit_session_start", json!({ "intent": "test", "session_id": "S" }));
        for number in 0..30 {
            let task = format!("T{number:02}");
            let thought = json!({
                "type": "plan", "task_id": task, "agent_id": "a", "content": "x", "session_id": "S",
            });
            client.data("thought_record", thought);
        }
        let members = ["valid", "broken_count", "record_count", "by_task", "not_covered"];
        let whole = full(&mut client, "audit_verify_chain", &json!({}), &members);
        assert_eq!(whole["by_task"].as_array().unwrap().len(), 30);
        let short = json!({
            "valid": true, "broken_count": 0, "record_count": 30, "chain_count": 30, "broken_tasks": [],
            "not_covered": ["agent_id", "session_id"],
        });
        assert_eq!(client.data("audit_verify_chain", json!({ "detail": "brief" })), short);

        let sql = client.server.sql();
        sql.tamper("UPDATE thought_records SET content = 'y' WHERE seq > 5");
        let short = client.data("audit_verify_chain", json!({ "detail": "brief" }));
        assert_eq!(
            (&short["valid"], &short["broken_count"], &short["chain_count"]),
            (&json!(false), &json!(25), &json!(30))
        );
        let broken = short["broken_tasks"].as_array().unwrap();
        assert_eq!((broken.len(), &broken[0]["task_id"]), (20, &json!("T05")), "{short}");
        assert!(broken.iter().all(|chain| chain["valid"] == false));
        let one = client.data("audit_verify_chain", json!({ "task_id": "T07", "detail": "brief" }));
        assert_eq!((&one["chain_count"], &one["broken_tasks"][0]["task_id"]), (&json!(1), &json!("T07")));
        let session = client.data("audit_verify_chain", json!({ "session_id": "S", "detail": "brief" }));
        assert_eq!((&session["chain_count"], &session["session"]["state"]), (&json!(30), &json!("open")));
        assert!(session.get("by_task").is_none(), "{session}");
    }
}
