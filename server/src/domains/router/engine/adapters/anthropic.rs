//! Anthropic's Messages interface (router#requests, router#answers). Pure.

use serde_json::{Value, json};

use super::blocks::{self, Blocks};
use super::{Answer, DEFAULT_MAX_TOKENS, Parts, counts, other_reason, text};
use crate::domains::router::completion::CompletionRequest;
use crate::domains::router::settings::Target;

/// The supported revision of the interface.
const VERSION: &str = "2023-06-01";

pub fn build(target: &Target, request: &CompletionRequest) -> Parts {
    let mut body = json!({
        "model": target.model,
        "max_tokens": request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        "messages": [{ "role": "user", "content": request.prompt }],
    });
    if let Some(system) = &request.system_prompt {
        body["system"] = json!(system);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
        });
        body["tools"] = tools.collect();
    }
    Parts {
        path: "/messages".to_owned(),
        key_header: "x-api-key",
        key_scheme: "",
        headers: vec![("anthropic-version", VERSION)],
        body,
    }
}

/// Reads a response; `None` if the body has no array `content`.
pub fn parse(body: &Value) -> Option<Answer> {
    let mut blocks = Blocks::default();
    for block in body.get("content")?.as_array()? {
        match block["type"].as_str() {
            Some("text") => blocks.text(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => blocks.call(
                block["id"].as_str(),
                block["name"].as_str().unwrap_or_default(),
                blocks::input(block.get("input")),
            ),
            _ => {}
        }
    }
    let usage = body.get("usage");
    Some(Answer {
        content: blocks.into_content(),
        model: text(body, "model"),
        prompt_tokens: counts::count(usage, "input_tokens"),
        completion_tokens: counts::count(usage, "output_tokens"),
        // The normalised words are Anthropic's own.
        stop_reason: other_reason(body["stop_reason"].as_str()),
    })
}
