//! Calls that are answered.

use colibri::domains::router::model_id::{MODELS, ModelId};
use colibri_test_support::loopback::Reply;
use serde_json::{Value, json};

use super::world::{World, candidates, fixture, folder_of};

#[test]
fn anthropic_answers() {
    let mut world = World::playing([fixture("anthropic", "success")]);
    let data = world.call(json!({ "prompt": "ping" }));
    let expected = json!({
        "model": "claude",
        "content": "Hello there.",
        "finishReason": "end_turn",
        "promptTokens": 1000,
        "completionTokens": 500,
        "costUsd": 0.0105,
        "modelsAttempted": ["claude"],
    });
    assert_eq!(data, expected);
    let seen = world.provider.only();
    // The base URL of the test ends where the provider's own has `/v1`.
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/messages"));
    assert_eq!(seen.header("x-api-key"), Some(world.key.as_str()));
    assert_eq!(seen.header("authorization"), None);
    assert!(seen.header("anthropic-version").is_some(), "{seen:?}");
    let body = json!({ "model": "claude-sonnet-4-6", "max_tokens": 1024,
        "messages": [{ "role": "user", "content": "ping" }] });
    assert_eq!(seen.json(), body);
}

#[test]
fn an_answer_leaves_one_line_on_stderr() {
    let mut world = World::playing([fixture("anthropic", "success")]);
    world.call(json!({ "prompt": "the prompt" }));
    let ended = world.server.finish();
    let lines: Vec<_> = ended.stderr.lines().filter(|line| line.contains("[claude]")).collect();
    assert_eq!(lines.len(), 1, "{}", ended.stderr);
    let form =
        "[claude] model=claude-sonnet-4-5-20250929 prompt_tokens=1000 completion_tokens=500 latency_ms=";
    let (_, latency) = lines[0].split_once(form).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(lines[0].contains(" INFO ") && latency.parse::<u64>().is_ok(), "{lines:?}");
    for unsaid in ["the prompt", "Hello there.", "127.0.0.1", world.key.as_str()] {
        assert!(!ended.stderr.contains(unsaid), "{unsaid}: {}", ended.stderr);
    }
    assert_eq!((ended.code(), ended.rest), (0, Vec::<Value>::new()));
}

#[test]
fn options_reach_the_provider() {
    let mut world = World::playing([fixture("anthropic", "success")]);
    let options = json!({ "systemPrompt": "S", "maxTokens": 7, "model": "m-1" });
    let data = world.call(json!({ "prompt": "ping", "options": options }));
    assert_eq!(data["model"], "claude");
    let body = world.provider.only().json();
    assert_eq!(
        (&body["system"], &body["max_tokens"], &body["model"]),
        (&json!("S"), &json!(7), &json!("m-1"))
    );
}

#[test]
fn empty_options_are_absent_ones() {
    let mut world = World::playing([fixture("anthropic", "success")]);
    world.call(json!({ "prompt": "ping", "options": { "systemPrompt": "", "model": "" } }));
    let body = world.provider.only().json();
    assert_eq!((body.get("system"), &body["model"]), (None, &json!("claude-sonnet-4-6")));
}

#[test]
fn the_upstream_model_is_the_operators_to_choose() {
    let provider = colibri_test_support::loopback::Loopback::playing([fixture("anthropic", "success")]);
    let mut world = World::around(provider, |launch| launch.env("COLIBRI_ANTHROPIC_MODEL", "claude-next"));
    world.call(json!({ "prompt": "ping" }));
    assert_eq!(world.provider.only().json()["model"], "claude-next");
}

#[test]
fn an_answer_without_usage_costs_nothing() {
    let mut world = World::playing([fixture("anthropic", "success_without_usage")]);
    let data = world.call(json!({ "prompt": "ping" }));
    assert_eq!((&data["promptTokens"], &data["completionTokens"]), (&json!(0), &json!(0)));
    assert_eq!(data["costUsd"].as_f64(), Some(0.0));
}

#[test]
fn finish_reasons_are_one_vocabulary() {
    let pairs = [
        (json!("stop"), "end_turn"),
        (json!("length"), "max_tokens"),
        (json!("tool_calls"), "tool_use"),
        (json!("content_filter"), "content_filter"),
        (json!(null), "unknown"),
    ];
    let replies = pairs.iter().map(|(sent, _)| {
        let choice = json!({ "message": { "content": "x" }, "finish_reason": sent });
        Reply::json(200, &json!({ "choices": [choice] }))
    });
    let mut world = World::with(&["gpt-4o"], replies);
    for (sent, expected) in &pairs {
        assert_eq!(world.call(json!({ "prompt": "ping" }))["finishReason"], *expected, "{sent}");
    }
}

#[test]
fn tool_calls_are_blocks() {
    let mut world =
        World::with(&["gpt-4o"], [fixture("openai", "tool_call"), fixture("openai", "tool_call_raw")]);
    for (text, input) in [(true, json!({ "a": 1 })), (false, json!({ "_raw": "oops" }))] {
        let data = world.call(json!({ "prompt": "ping" }));
        let blocks: Value = serde_json::from_str(data["content"].as_str().unwrap()).unwrap();
        let call = json!({ "type": "tool_use", "id": "call_DdmO9pD3xa9XTPNJ32zg2hcA", "name": "lookup", "input": input });
        let text = text.then(|| json!({ "type": "text", "text": "I look it up." }));
        assert_eq!(blocks, text.into_iter().chain([call]).collect::<Value>());
        assert_eq!(data["finishReason"], "tool_use");
    }
}

#[test]
fn gemini_keeps_key_and_model_where_they_belong() {
    let success = || fixture("gemini", "success");
    let mut world = World::with(&["gemini-1-5-pro"], [success(), success()]);
    world.call(json!({ "prompt": "ping" }));
    world.call(json!({ "prompt": "ping", "options": { "model": "../../x?y=1" } }));
    let seen = world.provider.seen();
    let paths: Vec<_> = seen.iter().map(|seen| seen.path.as_str()).collect();
    let encoded = "/models/..%2F..%2Fx%3Fy%3D1:generateContent";
    assert_eq!(paths, ["/models/gemini-3.8-flash:generateContent", encoded]);
    for seen in &seen {
        assert_eq!(seen.header("x-goog-api-key"), Some(world.key.as_str()));
        assert!(!seen.path.contains("key="), "{seen:?}");
    }
}

#[test]
fn a_blocked_prompt_is_an_answer_and_nobody_else_is_asked() {
    let mut world = World::with(&["gemini-1-5-pro", "gpt-4o"], [fixture("gemini", "blocked_prompt")]);
    let data = world.call(json!({ "prompt": "ping" }));
    assert_eq!((&data["content"], &data["finishReason"]), (&json!(""), &json!("content_filter")));
    assert_eq!(data["modelsAttempted"], json!(["gemini-1-5-pro"]));
    assert_eq!(world.provider.seen().len(), 1);
}

#[test]
fn every_model_can_be_called_and_answers_alike() {
    for model in MODELS {
        let provider =
            colibri_test_support::loopback::Loopback::playing([fixture(&folder_of(model), "success")]);
        let mut world = World::around(provider, |launch| match model {
            // The alias has no row among candidates; it answers when there are none.
            ModelId::Claude => launch,
            _ => candidates(launch, &[model.as_str()]),
        });
        let data = world.call(json!({ "prompt": "ping" }));
        assert_eq!(
            (&data["model"], &data["content"]),
            (&json!(model.as_str()), &json!("Hello there.")),
            "{model}"
        );
        assert_eq!(
            (&data["promptTokens"], &data["completionTokens"]),
            (&json!(1000), &json!(500)),
            "{model}"
        );
        assert_eq!(data["finishReason"], "end_turn", "{model}");
    }
}
