//! Keys and base URLs of a running server.

use colibri_test_support::loopback::Loopback;
use serde_json::{Value, json};

use super::world::{exhaustion, launch, launch_with};

fn ping() -> Value {
    json!({ "prompt": "ping" })
}

const NOT_SET: &str =
    "\u{3b4} fallback chain exhausted (attempts: 1): [claude] COLIBRI_ANTHROPIC_API_KEY is not set";

#[test]
fn without_a_key_the_chain_is_exhausted() {
    assert_eq!(exhaustion(&launch().start().call("router_call", ping())), NOT_SET);
}

#[test]
fn the_key_of_another_program_is_not_used() {
    let mut server = launch().env("ANTHROPIC_API_KEY", "sk-of-somebody-else").start();
    assert_eq!(exhaustion(&server.call("router_call", ping())), NOT_SET);
}

#[test]
fn blank_keys_are_none_and_odd_ones_are_refused() {
    for blank in ["", "   "] {
        let mut server = launch().env("COLIBRI_ANTHROPIC_API_KEY", blank).start();
        assert_eq!(exhaustion(&server.call("router_call", ping())), NOT_SET);
    }
    let mut server = launch().env("COLIBRI_ANTHROPIC_API_KEY", "canary-a\ncanary-b").start();
    let message = exhaustion(&server.call("router_call", ping()));
    assert!(message.ends_with("contains characters not allowed in an HTTP header"), "{message}");
    let ended = server.finish();
    assert!(!message.contains("canary") && !ended.stderr.contains("canary"), "{message}\n{}", ended.stderr);
}

#[test]
fn bad_base_urls_are_refused_before_anything_is_sent() {
    let provider = Loopback::playing([]);
    let port = provider.address().port();
    for value in [
        "http://example.com".to_owned(),
        format!("http://u:p@127.0.0.1:{port}"),
        format!("ftp://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}/?a=b"),
    ] {
        let mut server =
            launch_with(&provider, "sk-canary-base").env("COLIBRI_ANTHROPIC_BASE_URL", &value).start();
        let message = exhaustion(&server.call("router_call", ping()));
        assert!(
            message.contains("[claude] COLIBRI_ANTHROPIC_BASE_URL is not an acceptable base URL: "),
            "{message}"
        );
        let ended = server.finish();
        for part in [value.as_str(), "example.com", "u:p", "a=b"] {
            assert!(!message.contains(part) && !ended.stderr.contains(part), "{message}\n{}", ended.stderr);
        }
    }
    assert_eq!(provider.connections(), 0);
}
