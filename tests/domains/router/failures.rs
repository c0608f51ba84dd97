//! Calls that fail at the only provider there is.

use std::time::Duration;

use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

use super::world::{World, exhaustion, fixture, launch_with};

fn ping() -> Value {
    json!({ "prompt": "ping" })
}

#[test]
fn a_long_retry_after_is_not_waited_for() {
    let mut world = World::playing([Reply::json(429, &json!({})).header("Retry-After", "60")]);
    assert_eq!(world.failure(ping()), "Anthropic retries exhausted after 1 requests: HTTP 429");
    assert_eq!(world.provider.seen().len(), 1);
    let ended = world.server.finish();
    let line = "[router] attempt failed model=claude code=ANTHROPIC_RETRIES_EXHAUSTED status=429 ";
    assert!(ended.stderr.contains(line), "{}", ended.stderr);
}

#[test]
fn a_short_one_is() {
    let limited = Reply::json(429, &json!({})).header("Retry-After", "1");
    let mut world = World::playing([limited, fixture("anthropic", "success")]);
    let data = world.server.data("router_call", ping());
    assert_eq!(world.provider.seen().len(), 2);
    // The wait is part of the attempt.
    assert!(data["latencyMs"].as_u64().is_some_and(|latency| latency >= 1000), "{data}");
}

#[test]
fn a_key_that_is_echoed_is_taken_out() {
    let mut world = World::playing([]);
    let body = json!({ "error": { "message": format!("invalid x-api-key {}, not sk-of-somebody-else", world.key) } });
    world.provider.play([Reply::json(401, &body)]);
    assert_eq!(
        world.failure(ping()),
        "Anthropic API error 401: invalid x-api-key [redacted], not [redacted]"
    );
    assert_eq!(world.provider.seen().len(), 1);
}

#[test]
fn a_redirect_is_refused() {
    let elsewhere = Loopback::always(fixture("anthropic", "success"));
    let redirect = Reply::new(302, "").header("Location", &elsewhere.url("/messages"));
    let mut world = World::playing([redirect]);
    assert_eq!(world.failure(ping()), "Anthropic API error 302: redirect refused");
    assert_eq!((world.provider.seen().len(), elsewhere.connections()), (1, 0));
}

#[test]
fn modes_without_outside_traffic_make_no_connection() {
    let provider = Loopback::always(fixture("anthropic", "success"));
    let used = World::around(Loopback::playing([]), |launch| launch);
    let folder = used.server.shared_folder();
    assert_eq!(used.server.finish().code(), 0);
    for mode in ["TEST", "READONLY"] {
        let launch = launch_with(&provider, "sk-canary-mode").in_folder(folder.clone());
        let mut server = launch.env("COLIBRI_MODE", mode).start();
        let message = exhaustion(&server.call("router_call", ping()));
        assert!(message.ends_with(&format!("[claude] external I/O disabled in mode {mode}")), "{message}");
        assert_eq!(server.data("router_stats", json!({})), json!({ "models": {} }));
        assert_eq!(server.data("router_fallback", json!({})), json!({ "circuitState": {} }));
    }
    assert_eq!(provider.connections(), 0);
}

#[test]
fn a_stalled_answer_times_out() {
    for (variable, reply) in [
        ("COLIBRI_ROUTER_ATTEMPT_TIMEOUT_MS", Reply::new(200, "the rest never comes").stalling_after(8)),
        ("COLIBRI_ANTHROPIC_TIMEOUT_MS", Reply::silence()),
        (
            "COLIBRI_ROUTER_ATTEMPT_TIMEOUT_MS",
            Reply::new(200, "late").headers_after(Duration::from_millis(600)),
        ),
    ] {
        let mut world = World::around(Loopback::playing([reply]), |launch| launch.env(variable, "200"));
        assert_eq!(world.failure(ping()), "claude timed out after 200 ms");
        let stats = world.stats("claude");
        assert_eq!((&stats["failures"], &stats["calls_total"]), (&json!(1), &json!(1)), "{stats}");
        assert_eq!(world.provider.seen().len(), 1);
    }
}

#[test]
fn a_connection_that_is_closed_is_not_tried_again() {
    let mut world = World::playing([Reply::hang_up()]);
    assert_eq!(world.failure(ping()), "Anthropic request failed: connection closed");
    assert_eq!(world.provider.seen().len(), 1);
}

#[test]
fn nobody_listening_is_refused() {
    let gone = Loopback::playing([]).url("");
    let mut world =
        World::around(Loopback::playing([]), |launch| launch.env("COLIBRI_ANTHROPIC_BASE_URL", &gone));
    assert_eq!(world.failure(ping()), "Anthropic request failed: connection refused");
}

#[test]
fn unusable_answers_are_not_asked_for_again() {
    let huge = Reply::new(200, vec![b'x'; 9 << 20]);
    let mut world = World::playing([Reply::new(200, "not json"), Reply::new(200, "{}"), huge]);
    for cause in [
        "Anthropic API error 200: malformed response",
        "Anthropic API error 200: malformed response",
        "Anthropic request failed: response too large",
    ] {
        // Three failures open the circuit only after the third.
        assert_eq!(world.failure(ping()), cause);
    }
    assert_eq!(world.provider.seen().len(), 3);
    assert_eq!(world.stats("claude")["failures"], 3);
}
