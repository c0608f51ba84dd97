//! Chat completions in OpenAI's form, which Kimi, Codex, Mistral and hosts of Llama also use (router#requests,
//! router#answers). Pure.

use serde_json::{Value, json};

use super::blocks::{self, Blocks};
use super::{Answer, DEFAULT_MAX_TOKENS, Parts, counts, other_reason, text};
use crate::domains::router::completion::CompletionRequest;
use crate::domains::router::settings::Target;

pub fn build(target: &Target, request: &CompletionRequest) -> Parts {
    let system = request.system_prompt.iter().map(|system| json!({ "role": "system", "content": system }));
    let user = json!({ "role": "user", "content": request.prompt });
    let mut body = json!({
        "model": target.model,
        "max_tokens": request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        "messages": system.chain([user]).collect::<Value>(),
    });
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function =
                json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
            json!({ "type": "function", "function": function })
        });
        body["tools"] = tools.collect();
    }
    Parts {
        path: "/chat/completions".to_owned(),
        key_header: "authorization",
        key_scheme: "Bearer ",
        headers: Vec::new(),
        body,
    }
}

/// Reads a response; `None` if the body has no object in `choices`.
pub fn parse(body: &Value) -> Option<Answer> {
    let choice = body.get("choices")?.as_array()?.first().filter(|choice| choice.is_object())?;
    let message = &choice["message"];
    let mut blocks = Blocks::default();
    read_text(&mut blocks, &message["content"]);
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        read_call(&mut blocks, call["id"].as_str(), &call["function"]);
    }
    // The older form, which allowed one call per answer.
    if message["function_call"].is_object() && !blocks.has_calls() {
        read_call(&mut blocks, None, &message["function_call"]);
    }
    let usage = body.get("usage");
    Some(Answer {
        content: blocks.into_content(),
        model: text(body, "model"),
        prompt_tokens: counts::count(usage, "prompt_tokens"),
        completion_tokens: counts::count(usage, "completion_tokens"),
        stop_reason: stop_reason(choice["finish_reason"].as_str()),
    })
}

/// Reads a text, or the text parts of an array, which Mistral's reasoning models send.
fn read_text(blocks: &mut Blocks, content: &Value) {
    blocks.text(content.as_str().unwrap_or_default());
    for part in content.as_array().into_iter().flatten().filter(|part| part["type"] == "text") {
        blocks.text(part["text"].as_str().unwrap_or_default());
    }
}

fn read_call(blocks: &mut Blocks, id: Option<&str>, function: &Value) {
    let name = function["name"].as_str().unwrap_or_default();
    blocks.call(id, name, blocks::input(function.get("arguments")));
}

fn stop_reason(word: Option<&str>) -> String {
    match word {
        Some("stop") => "end_turn".to_owned(),
        Some("length") => "max_tokens".to_owned(),
        Some("tool_calls" | "function_call") => "tool_use".to_owned(),
        other => other_reason(other),
    }
}
