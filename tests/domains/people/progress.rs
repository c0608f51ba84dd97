//! Progress: what a client hears of a call that lasts.
//!
//! A process that is stopped by a signal does no work, but its clock goes on. So the tests stop the server again and again
//! while it works, and every call lasts as long as a test needs, on any machine.

use colibri_test_support::sql::dialect;
use std::time::Duration;

use colibri_test_support::client::Launch;
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};
use crate::router::world::{candidates, launch_with};

/// Longer than the time in which nothing is sent, and than the time between two notifications.
const STANDSTILL: Duration = Duration::from_millis(1_100);
/// How long the server works between two standstills.
const WORK: Duration = Duration::from_millis(50);
const RECORDS: u64 = 40_000;
/// Reading a standing takes less time.
const STANDINGS: u64 = 400_000;

/// A session with many records, of which no hash is right: a verifier reads them all the same.
fn fill(client: &mut Client, session_id: &str) {
    client.data("audit_session_start", json!({ "intent": "be read", "session_id": session_id }));
    let sql = client.server.sql();
    let digest = dialect::padded("i");
    sql.tamper(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {RECORDS})
         INSERT INTO thought_records (seq, id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id)
         SELECT i, 'r' || i, 'plan', 'T', 'agent', 'x', '2026-01-01T00:00:00.000Z', {digest}, {digest},
         '2026-01-01T00:00:00.000Z', '{session_id}' FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {STANDINGS})
         INSERT INTO reputations (node_id, domain, score, last_activity_epoch)
         SELECT {node}, 'execution', 10, 0 FROM n;",
        node = dialect::any_text("'n' || i"),
    ));
}

/// Lets the server stand still and work in turns until the request is answered. Returns the notifications before the answer.
fn notifications_until(client: &mut Client, id: u64) -> Vec<Value> {
    let mut heard = Vec::new();
    loop {
        client.server.signal("STOP");
        std::thread::sleep(STANDSTILL);
        client.server.signal("CONT");
        while let Some(message) = client.server.message_within(WORK) {
            if message.get("method").is_none() {
                assert_eq!(message["id"], json!(id), "{message}");
                return heard;
            }
            heard.push(message["params"].clone());
        }
    }
}

/// Returns the notifications of a call. Calls a second time, or a third, if it was over before the server stood still.
fn heard_of(client: &mut Client, tool: &str, arguments: &Value, token: &Value) -> Vec<Value> {
    let mut calls = (0..3).map(|_| {
        let id = client.send_with_token(tool, arguments.clone(), token.clone());
        notifications_until(client, id)
    });
    calls.find(|heard| !heard.is_empty()).unwrap_or_default()
}

/// Asserts that nothing more comes, and that the server still answers.
fn assert_quiet(client: &mut Client) {
    let left = client.server.message_within(STANDSTILL);
    assert!(left.is_none(), "{left:?}");
    client.data("server_ping", json!({}));
}

fn assert_increasing(heard: &[Value]) {
    let values: Vec<f64> = heard.iter().map(|params| params["progress"].as_f64().unwrap()).collect();
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
}

/// Asserts that these notifications count records, under that token.
fn assert_counts(heard: &[Value], total: u64, token: &Value, with_message: bool) {
    assert!(!heard.is_empty(), "{token}");
    assert_increasing(heard);
    for params in heard {
        assert_eq!((&params["progressToken"], &params["total"]), (token, &json!(total)), "{params}");
        let done = params["progress"].as_u64().unwrap();
        assert!((1..=total).contains(&done), "{params}");
        let words = with_message.then(|| json!(format!("{done} of {total} records")));
        assert_eq!(params.get("message"), words.as_ref(), "{params}");
    }
}

#[test]
fn people_49_a_long_read_tells_how_far_it_is() {
    tells_how_far_it_is(Era::Handshake);
}

#[test]
fn people_49_a_long_read_tells_how_far_it_is_without_a_greeting() {
    tells_how_far_it_is(Era::Stateless);
}

fn tells_how_far_it_is(era: Era) {
    let mut client = Client::new(era);
    fill(&mut client, "S");
    let calls = [
        ("audit_verify_chain", json!({}), json!("token-1")),
        ("audit_verify_chain", json!({ "session_id": "S" }), json!(7)),
        ("audit_verify_chain", json!({ "task_id": "T" }), json!("")),
        ("reputation_leaderboard", json!({ "domain": "execution" }), json!(-1)),
        ("merkle_finalize", json!({ "session_id": "S" }), json!("token \"2\"")),
    ];
    for (tool, arguments, token) in calls {
        let heard = heard_of(&mut client, tool, &arguments, &token);
        let total = if tool == "reputation_leaderboard" { STANDINGS } else { RECORDS };
        assert_counts(&heard, total, &token, true);
    }
    assert_quiet(&mut client);
    // Who does not ask hears nothing.
    let id = client.send_with_token("audit_verify_chain", json!({}), json!({}));
    assert_eq!(notifications_until(&mut client, id), Vec::<Value>::new());
}

#[test]
fn people_49_the_first_revision_has_no_messages() {
    let mut client = Client::speaking(launch(), "2024-11-05");
    fill(&mut client, "S");
    let heard = heard_of(&mut client, "audit_verify_chain", &json!({}), &json!(1));
    assert_counts(&heard, RECORDS, &json!(1), false);
}

/// A server with two models, whose providers never answer.
fn stalled(provider: &Loopback) -> Launch {
    candidates(launch_with(provider, "sk-never-answered"), &["gpt-4o", "claude-sonnet-3-5"])
        .env("COLIBRI_ROUTER_ATTEMPT_TIMEOUT_MS", "2500")
}

#[test]
fn people_50_a_stalled_provider_is_named() {
    for era in ERAS {
        let provider = Loopback::always(Reply::silence());
        let mut client = Client::of(stalled(&provider), era);
        client.data("task_list", json!({}));
        let id = client.send_with_token("router_call", json!({ "prompt": "ping-7261" }), json!("r"));
        let first = client.server.message_within(Duration::from_secs(60)).unwrap();
        let said =
            json!({ "progressToken": "r", "progress": 1, "total": 2, "message": "asking gpt-4o (1 of 2)" });
        assert_eq!(first, json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": said }));
        let second = client.server.message_within(Duration::from_secs(60)).unwrap();
        assert_eq!(second["params"]["message"], "asking claude-sonnet-3-5 (2 of 2)");
        let answer = client.server.receive();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(id), &json!(true)), "{answer}");

        // After a cancellation nothing more is heard of the call.
        let id = client.send_with_token("router_call", json!({ "prompt": "ping" }), json!("s"));
        let heard = client.server.message_within(Duration::from_secs(60)).unwrap();
        assert_eq!(heard["params"]["progressToken"], "s");
        let params = json!({ "requestId": id });
        client
            .server
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
        assert_quiet(&mut client);
    }
}

#[test]
fn people_50_a_call_that_waits_says_so() {
    for era in ERAS {
        let provider = Loopback::always(Reply::silence());
        let mut client = Client::of(stalled(&provider), era);
        fill(&mut client, "S");
        // Behind a scan.
        let mut behind = (0..3).map(|_| {
            let id = client.send_with_token("audit_verify_chain", json!({}), json!({}));
            let waiting = client.send_with_token("task_create", json!({ "title": "A" }), json!("t"));
            let heard = notifications_until(&mut client, id);
            assert_eq!(client.server.receive()["id"], json!(waiting));
            heard
        });
        let heard = behind.find(|heard| !heard.is_empty()).unwrap_or_default();
        assert!(!heard.is_empty());
        assert_waits(&heard, "t");
        assert_quiet(&mut client);

        // Behind the tool's lock.
        client.send_with_token("router_call", json!({ "prompt": "ping" }), json!({}));
        client.send_with_token("router_call", json!({ "prompt": "ping" }), json!("u"));
        let heard: Vec<Value> = (0..3)
            .map(|_| client.server.message_within(Duration::from_secs(60)).unwrap()["params"].clone())
            .collect();
        assert_waits(&heard, "u");
    }
}

fn assert_waits(heard: &[Value], token: &str) {
    assert_increasing(heard);
    for params in heard {
        assert_eq!((&params["progressToken"], params.get("total")), (&json!(token), None), "{params}");
        assert_eq!(params["message"], "waiting for another call");
        let value = params["progress"].as_f64().unwrap();
        assert!((0.5..1.0).contains(&value), "{params}");
    }
}

#[test]
fn people_50_a_short_call_is_only_answered() {
    for era in ERAS {
        let mut client = Client::new(era);
        for n in 0..200 {
            let id = client.send_with_token("task_create", json!({ "title": "A" }), json!(n));
            assert_eq!(client.server.receive()["id"], json!(id));
        }
        assert_quiet(&mut client);
    }
    // A cancelled call that waits is forgotten.
    let provider = Loopback::always(Reply::silence());
    let mut client = Client::of(stalled(&provider), Era::Handshake);
    client.data("task_list", json!({}));
    client.send_with_token("router_call", json!({ "prompt": "ping" }), json!({}));
    let id = client.send_with_token("router_call", json!({ "prompt": "ping" }), json!("w"));
    let params = json!({ "requestId": id });
    client.server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    assert_quiet(&mut client);
}
