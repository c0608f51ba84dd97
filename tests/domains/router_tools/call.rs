//! Settings that are missing or bad, and arguments that are. No attempt gets
//! as far as a connection.

use std::net::TcpListener;
use std::sync::Arc;

use colibri_test_support::client::Launch;
use serde_json::{Value, json};

use crate::router_tools::world::{NO_KEY, circuits, failed, invalid, launch, stats};

const KEY: &str = "COLIBRI_ANTHROPIC_API_KEY";
const BASE: &str = "COLIBRI_ANTHROPIC_BASE_URL";

fn ping(launch: Launch) -> String {
    failed(&mut launch.start(), "router_call", json!({ "prompt": "ping" }))
}

#[test]
fn to_24_a_key_that_is_missing_or_blank_is_one_failed_attempt() {
    for launch in [
        launch(),
        launch().env("ANTHROPIC_API_KEY", "sk-somebody-elses"),
        launch().env(KEY, ""),
        launch().env(KEY, " \t "),
    ] {
        assert_eq!(ping(launch), NO_KEY);
    }
}

#[test]
fn a_key_that_fits_no_header_is_named_and_not_shown() {
    let mut server = launch().env(KEY, "a\nb-canary").start();
    let message = failed(&mut server, "router_call", json!({ "prompt": "ping" }));
    assert!(message.ends_with("COLIBRI_ANTHROPIC_API_KEY contains characters not allowed in an HTTP header"));
    assert!(!message.contains("canary"));
    let ended = server.finish();
    assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
}

#[test]
fn seams_of_the_library_are_no_options() {
    let mut server = launch().start();
    for key in [
        "apiKey",
        "completionFn",
        "completionFnRegistry",
        "scoringFn",
        "fetchFn",
        "logger",
        "delayFn",
        "nowFn",
        "tools",
        "candidatesSnapshot",
        "weightsSnapshot",
        "zetaEmitter",
        "baseUrl",
    ] {
        let issues =
            invalid(&mut server, "router_call", &json!({ "prompt": "x", "options": { key: "s3cr3t" } }));
        assert_eq!(issues[0]["message"], format!("Unrecognized key: \"{key}\""));
    }
    assert_eq!(stats(&mut server), json!({}));
    assert!(!server.finish().stderr.contains("s3cr3t"));
}

#[test]
fn an_answer_has_at_least_one_token() {
    let mut server = launch().start();
    let with = |tokens: Value| json!({ "prompt": "x", "options": { "maxTokens": tokens } });
    for tokens in [json!(0), json!(-5), json!(1.5)] {
        invalid(&mut server, "router_call", &with(tokens));
    }
    assert_eq!(stats(&mut server), json!({}), "no attempt was made");
    assert_eq!(failed(&mut server, "router_call", with(json!(1))), NO_KEY);
}

#[test]
fn base_urls_that_could_leak_a_key_are_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for base in [
        "http://example.com".to_owned(),
        "https://u:p@example.com".to_owned(),
        "ftp://x".to_owned(),
        "https://x/?a=b".to_owned(),
        format!("http://user@127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}/?a=b"),
    ] {
        let mut server = launch().env(KEY, "sk-canary-27").env(BASE, &base).start();
        let message = failed(&mut server, "router_call", json!({ "prompt": "ping" }));
        let start = "δ fallback chain exhausted (attempts: 1): [claude] ";
        let refusal = message.strip_prefix(start).unwrap_or_else(|| panic!("{message}"));
        assert!(
            refusal.starts_with("COLIBRI_ANTHROPIC_BASE_URL is not an acceptable base URL: "),
            "{message}"
        );
        assert!(!message.contains(&base), "{message}");
        let ended = server.finish();
        assert!(!ended.stderr.contains(&base) && !ended.stderr.contains("canary"), "{}", ended.stderr);
    }
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "no connection was made");
}

#[test]
fn modes_without_outside_traffic_ask_nobody_and_remember_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let first = launch().start();
    let folder: Arc<_> = first.shared_folder();
    first.finish();
    for mode in ["TEST", "READONLY"] {
        let launch = launch().in_folder(folder.clone()).env("COLIBRI_MODE", mode);
        // Not even a bad key is read.
        let mut server = launch.env(KEY, "a\nb").env(BASE, &base).start();
        for _ in 0..4 {
            let message = failed(&mut server, "router_call", json!({ "prompt": "ping" }));
            assert!(
                message.ends_with(&format!("[claude] external I/O disabled in mode {mode}")),
                "{message}"
            );
        }
        assert_eq!((stats(&mut server), circuits(&mut server)), (json!({}), json!({})));
    }
    assert!(listener.accept().is_err(), "no connection was made");
}

#[test]
fn what_calling_refuses_is_no_attempt() {
    let mut server = launch().start();
    let option = |key: &str, value: Value| json!({ "prompt": "x", "options": { key: value } });
    for arguments in [
        json!({ "prompt": "" }),
        json!({}),
        json!({ "prompt": "x", "options": null }),
        option("systemPrompt", json!(5)),
        option("model", json!(5)),
        option("operatorPreference", json!({ "gpt-4o": 1.01 })),
        option("operatorPreference", json!({ "gpt-4o": -0.1 })),
        option("task", json!(null)),
        option("task", json!({ "deadline_ms": -1 })),
        option("task", json!({ "deadline_ms": 1.5 })),
        option("task", json!({ "domain": 5 })),
        option("task", json!({ "skill": "x" })),
        option("task", json!({ "skill": [1] })),
        option("task", json!({ "more": 1 })),
    ] {
        invalid(&mut server, "router_call", &arguments);
    }
    assert_eq!(server.data("router_stats", json!({})), json!({ "models": {} }));
}
