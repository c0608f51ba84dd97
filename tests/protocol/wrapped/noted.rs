//! What is noted of calls beside their outcomes.

use colibri_canonical::sha256_hex;
use colibri_test_support::client::Launch;
use serde_json::{Value, json};

use super::{COLIBRI, ERAS, Era, Wrapped, result};

/// The notes: the call that each is about, by its place among the wrapped calls, with kind and body.
fn notes(wrap: &Wrapped) -> Vec<(usize, String, Value)> {
    let conn = wrap.server.sql();
    let numbers = "SELECT sequence_no FROM actions WHERE tool LIKE '%/%' ORDER BY sequence_no";
    let mut numbers = conn.prepare(numbers).unwrap();
    let numbers: Vec<i64> = numbers.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut notes = conn.prepare("SELECT about, kind, body FROM call_notes ORDER BY note_no").unwrap();
    let rows = notes.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(|row| {
        let (about, kind, body): (i64, String, String) = row.unwrap();
        let place = numbers.iter().position(|number| *number == about).unwrap();
        let mut body: Value = serde_json::from_str(&body).unwrap();
        if let Some(first) = body.get("first").and_then(Value::as_i64) {
            body["first"] = json!(numbers.iter().position(|number| *number == first));
        }
        (place, kind, body)
    })
    .collect()
}

/// Ends the run; what `colibri verify` says of the database, and `colibri log --json`.
fn verified(wrap: Wrapped) -> Vec<Value> {
    let database = wrap.server.database();
    let folder = wrap.server.shared_folder();
    let ended = wrap.server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    let run = |arguments: &[&str]| {
        let launch = Launch::new(COLIBRI).in_folder(folder.clone()).database(&database);
        arguments.iter().fold(launch, |launch, argument| launch.arg(argument)).command().output().unwrap()
    };
    let sound = run(&["verify"]);
    assert!(sound.status.success(), "{}", String::from_utf8_lossy(&sound.stdout));
    let log = String::from_utf8(run(&["log", "--json"]).stdout).unwrap();
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_call_that_was_withdrawn_and_done_all_the_same_has_a_note() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        for (id, reason) in [(1, Some("timeout")), (2, None)] {
            wrap.play(json!(id), json!([{ "read": 1 }, { "write": result("done") + "\n" }]));
            let mut params = json!({ "requestId": id });
            if let Some(reason) = reason {
                params["reason"] = json!(reason);
            }
            wrap.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
            assert_eq!(wrap.message()["id"], json!(id));
        }
        wrap.echo(json!(3));
        wrap.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } }),
        );
        wrap.echo(json!(4));
        let noted = notes(&wrap);
        let of = |place: usize| (noted[place].0, noted[place].1.as_str(), &noted[place].2["reason_hash"]);
        assert_eq!(of(0), (0, "withdrawn", &json!(sha256_hex(b"timeout"))));
        assert_eq!(of(1), (1, "withdrawn", &Value::Null));
        assert_eq!(noted.len(), 2, "{noted:?}");
        assert_eq!(wrap.endings(), ["ok"; 4]);
        let log = verified(wrap);
        let withdrawn: Vec<_> = log.iter().filter(|row| row["notes"][0]["kind"] == "withdrawn").collect();
        assert_eq!(withdrawn.len(), 2);
        assert!(withdrawn.iter().all(|row| row["outcome"] == "ok"), "{withdrawn:?}");
    }
}

#[test]
fn a_call_that_was_withdrawn_before_the_server_ended_has_a_note() {
    let mut wrap = Wrapped::new(Era::Handshake);
    wrap.play(json!(1), json!([{ "read": 1 }, { "exit": 0 }]));
    wrap.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    );
    assert!(wrap.message()["error"].is_object());
    assert_eq!(wrap.endings(), ["aborted/WRAP_SERVER_ENDED"]);
    let noted = notes(&wrap);
    assert_eq!((noted.len(), noted[0].0, noted[0].1.as_str()), (1, 0, "withdrawn"));
    verified(wrap);
}

#[test]
fn a_later_round_names_the_call_that_asked_and_says_if_arguments_changed() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let asks = |state: &str| {
            let asks = format!(
                "{{\"resultType\":\"input_required\",\"requestState\":\"{state}\",\"inputRequests\":{{}}}}"
            );
            json!([{ "write": format!("{{\"jsonrpc\":\"2.0\",\"id\":${{id}},\"result\":{asks}}}\n") }])
        };
        wrap.play(json!(1), asks("one"));
        assert_eq!(wrap.message()["id"], json!(1));
        let again = |wrap: &mut Wrapped, id: u8, steps: Value, state: &str, answers: Value| {
            let mut call = wrap.call(json!(id), "play", json!({ "steps": steps }));
            call["params"]["requestState"] = json!(state);
            call["params"]["inputResponses"] = answers;
            wrap.send(&call);
            assert_eq!(wrap.message()["id"], json!(id));
        };
        let answers =
            json!({ "ok": { "action": "accept", "content": { "yes": true } }, "x": { "action": "shout" } });
        // The second round asks again, the third has the first one's arguments, and a fourth goes on with nothing known.
        again(&mut wrap, 2, asks("two"), "one", answers);
        again(&mut wrap, 3, asks("one"), "two", json!({ "ok": { "action": "decline" } }));
        again(&mut wrap, 4, asks("three"), "unknown", json!({}));
        wrap.echo(json!(5));
        let state = |state: &str| sha256_hex(state.as_bytes());
        let expected = [
            (
                1,
                "later_round",
                json!({ "first": 0, "state_hash": state("one"), "actions": ["accept", null] }),
            ),
            (1, "arguments_changed", json!({ "first": 0 })),
            (2, "later_round", json!({ "first": 0, "state_hash": state("two"), "actions": ["decline"] })),
            (3, "later_round", json!({ "first": null, "state_hash": state("unknown"), "actions": [] })),
        ];
        let expected = expected.map(|(place, kind, body)| (place, kind.to_owned(), body));
        assert_eq!(notes(&wrap), expected);
        verified(wrap);
    }
}

#[test]
fn a_task_that_ends_later_has_a_note_with_its_end() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        for (id, task) in [(1, r#"{"task":{"taskId":"t1"}}"#), (2, r#"{"resultType":"task","taskId":"t2"}"#)]
        {
            let handle = format!("{{\"jsonrpc\":\"2.0\",\"id\":${{id}},\"result\":{task}}}\n");
            wrap.play(json!(id), json!([{ "write": handle }]));
            assert_eq!(wrap.message()["id"], json!(id));
        }
        let state = |task: &str, status: &str| json!({ "taskId": task, "status": status });
        let ask = |wrap: &mut Wrapped, method: &str, task: &str, answer: Value| {
            let mut request = wrap.request(json!("state"), method);
            request["params"]["taskId"] = json!(task);
            request["params"]["answer"] = answer;
            wrap.send(&request);
            assert_eq!(wrap.message()["id"], "state");
        };
        ask(&mut wrap, "tasks/get", "t1", state("t1", "working"));
        ask(&mut wrap, "tasks/get", "t1", state("t1", "completed"));
        ask(&mut wrap, "tasks/get", "t1", state("t1", "completed"));
        ask(&mut wrap, "tasks/get", "t0", state("t0", "failed"));
        ask(&mut wrap, "tasks/result", "t2", json!({ "content": [] }));
        wrap.echo(json!(9));
        let noted = notes(&wrap);
        let ends: Vec<_> = noted
            .iter()
            .map(|(place, kind, body)| (*place, kind.as_str(), body["status"].as_str()))
            .collect();
        assert_eq!(ends, [(0, "task_ended", Some("completed")), (1, "task_ended", Some("completed"))]);
        assert_eq!(noted[0].2["task_hash"], sha256_hex(b"t1"));
        assert_eq!(noted[0].2["result_hash"], sha256_hex(state("t1", "completed").to_string().as_bytes()));
        assert_eq!(wrap.endings()[..2], ["domain_error/TASK_CREATED"; 2]);
        verified(wrap);
    }
}
