//! Gemini's generateContent (router#requests, router#answers). Pure.

use std::fmt::Write;

use serde_json::{Value, json};

use super::blocks::{self, Blocks};
use super::{Answer, DEFAULT_MAX_TOKENS, Parts, counts, other_reason, text};
use crate::domains::router::completion::CompletionRequest;
use crate::domains::router::settings::Target;

pub fn build(target: &Target, request: &CompletionRequest) -> Parts {
    let mut body = json!({
        "contents": [{ "role": "user", "parts": [{ "text": request.prompt }] }],
        "generationConfig": { "maxOutputTokens": request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS) },
    });
    if let Some(system) = &request.system_prompt {
        body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
    }
    if !request.tools.is_empty() {
        let functions = request.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema })
        });
        body["tools"] = json!([{ "functionDeclarations": functions.collect::<Value>() }]);
    }
    Parts {
        path: format!("/models/{}:generateContent", segment(&target.model)),
        key_header: "x-goog-api-key",
        key_scheme: "",
        headers: Vec::new(),
        body,
    }
}

/// Encodes the text as one segment of a path (RFC 3986 §2.3), so that no text can lead to another path.
fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Reads a response; `None` if the body has neither an object in `candidates` nor a reason why the prompt was
/// blocked.
pub fn parse(body: &Value) -> Option<Answer> {
    let candidate =
        body.get("candidates").and_then(Value::as_array).and_then(|candidates| candidates.first());
    let mut blocks = Blocks::default();
    let stop_reason = match candidate {
        Some(candidate) if candidate.is_object() => {
            for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
                read_part(&mut blocks, part);
            }
            if blocks.has_calls() {
                "tool_use".to_owned()
            } else {
                stop_reason(candidate["finishReason"].as_str())
            }
        }
        _ => {
            body["promptFeedback"]["blockReason"].as_str()?;
            "content_filter".to_owned()
        }
    };
    let usage = body.get("usageMetadata");
    let written = counts::sum(
        counts::count(usage, "candidatesTokenCount"),
        // Thinking is billed as output.
        counts::count(usage, "thoughtsTokenCount"),
    );
    Some(Answer {
        content: blocks.into_content(),
        model: text(body, "modelVersion"),
        prompt_tokens: counts::count(usage, "promptTokenCount"),
        completion_tokens: written,
        stop_reason,
    })
}

fn read_part(blocks: &mut Blocks, part: &Value) {
    if part["thought"] != json!(true) {
        blocks.text(part["text"].as_str().unwrap_or_default());
    }
    if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
        blocks.call(None, call["name"].as_str().unwrap_or_default(), blocks::input(call.get("args")));
    }
}

fn stop_reason(word: Option<&str>) -> String {
    match word {
        Some("STOP") => "end_turn".to_owned(),
        Some("MAX_TOKENS") => "max_tokens".to_owned(),
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY") => {
            "content_filter".to_owned()
        }
        other => other_reason(other),
    }
}
