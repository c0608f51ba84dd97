//! Requests as they are built (router#settings, router#requests).

use crate::VERSION;
use crate::domains::router::adapters;
use crate::domains::router::completion::{CompletionRequest, ToolDescriptor};
use crate::domains::router::http::HttpRequest;
use crate::domains::router::profile::{PROFILES, Profile};
use crate::domains::router::settings::Target;
use serde_json::{Value, json};

use crate::domains::router::tests::adapters::support::{KEY, built, config, request};

fn full_request() -> CompletionRequest {
    CompletionRequest {
        prompt: "ping".to_owned(),
        max_tokens: Some(7),
        system_prompt: Some("S".to_owned()),
        ..CompletionRequest::default()
    }
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

#[test]
fn anthropic_request_has_one_message_and_no_system() {
    let (request, body) = built(Profile::Anthropic, &request("ping"));
    assert_eq!(request.url, "http://127.0.0.1:9/v1/messages");
    assert_eq!((request.authorization.header, request.authorization.scheme), ("x-api-key", ""));
    assert_eq!(request.authorization.key.expose(), KEY);
    assert_eq!(header(&request, "anthropic-version"), Some("2023-06-01"));
    let expected =
        json!({ "model": "m-1", "max_tokens": 1024, "messages": [{ "role": "user", "content": "ping" }] });
    assert_eq!(body, expected);
}

#[test]
fn anthropic_request_carries_system_limit_and_model() {
    let (_, body) = built(Profile::Anthropic, &full_request());
    assert_eq!(
        (&body["system"], &body["max_tokens"], &body["model"]),
        (&json!("S"), &json!(7), &json!("m-1"))
    );
}

#[test]
fn others_carry_them_in_their_own_places() {
    for profile in [Profile::OpenAi, Profile::Kimi, Profile::Codex, Profile::Llama, Profile::Mistral] {
        let (request, body) = built(profile, &full_request());
        assert_eq!(request.url, "http://127.0.0.1:9/v1/chat/completions", "{profile}");
        assert_eq!(
            (request.authorization.header, request.authorization.scheme),
            ("authorization", "Bearer "),
            "{profile}"
        );
        let messages = json!([{ "role": "system", "content": "S" }, { "role": "user", "content": "ping" }]);
        assert_eq!(body, json!({ "model": "m-1", "max_tokens": 7, "messages": messages }), "{profile}");
    }
    let (_, body) = built(Profile::Gemini, &full_request());
    let expected = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "ping" }] }],
        "generationConfig": { "maxOutputTokens": 7 },
        "systemInstruction": { "parts": [{ "text": "S" }] },
    });
    assert_eq!(body, expected);
}

#[test]
fn gemini_key_is_in_a_header_and_never_in_the_url() {
    let (request, body) = built(Profile::Gemini, &request("ping"));
    assert_eq!(request.url, "http://127.0.0.1:9/v1/models/m-1:generateContent");
    assert_eq!(request.authorization.header, "x-goog-api-key");
    assert!(!request.url.contains("key="), "{}", request.url);
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 1024);
    assert!(body.get("systemInstruction").is_none(), "{body}");
}

#[test]
fn gemini_model_is_one_segment_whatever_it_holds() {
    for (model, segment) in [
        ("../../x?y=1", "..%2F..%2Fx%3Fy%3D1"),
        ("a b#c%", "a%20b%23c%25"),
        ("tuned/é", "tuned%2F%C3%A9"),
        ("gemini-1.5-pro_~", "gemini-1.5-pro_~"),
    ] {
        let target = Target::of_profile(&config(&[]), Profile::Gemini, model.to_owned()).unwrap();
        let url = adapters::build(&target, &request("ping")).url;
        assert_eq!(url, format!("http://127.0.0.1:9/v1/models/{segment}:generateContent"));
    }
}

#[test]
fn every_request_says_what_it_is_and_asks_for_no_compression() {
    for profile in PROFILES {
        let (request, _) = built(profile, &request("ping"));
        assert_eq!(header(&request, "content-type"), Some("application/json"), "{profile}");
        assert_eq!(header(&request, "accept"), Some("application/json"), "{profile}");
        assert_eq!(header(&request, "user-agent"), Some(format!("colibri/{VERSION}").as_str()), "{profile}");
        assert_eq!(header(&request, "accept-encoding"), None, "{profile}");
    }
}

#[test]
fn debug_output_of_a_request_shows_neither_key_nor_prompt() {
    for profile in PROFILES {
        let (request, _) = built(profile, &request("the prompt"));
        let shown = format!("{request:?}");
        assert!(!shown.contains(KEY) && !shown.contains("the prompt"), "{shown}");
        assert!(shown.contains(request.authorization.header), "{shown}");
    }
}

#[test]
fn tools_are_offered_in_each_providers_form_and_an_empty_list_is_none() {
    let schema = json!({ "type": "object" });
    let tool = ToolDescriptor { name: "t".into(), description: "d".into(), input_schema: schema.clone() };
    let with_tools = CompletionRequest { tools: vec![tool], ..request("ping") };
    let declared = json!({ "name": "t", "description": "d", "parameters": schema });
    for profile in PROFILES {
        let expected: Value = match profile {
            Profile::Anthropic => json!([{ "name": "t", "description": "d", "input_schema": schema }]),
            Profile::Gemini => json!([{ "functionDeclarations": [declared] }]),
            _ => json!([{ "type": "function", "function": declared }]),
        };
        assert_eq!(built(profile, &with_tools).1["tools"], expected, "{profile}");
        assert!(built(profile, &request("ping")).1.get("tools").is_none(), "{profile}");
    }
}
