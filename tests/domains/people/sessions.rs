//! Finding one's way back: `audit_session_list`.

use colibri_test_support::sql::dialect;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era};

fn ids(page: &Value) -> Vec<String> {
    let sessions = page["sessions"].as_array().unwrap();
    sessions.iter().map(|session| session["session_id"].as_str().unwrap().to_owned()).collect()
}

fn start(client: &mut Client, session_id: &str, task_id: Option<&str>) {
    let mut arguments = json!({ "intent": format!("why {session_id}"), "session_id": session_id });
    if let Some(task_id) = task_id {
        arguments["task_id"] = json!(task_id);
    }
    client.data("audit_session_start", arguments);
}

fn think(client: &mut Client, session_id: &str, agent_id: &str) -> Value {
    client.data(
        "thought_record",
        json!({ "type": "plan", "task_id": "T", "agent_id": agent_id, "content": "x", "session_id": session_id }),
    )
}

#[test]
fn people_45_open_sessions_are_listed_newest_first_with_what_they_hold() {
    for era in ERAS {
        let mut client = Client::new(era);
        start(&mut client, "a", None);
        start(&mut client, "b", Some("T-1"));
        start(&mut client, "c", None);
        think(&mut client, "a", "agent-1");
        let last = think(&mut client, "a", "agent-2");
        think(&mut client, "c", "agent-3");
        let sealed = client.data("merkle_finalize", json!({ "session_id": "c" }));

        let page = client.data("audit_session_list", json!({}));
        assert_eq!(ids(&page), ["b", "a"], "{page}");
        assert_eq!((&page["open_count"], &page["next_before"]), (&json!(2), &Value::Null));
        let a = &page["sessions"][1];
        assert_eq!(a["intent"], "why a");
        assert_eq!((&a["state"], &a["record_count"]), (&json!("open"), &json!(2)), "{a}");
        assert_eq!((&a["last_record_at"], &a["last_agent_id"]), (&last["timestamp"], &json!("agent-2")));
        assert!((0..600).contains(&a["age_seconds"].as_i64().unwrap()), "{a}");
        let b = &page["sessions"][0];
        assert_eq!((&b["task_id"], &b["record_count"]), (&json!("T-1"), &json!(0)), "{b}");
        for member in ["last_record_at", "last_agent_id", "finalized_at", "head_hash"] {
            assert_eq!(b.get(member), Some(&Value::Null), "{member}: {b}");
        }

        let page = client.data("audit_session_list", json!({ "state": "sealed" }));
        assert_eq!((ids(&page), &page["open_count"]), (vec!["c".to_owned()], &json!(2)), "{page}");
        let c = &page["sessions"][0];
        assert_eq!((&c["state"], &c["record_count"]), (&json!("sealed"), &json!(1)), "{c}");
        assert_eq!(c["finalized_at"], sealed["finalized_at"]);
        assert_eq!(c["head_hash"], sealed["tree_head"]["head_hash"]);

        assert_eq!(ids(&client.data("audit_session_list", json!({ "state": "all" }))), ["c", "b", "a"]);
        let of_task = client.data("audit_session_list", json!({ "state": "all", "task_id": "T-1" }));
        assert_eq!((ids(&of_task), &of_task["open_count"]), (vec!["b".to_owned()], &json!(1)), "{of_task}");
        let of_none = client.data("audit_session_list", json!({ "task_id": "T" }));
        assert_eq!((ids(&of_none), &of_none["open_count"]), (Vec::new(), &json!(0)), "{of_none}");
    }
}

#[test]
fn people_45_pages_follow_each_other_and_an_unknown_cursor_is_refused() {
    for era in ERAS {
        let mut client = Client::new(era);
        for number in 1..=5 {
            start(&mut client, &format!("s{number}"), None);
        }
        let (mut seen, mut before) = (Vec::new(), Value::Null);
        loop {
            let mut arguments = json!({ "limit": 2 });
            if let Value::String(id) = &before {
                arguments["before"] = json!(id);
            }
            let page = client.data("audit_session_list", arguments);
            assert_eq!(page["open_count"], 5, "{page}");
            seen.push(ids(&page));
            before = page["next_before"].clone();
            if before.is_null() {
                break;
            }
        }
        assert_eq!(seen, [vec!["s5", "s4"], vec!["s3", "s2"], vec!["s1"]]);
        // A page goes on where the one before ended, also if its last session was sealed since.
        think(&mut client, "s4", "agent");
        client.data("merkle_finalize", json!({ "session_id": "s4" }));
        let page = client.data("audit_session_list", json!({ "limit": 2, "before": "s4" }));
        assert_eq!(
            (ids(&page), &page["next_before"]),
            (vec!["s3".to_owned(), "s2".to_owned()], &json!("s2"))
        );
        let error = client.call("audit_session_list", json!({ "before": "nope" }))["data"]["error"].clone();
        assert_eq!(error["code"], "ERR_CURSOR_NOT_FOUND", "{error}");
        assert_eq!(error["message"], "No audit session has the id nope", "{error}");
        assert_eq!(error["before"], "nope", "{error}");
        let again = client.data("audit_session_list", error["next"][0]["arguments"].clone());
        assert_eq!(ids(&again), ["s5", "s3", "s2", "s1"], "{error}");
        for refused in [json!({ "limit": 201 }), json!({ "limit": 0 }), json!({ "state": "finalized" })] {
            assert_eq!(client.refused("audit_session_list", refused), "INVALID_PARAMS");
        }
    }
}

#[test]
fn people_45_three_open_sessions_of_two_hundred_are_found() {
    let mut client = Client::new(Era::Handshake);
    let open = ["s003", "s100", "s199"];
    for number in 0..200 {
        let id = format!("s{number:03}");
        start(&mut client, &id, None);
        think(&mut client, &id, "agent");
        if !open.contains(&id.as_str()) {
            client.data("merkle_finalize", json!({ "session_id": id }));
        }
    }
    let page = client.data("audit_session_list", json!({}));
    assert_eq!(ids(&page), ["s199", "s100", "s003"]);
    assert_eq!((&page["open_count"], &page["next_before"]), (&json!(3), &Value::Null));
    let sealed = client.data("audit_session_list", json!({ "state": "sealed", "limit": 200 }));
    assert_eq!((sealed["sessions"].as_array().unwrap().len(), &sealed["next_before"]), (197, &Value::Null));
}

/// A clock that was set back since makes a session look as old as now, never younger.
#[test]
fn people_45_a_session_that_began_in_the_future_has_no_age() {
    let mut client = Client::new(Era::Handshake);
    start(&mut client, "a", None);
    client.server.sql().tamper("UPDATE audit_sessions SET started_at = '2999-01-01T00:00:00.000Z'");
    assert_eq!(client.data("audit_session_list", json!({}))["sessions"][0]["age_seconds"], 0);
}

/// Any remains of a seal keep the session sealed: for the list as for a new thought.
#[test]
fn people_45_the_list_says_sealed_of_a_session_whose_root_is_gone() {
    let mut client = Client::new(Era::Handshake);
    start(&mut client, "a", None);
    think(&mut client, "a", "agent");
    client.data("merkle_finalize", json!({ "session_id": "a" }));
    let sql = client.server.sql();
    sql.tamper("DELETE FROM merkle_roots");
    let page = client.data("audit_session_list", json!({ "state": "all" }));
    assert_eq!((&page["sessions"][0]["state"], &page["open_count"]), (&json!("sealed"), &json!(0)), "{page}");
    assert_eq!(page["sessions"][0]["finalized_at"], Value::Null, "{page}");
}

/// The count of records ends at 10,000, so that one long session does not slow every list.
#[test]
fn people_45_records_are_counted_up_to_ten_thousand() {
    let mut client = Client::new(Era::Handshake);
    start(&mut client, "a", None);
    let sql = client.server.sql();
    let fill = |until: i64| {
        let digest = dialect::padded("i");
        sql.tamper(&format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 + (SELECT count(*) FROM thought_records) UNION ALL SELECT i + 1 FROM n WHERE i < {until})
             INSERT INTO thought_records (seq, id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id)
             SELECT i, 'r' || i, 'plan', 'T', 'agent', 'x', '2026-01-01T00:00:00.000Z', {digest}, {digest},
             '2026-01-01T00:00:00.000Z', 'a' FROM n;"
        ));
    };
    for (stored, counted) in [(9_999, 9_999), (10_000, 10_000), (10_500, 10_000)] {
        fill(stored);
        let page = client.data("audit_session_list", json!({}));
        assert_eq!(page["sessions"][0]["record_count"], counted, "{stored}");
    }
}
