//! Lines that readers divide differently: what one of them takes for a message must not pass as part of another.

use std::time::{Duration, Instant};

use colibri_test_support::client::PATIENCE;
use serde_json::json;

use super::place::{Place, tool};
use super::{ERAS, Era, Setup, Wrapped, result};

#[test]
fn wrap_04_no_call_hides_behind_a_carriage_return() {
    for era in ERAS {
        let mut wrap = Setup::new(era).with(&["--deny", "danger"]).start();
        let hidden = wrap.call(json!(1), "danger", json!({}));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"a\":\r{hidden}\r}}}}\n");
        wrap.server.send_bytes(line.as_bytes());
        let answer = wrap.message();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &json!(null)), "{answer}");
        let call = wrap.call(json!(2), "echo", json!({})).to_string();
        wrap.server.send_bytes(format!("{}\n", call.replacen(',', ",\r", 1)).as_bytes());
        let answer = wrap.message();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32602), &json!(2)), "{answer}");
        // Directly before the line feed it belongs to the line's end.
        let call = wrap.call(json!(3), "echo", json!({}));
        wrap.server.send_bytes(format!("{call}\r\n").as_bytes());
        assert_eq!(wrap.message()["id"], json!(3));
        assert_eq!(wrap.endings(), ["invalid/WRAP_BAD_CALL", "ok"]);
        let read = wrap.read();
        assert!(!read.contains("danger") && !read.contains("\"id\":2"), "{read}");
    }
}

#[test]
fn wrap_48_of_an_array_that_is_not_well_formed_no_byte_passes_when_a_message_is_dropped() {
    for era in ERAS {
        let place = Place::new();
        let tools = json!([tool("danger", "One."), tool("play", "Plays.")]);
        let list = format!("{{\"jsonrpc\":\"2.0\",\"id\":${{id}},\"result\":{{\"tools\":{tools}}}}}");
        let line = format!("[{{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":1}} {list}]\n");
        place.gives(&json!([{ "steps": [{ "write": line }] }]).to_string());
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--deny", "danger", "--pin", "off"]));
        let request = wrap.request(json!("list"), "tools/list");
        wrap.send(&request);
        wrap.ping();
        wrap.end();
    }
}

/// What the client reads before the answer to a call, as one text.
fn text_before(wrap: &mut Wrapped, id: &str) -> String {
    let call = wrap.call(json!(id), "echo", json!({}));
    wrap.send(&call);
    let (mut text, answer) = (String::new(), format!("\"id\":\"{id}\""));
    loop {
        let line = String::from_utf8(wrap.line()).unwrap();
        if line.contains(&answer) {
            return text;
        }
        text += &line;
    }
}

/// Whether a reader that looks at no lines, but for values one after the other, has an answer.
fn has_answer(text: &str) -> bool {
    let values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    values.map_while(Result::ok).any(|value| value.get("result").is_some())
}

#[test]
fn wrap_15_no_reply_hides_behind_a_carriage_return_or_goes_over_several_lines() {
    let reply = result("hidden");
    let long = "x".repeat(70_000);
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let (start, rest) = reply.split_once(',').unwrap();
        let texts = [
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\r{reply}\r}}\n"),
            reply.replace(',', ",\n") + "\n",
            format!("{{\n{}\n}}\n", &reply[1..reply.len() - 1]),
            format!("{start},\"pad\":\"{long}\",\n{rest}\n"),
            format!("{start},{},\"error\":\"{long}\"}}\n}}\n", &rest[..rest.len() - 1]),
        ];
        for (id, text) in texts.iter().enumerate() {
            wrap.play(json!(id), json!([{ "write": text }]));
            let read = text_before(&mut wrap, &format!("after {id}"));
            assert!(!has_answer(&read) && !read.contains('\r'), "{id}: {}", &read[..read.len().min(200)]);
        }
        let running = wrap.endings().iter().filter(|ending| *ending == "running").count();
        assert_eq!(running, texts.len(), "{:?}", wrap.endings());
        // A reply behind other text closes its row.
        wrap.play(json!("shown"), json!([{ "write": format!("50 %\r{reply}\n") }]));
        assert!(text_before(&mut wrap, "last").starts_with("50 %\r{"));
        assert_eq!(wrap.endings().iter().filter(|ending| *ending == "ok").count(), texts.len() + 2);
    }
}

#[test]
fn wrap_15_an_array_of_more_answers_than_may_wait_is_dropped() {
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},";
    for (times, voided) in [(5000, false), (100_000, true)] {
        // While `wrap` lists the tools itself, longer lines are held.
        let mut wrap = Setup::new(Era::Handshake).with(&["--pin", "off"]).start();
        let steps = json!([{ "write": "[" }, { "repeat": [answer, times] }, { "write": "{}]\n" }]);
        wrap.play(json!(1), steps);
        let read = text_before(&mut wrap, "last");
        assert_eq!((read.is_empty(), read.ends_with(",{}!\n")), (!voided, voided));
        assert_eq!(wrap.endings(), ["running", "ok"]);
    }
}

#[test]
fn wrap_57_an_answer_of_its_own_ends_a_prompt_and_waits_for_the_end_of_a_message() {
    let mut wrap = Setup::new(Era::Handshake)
        .with(&["--deny", "secret", "--pin", "off"])
        .env("COLIBRI_DURABILITY", "normal")
        .start();
    wrap.play(json!("prompt"), json!([{ "write": "Ready> " }]));
    let began = Instant::now();
    let deny = |wrap: &mut Wrapped, id: usize| {
        let call = wrap.call(json!(id), "secret", json!({}));
        wrap.send(&call);
    };
    for id in 0.. {
        deny(&mut wrap, id);
        let line = wrap.line();
        if line == b"Ready> \n" {
            assert_eq!(wrap.message()["id"], json!(id));
            break;
        }
        assert!(began.elapsed() < PATIENCE);
    }
    // To the client the rest is a line of its own.
    wrap.play(json!("rest"), json!([{ "write": result("rest") + "\n" }]));
    assert_eq!(wrap.message()["id"], json!("rest"));
    assert_eq!(wrap.endings().iter().filter(|ending| *ending == "ok").count(), 1);

    let go = wrap.server.folder().join("go");
    let head = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}", "x".repeat(70_000));
    wrap.play(json!("long"), json!([{ "write": head }, { "await": go }, { "write": "\"}\n" }]));
    // More than what waits for a client that does not read.
    for id in 0..6000 {
        deny(&mut wrap, id);
    }
    std::fs::write(&go, "").unwrap();
    let (mut denied, mut told) = (0, 0);
    while denied < 6000 || told == 0 {
        let message = wrap.message();
        denied += usize::from(message["result"]["isError"] == true);
        told += usize::from(message["method"] == "x");
    }
}

#[test]
fn wrap_16_the_requests_of_an_array_and_those_that_wait_for_the_tools_count() {
    let mut wrap = Wrapped::new(Era::Handshake);
    let pings: Vec<_> = (0..4096).map(|id| wrap.request(json!(id), "ping")).collect();
    wrap.play(json!("waits"), json!([]));
    wrap.send(&json!(pings));
    let refused = wrap.message();
    let refused = refused.as_array().unwrap();
    assert_eq!(refused.len(), 4096);
    assert!(refused.iter().all(|answer| answer["error"]["message"] == "too many requests in flight"));
    assert!(!wrap.read().contains("ping"));

    let place = Place::new();
    place.gives(&json!([{ "steps": [] }]).to_string());
    let (mut wrap, _) = place.greeted(Setup::new(Era::Handshake).with(&["--pin", "refuse"]));
    let calls: Vec<_> = (0..4096).map(|id| wrap.call(json!(id), "echo", json!({}))).collect();
    wrap.send(&json!(calls));
    let call = wrap.call(json!("more"), "echo", json!({}));
    wrap.send(&call);
    let answer = wrap.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("more"), &json!(-32603)), "{answer}");
    assert_eq!(answer["error"]["message"], "too many requests in flight");
}

#[test]
fn wrap_23_any_cancelled_request_is_over_after_two_seconds() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let mut lines = String::new();
        for id in 0..4096 {
            let mut request = wrap.request(json!(id), "odd/play");
            request["params"]["steps"] = json!([]);
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
            lines += &format!("{request}\n{cancel}\n");
        }
        wrap.server.send_bytes(lines.as_bytes());
        let began = Instant::now();
        for attempt in 0.. {
            let call = wrap.call(json!(format!("call {attempt}")), "echo", json!({}));
            wrap.send(&call);
            let answer = wrap.message();
            if answer.get("result").is_some() {
                break;
            }
            assert_eq!(answer["error"]["message"], "too many requests in flight");
            assert!(began.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(100));
        }
        if era == Era::Stateless {
            continue;
        }
        wrap.have("stays", json!([{ "stay": null }]));
        wrap.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "stays" } }));
        let began = Instant::now();
        assert_eq!(wrap.end().code(), 1);
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
