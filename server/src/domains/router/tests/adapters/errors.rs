//! Error answers in words, and who is to blame for them (router#blame, router#errors).

use crate::domains::router::completion::Blame;
use crate::domains::router::http::HttpResponse;
use crate::domains::router::profile::Profile;
use serde_json::json;

use crate::domains::router::tests::adapters::fixtures::fixture;
use crate::domains::router::tests::adapters::support::{KEY, parsed};

fn message(status: u16, body: &str) -> String {
    let response = HttpResponse { status, retry_after: None, body: body.as_bytes().to_vec() };
    parsed(Profile::Anthropic, &response).unwrap_err().message
}

#[test]
fn an_echoed_key_is_not_repeated() {
    let body =
        json!({ "error": { "message": format!("invalid x-api-key {KEY} (sk-other-key)") } }).to_string();
    let message = message(401, &body);
    assert_eq!(message, "Anthropic API error 401: invalid x-api-key [redacted] ([redacted])");
}

#[test]
fn the_excerpt_is_looked_for_in_three_places() {
    for (body, excerpt) in [
        (r#"{"error":{"message":"a"},"message":"b"}"#, "a"),
        (r#"{"error":"a","message":"b"}"#, "a"),
        (r#"{"error":{"type":"t"},"message":"b"}"#, "b"),
        (r#"{"error":{"message":""},"message":"b"}"#, "b"),
        (r#"{"error":{"message":5}}"#, "HTTP 418"),
        (r#"{"message":"  "}"#, "HTTP 418"),
        ("<html>", "HTTP 418"),
        ("", "HTTP 418"),
        ("[1]", "HTTP 418"),
    ] {
        assert_eq!(message(418, body), format!("Anthropic API error 418: {excerpt}"), "{body}");
    }
}

#[test]
fn the_excerpt_is_one_short_line() {
    let body = json!({ "message": "a\nb\u{1b}[31mc\u{85}d" }).to_string();
    assert_eq!(message(418, &body), "Anthropic API error 418: a b [31mc d");
    let body = json!({ "message": "é".repeat(500) }).to_string();
    assert_eq!(message(418, &body), format!("Anthropic API error 418: {}", "é".repeat(200)));
    // The key straddles the cut: redaction would not recognise half of it.
    let body = json!({ "message": format!("{}{KEY}", "é".repeat(190)) }).to_string();
    let expected = format!("{}[redacted]", "é".repeat(190));
    assert_eq!(message(418, &body), format!("Anthropic API error 418: {expected}"));
}

#[test]
fn redirects_are_refused() {
    for status in [300, 301, 302, 303, 304, 307, 308] {
        let body = r#"{"message":"go to http://elsewhere.example"}"#;
        assert_eq!(message(status, body), format!("Anthropic API error {status}: redirect refused"));
    }
}

#[test]
fn only_errors_of_the_request_spare_the_breaker() {
    for status in 300..600 {
        let response = HttpResponse { status, retry_after: None, body: Vec::new() };
        let error = parsed(Profile::OpenAi, &response).unwrap_err();
        let spared = [400, 404, 413, 415, 422].contains(&status);
        let expected = if spared { Blame::Request } else { Blame::Provider };
        assert_eq!((error.blame, error.status), (expected, Some(status)));
        assert_eq!(error.code.to_string(), "OPENAI_API_ERROR");
    }
}

#[test]
fn every_fixture_of_an_error_is_told_in_the_providers_words() {
    let mut seen = 0;
    for (folder, profile, name, text) in [
        ("anthropic", Profile::Anthropic, "error_404", "Anthropic API error 404: model: no-such-model"),
        ("anthropic", Profile::Anthropic, "error_529", "Anthropic API error 529: Overloaded"),
        (
            "openai",
            Profile::OpenAi,
            "error_401",
            "OpenAI API error 401: Incorrect API key provided: [redacted]****. You can find your API key in your account settings.",
        ),
        ("kimi", Profile::Kimi, "error_401", "Kimi API error 401: Invalid Authentication"),
        ("llama", Profile::Llama, "error_401", "Llama API error 401: Invalid API key provided."),
        ("mistral", Profile::Mistral, "error_401", "Mistral API error 401: Unauthorized"),
        ("mistral", Profile::Mistral, "error_422", "Mistral API error 422: HTTP 422"),
        (
            "gemini",
            Profile::Gemini,
            "error_403",
            "Gemini API error 403: Your API key was reported as leaked. Please use another API key.",
        ),
    ] {
        assert_eq!(parsed(profile, &fixture(folder, name)).unwrap_err().message, text);
        seen += 1;
    }
    assert_eq!(seen, 8);
}
