//! The providers' interfaces as two pure functions each: one builds a request, the other reads a response
//! (router#adapters). All adapters return results of the same shape and wording, so callers need not know the
//! provider.

mod anthropic;
mod blocks;
mod counts;
mod gemini;
mod openai_compat;
mod refusal;

use serde_json::Value;

use super::completion::{AttemptCode, AttemptError, Blame, CompletionRequest, CompletionResult};
use super::http::{HttpRequest, HttpResponse};
use super::profile::Profile;
use super::redact::Redaction;
use super::settings::Target;
use crate::VERSION;

/// The longest answer in tokens if the caller sets no limit (router#requests).
pub(crate) const DEFAULT_MAX_TOKENS: u64 = 1024;

/// Builds the request to a provider (router#requests).
pub fn build(target: &Target, request: &CompletionRequest) -> HttpRequest {
    let parts = match target.profile {
        Profile::Anthropic => anthropic::build(target, request),
        Profile::Gemini => gemini::build(target, request),
        Profile::OpenAi | Profile::Kimi | Profile::Codex | Profile::Llama | Profile::Mistral => {
            openai_compat::build(target, request)
        }
    };
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json".to_owned()),
        ("user-agent", format!("colibri/{VERSION}")),
    ];
    headers.extend(parts.headers.into_iter().map(|(name, value)| (name, value.to_owned())));
    HttpRequest {
        url: format!("{}{}", target.base.text, parts.path),
        loopback: target.base.loopback,
        headers,
        authorization: super::http::Authorization {
            header: parts.key_header,
            scheme: parts.key_scheme,
            key: target.key.clone(),
        },
        body: parts.body.to_string(),
    }
}

/// Reads a response: a completion, or why it is missing (router#answers, router#errors). `model` is the requested
/// upstream model. A transient status is an ordinary error here.
///
/// # Errors
/// Any status but 2xx, and a 2xx with an unreadable body.
pub fn parse(
    profile: Profile,
    model: &str,
    response: &HttpResponse,
    latency_ms: u64,
    redaction: &Redaction,
) -> Result<CompletionResult, AttemptError> {
    let status = response.status;
    if !(200..300).contains(&status) {
        return Err(refusal::refusal(profile, response, redaction));
    }
    let mut body = serde_json::from_slice::<Value>(&response.body).ok();
    if let Some(body) = &mut body {
        redaction.redact_body(body);
    }
    let answer = body.as_ref().and_then(|body| match profile {
        Profile::Anthropic => anthropic::parse(body),
        Profile::Gemini => gemini::parse(body),
        Profile::OpenAi | Profile::Kimi | Profile::Codex | Profile::Llama | Profile::Mistral => {
            openai_compat::parse(body)
        }
    });
    let answer = answer.ok_or_else(|| AttemptError {
        code: AttemptCode::Api(profile),
        message: format!("{profile} API error {status}: malformed response"),
        status: Some(status),
        blame: Blame::Provider,
    })?;
    Ok(CompletionResult {
        // Redacted again: a key may be split across the blocks that form an answer.
        content: redaction.redact_answer(answer.content),
        model: answer.model.filter(|model| !model.is_empty()).unwrap_or_else(|| model.to_owned()),
        prompt_tokens: answer.prompt_tokens,
        completion_tokens: answer.completion_tokens,
        latency_ms,
        stop_reason: answer.stop_reason,
    })
}

/// The parts of a request that differ by provider.
struct Parts {
    /// The path after the base URL.
    path: String,
    /// The key's header, and the text before the key in it.
    key_header: &'static str,
    key_scheme: &'static str,
    /// Headers that only this provider has.
    headers: Vec<(&'static str, &'static str)>,
    body: Value,
}

/// The values that all providers return, each in its own form.
struct Answer {
    content: String,
    /// `None` if the provider does not return it.
    model: Option<String>,
    prompt_tokens: u64,
    completion_tokens: u64,
    stop_reason: String,
}

/// Returns the member as text.
fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// Converts a provider's stop reason for which this adapter has no translation (router#answers).
fn other_reason(word: Option<&str>) -> String {
    match word.filter(|word| !word.is_empty()) {
        Some(word) => word.to_ascii_lowercase(),
        None => "unknown".to_owned(),
    }
}
