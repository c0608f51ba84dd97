//! What passes, and in which form.

use serde_json::{Value, json};

use super::{ERAS, Era, Setup, Wrapped, result};

#[test]
fn wrap_02_what_the_server_writes_arrives_as_it_was_written() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let lines = [
            "banner of a server\r\n",
            "\n",
            "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n",
            "{\"params\":{\"n\":1.0e0,\"text\":\"\\u0041\"} , \"method\":\"notifications/x\",\"jsonrpc\":\"2.0\"}\r\n",
            "{broken\n",
        ];
        let written =
            lines.concat() + "{\"result\" :{\"content\":[ ]},\"id\": ${id},\"jsonrpc\":\"2.0\"}\r\n";
        wrap.play(json!(7), json!([{ "write": written }]));
        for expected in lines {
            assert_eq!(String::from_utf8(wrap.line()).unwrap(), expected);
        }
        assert_eq!(wrap.line(), b"{\"result\" :{\"content\":[ ]},\"id\": 7,\"jsonrpc\":\"2.0\"}\r\n");
        wrap.echo(json!(8));
        assert_eq!(wrap.endings(), ["ok", "ok"]);
    }
}

#[test]
fn wrap_04_lines_that_are_no_message_to_everybody_do_not_reach_the_server() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let deep = format!("{}1{}", "[".repeat(513), "]".repeat(513));
        let ping = wrap.request(json!(3), "ping").to_string();
        let far = wrap
            .request(json!(3), "ping")
            .to_string()
            .replace("\"params\":{", &format!("\"a\":{deep},\"params\":{{"));
        let lines: [(Vec<u8>, Value); 5] = [
            (b"{bad".to_vec(), json!(null)),
            (format!("{ping}{ping}").into_bytes(), json!(3)),
            (deep.clone().into_bytes(), json!(null)),
            (far.into_bytes(), json!(3)),
            (b"{\"id\":3,\"method\":\"p\xff\"}".to_vec(), json!(3)),
        ];
        for (line, id) in lines {
            wrap.server.send_bytes(&[&line[..], b"\n"].concat());
            let answer = wrap.message();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &id), "{answer}");
            assert_eq!(answer["error"]["message"], "Parse error");
        }
        wrap.server.send_bytes(b"\n");
        wrap.echo(json!(1));
        let read = wrap.read();
        assert!(!read.contains("bad") && (read.starts_with('\n') || read.contains("\n\n")), "{read}");
    }
}

#[test]
fn a_malformed_call_is_answered_under_its_id_and_leaves_a_row() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let deep = format!("{}1{}", "[".repeat(513), "]".repeat(513));
        let call =
            |wrap: &Wrapped, id: &str| wrap.call(json!(id), "echo", json!({ "text": "x" })).to_string();
        let lines: [(&str, Vec<u8>); 3] = [
            ("deep", call(&wrap, "deep").replace("\"x\"", &deep).into_bytes()),
            (
                "twice",
                call(&wrap, "twice")
                    .replace("\"arguments\":", "\"arguments\":{},\"arguments\":")
                    .into_bytes(),
            ),
            ("bytes", {
                let line = call(&wrap, "bytes").into_bytes();
                let at = line.windows(3).position(|three| three == b"\"x\"").unwrap() + 1;
                [&line[..at], b"\xff", &line[at + 1..]].concat()
            }),
        ];
        for (id, line) in lines {
            wrap.server.send_bytes(&[&line[..], b"\n"].concat());
            let answer = wrap.message();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32602), &json!(id)), "{answer}");
        }
        assert_eq!(wrap.endings(), ["invalid/WRAP_BAD_CALL"; 3]);
        // Half of a surrogate pair and a long number are the server's business.
        for (id, odd) in [("half", "\"cut \\ud83d\""), ("long", "1e400")] {
            let line = call(&wrap, id).replace("\"x\"", odd);
            wrap.server.send_line(&line);
            wrap.await_read(&format!("\"id\":\"{id}\""));
        }
    }
}

#[test]
fn wrap_05_a_line_of_17_mib_is_refused_with_its_id_and_not_kept() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        wrap.echo(json!(1));
        let call = wrap.call(json!("large"), "echo", json!({ "text": "x".repeat(17 << 20) }));
        wrap.send(&call);
        let answer = wrap.message();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!("large")), "{answer}");
        assert_eq!(answer["error"]["message"], "message too large");
        wrap.echo(json!(2));
        assert!(!wrap.read().contains("large"));
        assert_eq!(wrap.endings(), ["ok", "ok"]);
    }
}

#[test]
fn wrap_06_a_method_is_compared_with_its_escapes_undone_and_in_its_case() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let call = wrap.call(json!(1), "echo", json!({})).to_string();
        for (id, method) in
            [(1, r"tools\/call"), (2, r"\u0074ools/call"), (3, "Tools/Call"), (4, "x/unknown")]
        {
            let line = call.replace("tools/call", method).replace("\"id\":1", &format!("\"id\":{id}"));
            wrap.server.send_line(&line);
            let answer = wrap.message();
            assert_eq!(answer["id"], json!(id), "{answer}");
            assert_eq!(answer.get("result").is_some(), id < 3, "{answer}");
            assert!(wrap.read().contains(&line));
        }
        assert_eq!(wrap.endings(), ["ok", "ok"]);
    }
}

#[test]
fn wrap_07_a_call_that_readers_understand_differently_has_a_row_and_no_reader() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let call = wrap.call(json!(1), "echo", json!({})).to_string();
        let twice = [
            call.replace("\"method\":", "\"method\":\"ping\",\"method\":"),
            call.replace("\"id\":1", "\"id\":1,\"id\":2"),
            call.replace("\"params\":", "\"params\":{},\"params\":"),
            call.replace("\"name\":\"echo\"", "\"name\":\"echo\",\"name\":\"play\""),
            call.replace("\"arguments\":{}", "\"arguments\":{},\"arguments\":{\"a\":1}"),
        ];
        let long = format!("\"id\":\"{}\"", "i".repeat(2048));
        let unusable = ["", "\"id\":null", "\"id\":true", "\"id\":{}", &long].map(|id| {
            let line = call.replace("\"id\":1", id);
            line.replace("{,", "{").replace(",,", ",")
        });
        let before = wrap.read();
        let mut answered = 0;
        for line in twice.iter().chain(&unusable) {
            assert_ne!(*line, call);
            wrap.server.send_line(line);
        }
        wrap.echo_after(json!("last"), |answer| {
            let code = if answer["id"].is_null() { -32600 } else { -32602 };
            assert_eq!(answer["error"]["code"], json!(code), "{answer}");
            answered += 1;
        });
        // Only a call without an id expects no answer.
        assert_eq!(answered, twice.len() + unusable.len() - 1);
        assert_eq!(wrap.endings().len(), 11, "{:?}", wrap.rows());
        assert_eq!(wrap.endings()[..10], ["invalid/WRAP_BAD_CALL"; 10]);
        assert_eq!(wrap.endings()[10..], ["ok"]);
        let read = wrap.read();
        assert_eq!(read.strip_prefix(&before).unwrap().matches("tools/call").count(), 1, "{read}");
    }
}

#[test]
fn wrap_22_what_stands_behind_a_row_that_waits_does_not_overtake_it() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } });
        let call = wrap.call(json!(5), "echo", json!({}));
        wrap.server.send_bytes(format!("{call}\n{cancel}\n").as_bytes());
        assert_eq!(wrap.message()["id"], json!(5));
        wrap.await_read("cancelled");
        let read = wrap.read();
        assert!(read.find("\"id\":5").unwrap() < read.find("cancelled").unwrap(), "{read}");
        let progress = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n";
        wrap.play(json!(6), json!([{ "write": format!("{progress}{}\n{progress}", result("x")) }]));
        let methods = [(); 3].map(|()| wrap.message()["method"].clone());
        assert_eq!(methods, [json!("notifications/progress"), json!(null), json!("notifications/progress")]);
    }
}

#[test]
fn wrap_35_the_server_sees_no_variable_of_the_audit_and_its_stderr_is_the_hosts() {
    for keep in [false, true] {
        let mut setup = Setup::new(Era::Handshake).env("COLIBRI_ACTOR", "alice").env("OTHER", "seen");
        if keep {
            setup = setup.with(&["--keep-env", "COLIBRI_ACTOR"]);
        }
        let mut wrap = setup.start();
        wrap.play(json!(1), json!([{ "stderr": "said to \u{1b}[31mnobody\n" }, { "environment": null }]));
        let variables = wrap.message()["result"]["structuredContent"].clone();
        let own: Vec<_> =
            variables.as_object().unwrap().keys().filter(|name| name.starts_with("COLIBRI_")).collect();
        let expected: &[&str] = if keep { &["COLIBRI_ACTOR"] } else { &[] };
        assert_eq!(own, expected);
        assert_eq!(variables["OTHER"], "seen");
        wrap.server.await_stderr("said to \u{1b}[31mnobody\n");
    }
}
