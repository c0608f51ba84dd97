//! Answers as they are read (router#answers).

use crate::domains::router::profile::Profile;
use serde_json::{Value, json};

use crate::domains::router::tests::adapters::fixtures::{fixture, success};
use crate::domains::router::tests::adapters::support::parsed;

fn chat(message: Value, finish_reason: Value) -> Value {
    json!({ "choices": [{ "message": message, "finish_reason": finish_reason }] })
}

fn reason(profile: Profile, body: &Value) -> String {
    parsed(profile, &success(body)).expect("an answer").stop_reason
}

#[test]
fn anthropic_answer() {
    let result = parsed(Profile::Anthropic, &fixture("anthropic", "success")).unwrap();
    assert_eq!(result.content, "Hello there.");
    assert_eq!(result.model, "claude-sonnet-4-5-20250929");
    assert_eq!((result.prompt_tokens, result.completion_tokens, result.latency_ms), (1000, 500, 7));
    assert_eq!(result.stop_reason, "end_turn");
}

#[test]
fn unusable_answers_are_malformed() {
    for (folder, profile) in
        [("anthropic", Profile::Anthropic), ("openai", Profile::OpenAi), ("gemini", Profile::Gemini)]
    {
        let mut bodies: Vec<Vec<u8>> =
            ["not json", "{}", "[]", "null", "5", ""].map(|text| text.into()).into();
        bodies.push(fixture(folder, "malformed_json").body);
        bodies.push(fixture(folder, "wrong_shape").body);
        bodies.push(br#"{"content":{},"choices":{},"candidates":{}}"#.to_vec());
        bodies.push(br#"{"choices":[5],"candidates":[5]}"#.to_vec());
        for body in bodies {
            let mut response = fixture(folder, "success");
            response.body.clone_from(&body);
            let error = parsed(profile, &response).unwrap_err();
            let shown = String::from_utf8_lossy(&body).into_owned();
            assert_eq!(error.message, format!("{profile} API error 200: malformed response"), "{shown}");
            assert_eq!(error.code.to_string(), format!("{}_API_ERROR", profile.prefix()), "{shown}");
            assert_eq!(error.status, Some(200), "{shown}");
        }
    }
}

#[test]
fn missing_usage_counts_as_nothing() {
    for (folder, profile) in
        [("anthropic", Profile::Anthropic), ("openai", Profile::OpenAi), ("gemini", Profile::Gemini)]
    {
        let result = parsed(profile, &fixture(folder, "success_without_usage")).unwrap();
        assert_eq!((result.prompt_tokens, result.completion_tokens), (0, 0), "{profile}");
        assert_eq!(result.content, "Hello there.", "{profile}");
    }
}

#[test]
fn nonsensical_counts_are_nothing() {
    for count in
        [json!(-1), json!(1.5), json!("12"), json!(null), json!(1e300), json!(9_007_199_254_740_992_u64)]
    {
        let usage = json!({ "input_tokens": count, "output_tokens": 3.0 });
        let result = parsed(Profile::Anthropic, &success(&json!({ "content": [], "usage": usage }))).unwrap();
        assert_eq!((result.prompt_tokens, result.completion_tokens), (0, 3), "{count}");
    }
    let most = json!({ "promptTokenCount": 9_007_199_254_740_991_u64,
        "candidatesTokenCount": 9_007_199_254_740_991_u64, "thoughtsTokenCount": 1 });
    let body = json!({ "candidates": [{}], "usageMetadata": most });
    let result = parsed(Profile::Gemini, &success(&body)).unwrap();
    assert_eq!(result.completion_tokens, 9_007_199_254_740_991);
    assert_eq!(result.prompt_tokens, 9_007_199_254_740_991);
}

#[test]
fn openai_reasons_are_normalised() {
    for (sent, expected) in [
        (json!("stop"), "end_turn"),
        (json!("length"), "max_tokens"),
        (json!("tool_calls"), "tool_use"),
        (json!("function_call"), "tool_use"),
        (json!("content_filter"), "content_filter"),
        (json!(null), "unknown"),
        (json!(""), "unknown"),
        (json!("Model_Length"), "model_length"),
    ] {
        assert_eq!(
            reason(Profile::OpenAi, &chat(json!({ "content": "x" }), sent.clone())),
            expected,
            "{sent}"
        );
    }
    let without = json!({ "choices": [{ "message": { "content": "x" } }] });
    assert_eq!(reason(Profile::OpenAi, &without), "unknown");
}

#[test]
fn anthropic_reasons_are_the_normal_words() {
    for word in ["end_turn", "max_tokens", "tool_use", "stop_sequence", "pause_turn", "refusal"] {
        assert_eq!(reason(Profile::Anthropic, &json!({ "content": [], "stop_reason": word })), word);
    }
    assert_eq!(reason(Profile::Anthropic, &json!({ "content": [], "stop_reason": null })), "unknown");
    assert_eq!(reason(Profile::Anthropic, &json!({ "content": [] })), "unknown");
}

#[test]
fn gemini_reasons_are_normalised() {
    let mut pairs =
        vec![("STOP", "end_turn"), ("MAX_TOKENS", "max_tokens"), ("LANGUAGE", "language"), ("", "unknown")];
    let filters = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"];
    pairs.extend(filters.map(|word| (word, "content_filter")));
    for (sent, expected) in pairs {
        let body = json!({ "candidates": [{ "finishReason": sent }] });
        assert_eq!(reason(Profile::Gemini, &body), expected, "{sent}");
    }
    assert_eq!(reason(Profile::Gemini, &json!({ "candidates": [{}] })), "unknown");
}

#[test]
fn tool_calls_become_blocks() {
    let result = parsed(Profile::OpenAi, &fixture("openai", "tool_call")).unwrap();
    let id = "call_DdmO9pD3xa9XTPNJ32zg2hcA";
    let call = json!({ "type": "tool_use", "id": id, "name": "lookup", "input": { "a": 1 } });
    let expected = json!([{ "type": "text", "text": "I look it up." }, call]);
    assert_eq!(serde_json::from_str::<Value>(&result.content).unwrap(), expected);
    let result = parsed(Profile::OpenAi, &fixture("openai", "tool_call_raw")).unwrap();
    let expected = json!([{ "type": "tool_use", "id": id, "name": "lookup", "input": { "_raw": "oops" } }]);
    assert_eq!(serde_json::from_str::<Value>(&result.content).unwrap(), expected);
    assert_eq!(result.stop_reason, "tool_use");
}

#[test]
fn arguments_that_are_no_object_are_kept_as_text() {
    for (arguments, input) in [
        (json!("[1]"), json!({ "_raw": "[1]" })),
        (json!("\"x\""), json!({ "_raw": "\"x\"" })),
        (json!(""), json!({ "_raw": "" })),
        (json!({ "a": 1 }), json!({ "a": 1 })),
        (json!(7), json!({ "_raw": "7" })),
        (json!(null), json!({})),
    ] {
        let calls = json!([{ "id": "i", "function": { "name": "f", "arguments": arguments } }]);
        let result =
            parsed(Profile::OpenAi, &success(&chat(json!({ "tool_calls": calls }), json!("stop")))).unwrap();
        let blocks: Value = serde_json::from_str(&result.content).unwrap();
        assert_eq!(
            blocks,
            json!([{ "type": "tool_use", "id": "i", "name": "f", "input": input }]),
            "{arguments}"
        );
    }
}

#[test]
fn calls_without_an_id_are_numbered() {
    let parts = json!([{ "functionCall": { "name": "a", "args": {} } }, { "functionCall": { "name": "b" } }]);
    let body = json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }] });
    let result = parsed(Profile::Gemini, &success(&body)).unwrap();
    let ids = serde_json::from_str::<Value>(&result.content).unwrap();
    assert_eq!((&ids[0]["id"], &ids[1]["id"]), (&json!("call_0"), &json!("call_1")));
    assert_eq!(result.stop_reason, "tool_use");
    let old = parsed(Profile::OpenAi, &fixture("openai", "function_call")).unwrap();
    let block = serde_json::from_str::<Value>(&old.content).unwrap();
    assert_eq!(block, json!([{ "type": "tool_use", "id": "call_0", "name": "lookup", "input": { "a": 1 } }]));
}

#[test]
fn a_blocked_prompt_is_an_answer_without_content() {
    let result = parsed(Profile::Gemini, &fixture("gemini", "blocked_prompt")).unwrap();
    assert_eq!((result.content.as_str(), result.stop_reason.as_str()), ("", "content_filter"));
    assert_eq!((result.prompt_tokens, result.completion_tokens), (1000, 0));
}

#[test]
fn thoughts_are_paid_for_and_not_shown() {
    let result = parsed(Profile::Gemini, &fixture("gemini", "thought_parts")).unwrap();
    assert_eq!((result.content.as_str(), result.completion_tokens), ("Hello there.", 500));
    let result = parsed(Profile::Anthropic, &fixture("anthropic", "thinking")).unwrap();
    assert_eq!((result.content.as_str(), result.stop_reason.as_str()), ("Hello there.", "pause_turn"));
    let result = parsed(Profile::Mistral, &fixture("mistral", "content_parts")).unwrap();
    assert_eq!((result.content.as_str(), result.model.as_str()), ("Hello there.", "magistral-medium-2509"));
}

#[test]
fn the_requested_model_stands_in_for_one_that_is_not_named() {
    for (profile, body) in [
        (Profile::Anthropic, json!({ "content": [], "model": "" })),
        (Profile::OpenAi, json!({ "choices": [{}], "model": 5 })),
        (Profile::Gemini, json!({ "candidates": [{}] })),
    ] {
        assert_eq!(parsed(profile, &success(&body)).unwrap().model, "m-1", "{profile}");
    }
}
