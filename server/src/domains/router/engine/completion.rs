//! One attempt at one model: the interface between the walk along the chain and the adapters (router#walk,
//! router#adapters). The walk knows no provider, and the adapters know no chain.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::circuit::Refusal;
use super::model_id::ModelId;
use super::profile::Profile;

/// Work in progress on the loop's thread. Dropping it aborts the work.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A service that completes prompts.
pub trait Completion: Send + Sync {
    /// Makes one attempt, including its own retries, at most `timeout_ms` long. The walk enforces the same limit: it
    /// drops an attempt that exceeds it, which must abort any pending wait.
    ///
    /// # Errors
    /// The reason for the failure. Its text is safe for clients: no key, no URL.
    fn complete<'a>(
        &'a self,
        model: ModelId,
        request: &'a CompletionRequest,
        timeout_ms: u32,
    ) -> Pending<'a, Result<CompletionResult, AttemptError>>;
}

/// A prompt and its options. The same for every model of the chain, except for `upstream_model`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompletionRequest {
    /// The user's message.
    pub prompt: String,
    /// The longest answer in tokens; `None` for the adapter's default.
    pub max_tokens: Option<u64>,
    /// The system prompt; never empty.
    pub system_prompt: Option<String>,
    /// The provider's name of a model, which overrides every setting (router#models); never empty. The walk passes it
    /// to the first member of the chain only.
    pub upstream_model: Option<String>,
    /// Tools that the model may request; no tool of the server sets this (router#requests).
    pub tools: Vec<ToolDescriptor>,
}

/// A tool that a model may request.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDescriptor {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// A provider's answer, in one shape for all of them (router#adapters).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionResult {
    /// The text, or JSON text of blocks if the model requests tools (router#answers).
    pub content: String,
    /// The provider's version string.
    pub model: String,
    /// Tokens read; 0 if the provider does not report them.
    pub prompt_tokens: u64,
    /// Tokens written; 0 if the provider does not report them.
    pub completion_tokens: u64,
    /// Monotonic milliseconds of the attempt, including its own retries.
    pub latency_ms: u64,
    /// Why the answer ends, normalised (router#answers); never empty.
    pub stop_reason: String,
}

/// Why an attempt returned no completion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AttemptError {
    /// The kind of failure, for the log.
    pub code: AttemptCode,
    /// A message that is safe for clients: no key, no URL, one line.
    pub message: String,
    /// The HTTP status, if a response arrived.
    pub status: Option<u16>,
    /// The party to blame.
    pub blame: Blame,
}

/// The kinds of failed attempts (router#errors).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptCode {
    /// A setting is missing or invalid, or the mode forbids the call.
    Config(Profile),
    /// The provider answered with an error or not at all.
    Api(Profile),
    /// The provider did so on every retry.
    RetriesExhausted(Profile),
    /// The attempt took too long.
    Timeout,
    /// The circuit breaker refused the attempt.
    CircuitOpen,
}

impl fmt::Display for AttemptCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(profile) => write!(out, "{}_CONFIG_ERROR", profile.prefix()),
            Self::Api(profile) => write!(out, "{}_API_ERROR", profile.prefix()),
            Self::RetriesExhausted(profile) => write!(out, "{}_RETRIES_EXHAUSTED", profile.prefix()),
            Self::Timeout => out.write_str("ROUTER_TIMEOUT"),
            Self::CircuitOpen => out.write_str("ROUTER_CIRCUIT_OPEN"),
        }
    }
}

/// The party to blame for a failure, which decides who counts it (router#blame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The provider: statistics and breaker count it.
    Provider,
    /// The operator's settings: a missing or malformed key, or an unusable base URL. Statistics count it. The breaker
    /// does not: nothing was sent, and waiting does not correct a setting.
    Settings,
    /// The request (HTTP 400, 404, 413, 415, 422). Statistics count it. The breaker does not, or one caller could cut
    /// others off from a healthy provider.
    Request,
    /// No party, because no attempt was made: nothing counts it.
    Nobody,
}

impl AttemptError {
    /// Makes the error of an attempt whose time limit has passed.
    pub fn timeout(model: ModelId, timeout_ms: u32) -> Self {
        Self {
            code: AttemptCode::Timeout,
            message: format!("{model} timed out after {timeout_ms} ms"),
            status: None,
            blame: Blame::Provider,
        }
    }

    /// Makes the error of an attempt that the breaker refused.
    pub(crate) fn circuit_open(model: ModelId, refusal: Refusal) -> Self {
        let why = match refusal {
            Refusal::Open { failures, wait_ms } => {
                format!("it failed {failures} times in a row; next try in {} s", wait_ms.div_ceil(1000))
            }
            Refusal::Probed => "another call is trying it now".to_owned(),
        };
        Self {
            code: AttemptCode::CircuitOpen,
            message: format!("circuit open for {model}: {why}"),
            status: None,
            blame: Blame::Nobody,
        }
    }
}

/// Waiting as a parameter, so that tests need not wait in real time.
pub trait Sleeper: Send + Sync {
    /// Finishes after this many milliseconds.
    fn sleep(&self, ms: u64) -> Pending<'static, ()>;
}
