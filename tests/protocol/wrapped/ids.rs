//! Which answer belongs to which request.

use std::time::Duration;

use colibri_test_support::client::Launch;
use colibri_test_support::engine;
use serde_json::{Value, json};

use super::{ERAS, Era, Setup, Wrapped, result};

#[test]
fn wrap_08_a_request_of_the_servers_may_have_the_id_of_one_of_the_clients() {
    for era in ERAS {
        for method in ["sampling/createMessage", "elicitation/create", "roots/list"] {
            let mut wrap = Setup::new(era).with(&["--pin", "off"]).start();
            let asked = format!("{{\"jsonrpc\":\"2.0\",\"id\":${{id}},\"method\":\"{method}\"}}\n");
            wrap.play(
                json!(5),
                json!([{ "write": asked }, { "read": 1 }, { "write": result("done") + "\n" }]),
            );
            assert_eq!(wrap.message()["method"], method);
            wrap.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": { "answered": method } }));
            assert_eq!(wrap.message()["result"]["content"][0]["text"], "done");
            assert!(wrap.read().contains("answered"));
            assert_eq!(wrap.endings(), ["ok"]);
        }
    }
}

#[test]
fn wrap_09_an_array_waits_for_all_of_its_rows() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let batch = [1, 2].map(|id| wrap.call(json!(id), "echo", json!({}))).to_vec();
        let batch: Vec<Value> = batch.into_iter().chain([wrap.request(json!(3), "ping")]).collect();
        wrap.send(&json!(batch));
        let answers = wrap.message();
        let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
        assert_eq!(ids, [json!(1), json!(2), json!(3)]);
        assert_eq!(wrap.endings(), ["ok", "ok"]);
    }
}

#[test]
fn wrap_10_a_refused_call_takes_its_whole_array_with_it() {
    for era in ERAS {
        let mut wrap = Setup::new(era).with(&["--deny", "secret"]).start();
        if era == Era::Handshake {
            wrap.await_read("initialized");
        }
        let read = wrap.read();
        let batch = json!([
            wrap.call(json!(1), "echo", json!({})),
            wrap.call(json!(2), "secret", json!({})),
            wrap.request(json!(3), "ping"),
        ]);
        wrap.send(&batch);
        let answers = wrap.message();
        let codes: Vec<_> = answers
            .as_array()
            .unwrap()
            .iter()
            .map(|answer| answer["error"]["data"]["code"].clone())
            .collect();
        assert_eq!(codes, [json!("WRAP_BATCH_REFUSED"), json!("WRAP_DENIED"), json!("WRAP_BATCH_REFUSED")]);
        assert_eq!(wrap.endings(), ["denied/WRAP_BATCH_REFUSED", "denied/WRAP_DENIED"]);
        assert_eq!(wrap.read(), read);
    }
}

#[test]
fn wrap_11_each_round_of_a_call_has_a_row() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let asks =
            r#"{"jsonrpc":"2.0","id":${id},"result":{"resultType":"input_required","inputRequests":{}}}"#;
        let steps = json!([{ "write": format!("{asks}\n") }]);
        wrap.play(json!(1), steps.clone());
        assert_eq!(wrap.message()["result"]["resultType"], "input_required");
        let mut again = wrap.call(json!(2), "echo", json!({ "steps": steps }));
        again["params"]["inputResponses"] = json!({ "a": 1 });
        wrap.send(&again);
        assert_eq!(wrap.message()["id"], json!(2));
        assert_eq!(wrap.endings(), ["domain_error/INPUT_REQUIRED", "ok"]);
        let rows = wrap.rows();
        assert_ne!(rows[0].args_hash, rows[1].args_hash);
    }
}

#[test]
fn wrap_12_a_call_that_becomes_a_task_ends_with_its_handle() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        for (id, task) in [(1, r#"{"task":{"taskId":"t"}}"#), (2, r#"{"resultType":"task","taskId":"t"}"#)] {
            let handle = format!("{{\"jsonrpc\":\"2.0\",\"id\":${{id}},\"result\":{task}}}\n");
            wrap.play(json!(id), json!([{ "write": handle }]));
            assert_eq!(wrap.message()["id"], json!(id));
        }
        for method in ["tasks/get", "tasks/result"] {
            let request = wrap.request(json!(method), method);
            wrap.send(&request);
            assert_eq!(wrap.message()["id"], method);
        }
        assert_eq!(wrap.endings(), ["domain_error/TASK_CREATED"; 2]);
    }
}

/// An answer with that id, written in the place of another.
fn answer_as(id: &str) -> String {
    result("as").replace("${id}", id) + "\n"
}

#[test]
fn wrap_13_an_answer_closes_the_row_only_under_an_id_that_no_client_takes_for_another() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        for equal in [r#""5""#, "5.0", "5e0"] {
            wrap.play(json!(5), json!([{ "write": answer_as(equal) }]));
            assert_eq!(wrap.line(), answer_as(equal).as_bytes());
        }
        assert_eq!(wrap.endings(), ["ok"; 3]);
        let others = [r#""0x5""#, r#"" 5""#, r#""05""#, r#""+5""#, "6"];
        wrap.play(json!(5), others.map(|other| json!({ "write": answer_as(other) })).to_vec().into());
        wrap.echo(json!("last"));
        let endings = wrap.endings();
        assert_eq!(endings[3..].join(" "), "running ok");
    }
}

#[test]
fn wrap_14_an_answer_that_no_request_waits_for_reaches_nobody_and_is_counted() {
    for era in ERAS {
        let mut wrap = Setup::new(era).env("COLIBRI_LOG_LEVEL", "info").start();
        let once = result("once") + "\n";
        wrap.play(json!(1), json!([{ "write": answer_as("2") }, { "write": once }, { "write": once }]));
        assert_eq!(wrap.message()["id"], json!(1));
        wrap.echo(json!(2));
        wrap.server.close_stdin();
        let ended = wrap.server.wait();
        assert!(ended.stderr.contains("dropped 1 answer that no request waits for"), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("2 calls, 0 refused, 0 aborted, 2 messages dropped"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn wrap_15_a_message_with_two_readings_reaches_nobody() {
    let head = r#"{"jsonrpc":"2.0","id":${id}"#;
    let ambiguous = [
        format!("{head},\"id\":9,\"result\":{{}}}}\n"),
        format!("{head},\"result\":{{}},\"result\":{{\"content\":[]}}}}\n"),
        format!("{head},\"result\":{{}},\"error\":{{\"code\":1,\"message\":\"\"}}}}\n"),
        format!("{head},\"method\":\"ping\",\"result\":{{}}}}\n"),
    ];
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        for (id, message) in (1..).zip(&ambiguous) {
            wrap.play(json!(id), json!([{ "write": message }]));
        }
        wrap.echo(json!("short"));
        for (id, message) in (11..).zip(&ambiguous) {
            let (head, rest) = message.split_at(message.len() - 2);
            let steps = json!([{ "write": format!("{head},\"pad\":\"") }, { "repeat": ["x", 1 << 20] }, { "write": format!("\"{rest}") }]);
            wrap.play(json!(id), steps);
            let line = wrap.line();
            assert!(line.len() > 1 << 20 && serde_json::from_slice::<Value>(&line).is_err());
        }
        wrap.echo(json!("long"));
        assert_eq!(wrap.endings().iter().filter(|ending| *ending == "ok").count(), 2);
        assert_eq!(wrap.endings().iter().filter(|ending| *ending == "running").count(), 8);
    }
}

#[test]
fn more_than_4096_requests_in_flight_are_refused() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        for id in 1..=4096 {
            wrap.play(json!(id), json!([]));
        }
        wrap.play(json!("one more"), json!([]));
        let answer = wrap.message();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!("one more"), &json!(-32603)),
            "{answer}"
        );
        assert_eq!(answer["error"]["message"], "too many requests in flight");
    }
}

#[test]
fn a_second_request_under_an_id_is_refused_behind_the_first_answer() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let first = json!([{ "read": 2 }, { "write": result("one") + "\n" }]);
        wrap.play(json!(7), first);
        // The same id in other spellings, another request, a call that is malformed, and an array with one more.
        let malformed = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {} });
        for second in [wrap.call(json!("7"), "echo", json!({})), wrap.request(json!(7.0), "ping"), malformed]
        {
            wrap.send(&second);
        }
        let array = json!([wrap.call(json!(7), "echo", json!({})), wrap.call(json!(8), "echo", json!({}))]);
        wrap.send(&array);
        wrap.send(&json!({ "jsonrpc": "2.0", "method": "notifications/x" }));
        wrap.send(&json!({ "jsonrpc": "2.0", "method": "notifications/y" }));
        let answer = wrap.message();
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!("one")));
        let refused: Vec<Value> = (0..3).map(|_| wrap.message()).collect();
        let codes: Vec<_> = refused.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
        assert_eq!(
            codes,
            [(&json!("7"), &json!(-32600)), (&json!(7.0), &json!(-32600)), (&json!(7), &json!(-32602))]
        );
        let array = wrap.message();
        assert_eq!((&array[0]["id"], &array[1]["id"]), (&json!(7), &json!(8)), "{array}");
        assert_eq!(array[1]["error"]["data"]["code"], "WRAP_BATCH_REFUSED", "{array}");
        let bad = "invalid/WRAP_BAD_CALL";
        assert_eq!(wrap.endings(), ["ok", bad, bad, bad, "denied/WRAP_BATCH_REFUSED"]);
        // Once it is answered the id is free.
        wrap.echo(json!(7));
        let read = wrap.read();
        assert!(!read.contains("\"id\":8") && !read.contains("\"id\":\"7\""), "{read}");
    }
}

#[test]
fn an_id_that_comes_twice_in_one_array_refuses_the_array() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let array = [wrap.call(json!(1), "echo", json!({})), wrap.call(json!(1.0), "echo", json!({}))];
        wrap.send(&json!(array));
        let answers = wrap.message();
        assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
        assert_eq!(wrap.endings(), ["denied/WRAP_BATCH_REFUSED", "invalid/WRAP_BAD_CALL"]);
    }
}

#[test]
fn a_request_under_the_id_of_one_that_was_given_up_is_refused() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        wrap.echo(json!(1));
        let late = json!([{ "read": 1 }, { "sleep": 3500 }, { "write": result("too late") + "\n" }]);
        wrap.play(json!(2), late);
        wrap.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } }),
        );
        wrap.await_endings(&["ok", "aborted/WRAP_CANCELLED"]);
        let again = wrap.call(json!(2), "echo", json!({}));
        wrap.send(&again);
        let answer = wrap.message();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32600)), "{answer}");
        wrap.echo(json!(3));
        assert_eq!(wrap.endings()[1..], ["aborted/WRAP_CANCELLED", "invalid/WRAP_BAD_CALL", "ok"]);
    }
}

#[test]
fn wrap_17_errors_that_answer_nothing_pass_and_an_id_may_stand_last() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let error = "\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"?\"}";
        let lines = [format!("{{{error}}}\n"), format!("{{{error},\"id\":null}}\n")];
        let large = json!([
            { "write": lines.concat() },
            { "write": "{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[],\"text\":\"" },
            { "repeat": ["0123456789", 1_000_000] },
            { "write": "\"},\"id\":${id}}\n" },
        ]);
        wrap.play(json!(1), large);
        assert_eq!((wrap.line(), wrap.line()), (lines[0].clone().into(), lines[1].clone().into()));
        let answer = wrap.message();
        assert_eq!(answer["result"]["text"].as_str().unwrap().len(), 10_000_000);
        assert_eq!(wrap.endings(), ["ok"]);
    }
}

#[test]
fn wrap_18_an_open_row_is_there_before_the_server_reads_a_call() {
    for era in ERAS {
        let launch = Launch::new(super::COLIBRI);
        let folder = launch.folder();
        let (read, go) = (folder.path().join("read"), folder.path().join("go"));
        let mut setup = Setup::new(era);
        if !engine::is_postgres() {
            // The server itself looks into the file.
            setup = setup.odd(&["--rows", folder.path().join("colibri.db").to_str().unwrap()]);
        }
        let mut wrap = setup.start_in(launch);
        let steps = json!([{ "touch": read }, { "await": go }, { "write": result("seen") + "\n" }]);
        wrap.play(json!(0), steps);
        while !read.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(wrap.endings(), ["running"]);
        std::fs::write(&go, "").unwrap();
        assert_eq!(wrap.message()["id"], json!(0));
        for id in 1..=20 {
            wrap.echo(json!(id));
        }
        let read = wrap.read();
        let looked = if engine::is_postgres() { 0 } else { 21 };
        assert_eq!((read.matches("row yes").count(), read.matches("row no").count()), (looked, 0), "{read}");
    }
}

#[test]
fn wrap_23_a_cancelled_call_may_still_be_answered_for_two_seconds() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let cancel = |id: u32| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        wrap.play(json!(1), json!([{ "read": 1 }, { "write": result("late") + "\n" }]));
        wrap.send(&cancel(1));
        assert_eq!(wrap.message()["id"], json!(1));
        wrap.play(
            json!(2),
            json!([{ "read": 1 }, { "sleep": 3000 }, { "write": result("too late") + "\n" }]),
        );
        wrap.send(&cancel(2));
        wrap.await_endings(&["ok", "aborted/WRAP_CANCELLED"]);
        wrap.echo(json!(3));
        assert_eq!(wrap.endings(), ["ok", "aborted/WRAP_CANCELLED", "ok"]);
    }
}
