//! Calls along a chain of several models.

use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::json;

use super::world::{World, exhaustion, fixture};

#[test]
fn the_next_model_answers_when_the_first_does_not() {
    let broken = (0..4).map(|_| fixture("openai", "error_500"));
    let script = broken.chain([fixture("anthropic", "success")]);
    let mut world = World::with(&["gpt-4o", "claude-sonnet-3-5"], script);
    let data = world.call(json!({ "prompt": "ping", "options": { "model": "of-the-first" } }));
    assert_eq!((&data["model"], &data["content"]), (&json!("claude-sonnet-3-5"), &json!("Hello there.")));
    assert_eq!(data["modelsAttempted"], json!(["gpt-4o", "claude-sonnet-3-5"]));
    // 1000 tokens at 2000 and 500 at 4000 millionths of a dollar for a thousand: the second's prices.
    assert_eq!(data["costUsd"].as_f64(), Some(0.004));
    let asked: Vec<_> = world
        .provider
        .seen()
        .iter()
        .map(|seen| (seen.path.clone(), seen.json()["model"].as_str().unwrap().to_owned()))
        .collect();
    let mut expected = vec![("/chat/completions".to_owned(), "of-the-first".to_owned()); 4];
    expected.push(("/messages".to_owned(), "claude-sonnet-4-6".to_owned()));
    assert_eq!(asked, expected);
    let first = world.stats("gpt-4o");
    assert_eq!((&first["failures"], &first["calls_total"]), (&json!(1), &json!(1)), "retries are no records");
    let ended = world.server.finish();
    let line = "[router] attempt failed model=gpt-4o code=OPENAI_RETRIES_EXHAUSTED status=500 \
                OpenAI retries exhausted after 4 requests: HTTP 500";
    assert!(ended.stderr.contains(line), "{}", ended.stderr);
}

#[test]
fn exhaustion_names_every_model_in_order() {
    let provider = Loopback::always(Reply::json(401, &json!({ "error": { "message": "no" } })));
    let mut world = World::around(provider, |launch| launch.env("COLIBRI_ROUTER_CANDIDATES", "auto"));
    let message = exhaustion(&world.server.call("router_call", json!({ "prompt": "hello" })));
    // The order of router#scoring, example B.
    let order = [
        "gpt-4o-mini",
        "llama-3-3-70b",
        "claude-haiku-3-5",
        "mixtral-8x22b",
        "kimi-k2",
        "gpt-4o",
        "claude-sonnet-3-5",
        "gemini-1-5-pro",
    ];
    let expected = format!(
        "\u{3b4} fallback chain exhausted (attempts: 8): [{}] Gemini API error 401: no",
        order.join(", ")
    );
    assert_eq!(message, expected);
    assert_eq!(world.provider.seen().len(), 8);
    let ended = world.server.finish();
    let told: Vec<_> = ended
        .stderr
        .lines()
        .filter_map(|line| line.split_once("[router] attempt failed model=")?.1.split(' ').next())
        .collect();
    assert_eq!(told, order);
}
