//! One attempt at one model: what the walk along the chain asks of the adapters, and what comes back (router#walk, router#adapters
//! router#adapters). The walk knows no provider, the adapters know no chain.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::model_id::ModelId;
use super::profile::Profile;

/// Work in progress on the loop's thread. Dropping it gives the work up.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The outside: whatever can get a prompt completed.
pub trait Completion: Send + Sync {
    /// Makes one attempt, its own retries included, at most `timeout_ms` long. The walk keeps the same limit by
    /// itself: an attempt that is not over by then is dropped, which has to abort whatever it waits for.
    ///
    /// # Errors
    /// Why there is no completion. The text is fit for clients: no key, no URL.
    fn complete<'a>(
        &'a self,
        model: ModelId,
        request: &'a CompletionRequest,
        timeout_ms: u32,
    ) -> Pending<'a, Result<CompletionResult, AttemptError>>;
}

/// What is to be completed. The same for every model of the chain, but for `upstream_model`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompletionRequest {
    /// The user's message.
    pub prompt: String,
    /// The longest answer in tokens; an adapter's default otherwise.
    pub max_tokens: Option<u64>,
    /// The system prompt; never empty.
    pub system_prompt: Option<String>,
    /// The provider's name of a model, which goes before every setting (router#models); never empty. The walk gives it to
    /// the first member of the chain only.
    pub upstream_model: Option<String>,
    /// Tools that the model may ask for; no tool of the server fills this in (router#requests).
    pub tools: Vec<ToolDescriptor>,
}

/// A tool that a model may ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDescriptor {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// A provider's answer, in one shape for all of them (router#adapters).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionResult {
    /// The text, or JSON text of blocks where the model asks for tools (router#answers).
    pub content: String,
    /// The provider's version string.
    pub model: String,
    /// Tokens read; 0 when the provider does not say.
    pub prompt_tokens: u64,
    /// Tokens written; 0 when the provider does not say.
    pub completion_tokens: u64,
    /// Monotonic milliseconds of the attempt, its own retries included.
    pub latency_ms: u64,
    /// Why the answer ends, normalised (router#answers); never empty.
    pub stop_reason: String,
}

/// Why an attempt brought no completion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AttemptError {
    /// What kind of failure it is, for the log.
    pub code: AttemptCode,
    /// The failure in words, fit for clients: no key, no URL, one line.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// Whose doing it is.
    pub blame: Blame,
}

/// The kinds of failed attempts (router#errors).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptCode {
    /// A setting is missing or bad, or the mode forbids the call.
    Config(Profile),
    /// The provider answered with an error or not at all.
    Api(Profile),
    /// It did so each time it was asked.
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

/// Whose doing a failure is, and so what remembers it (router#blame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The provider's: statistics and breaker count it.
    Provider,
    /// The operator's settings: a missing or malformed key, a base URL that cannot be used. Statistics count it, the
    /// breaker does not: nothing was sent, and waiting mends no setting.
    Settings,
    /// The request's (HTTP 400, 404, 413, 415, 422): statistics count it, the breaker does not, or a caller could
    /// close a healthy provider to others.
    Request,
    /// Nobody's, because no attempt was really made: nothing counts it.
    Nobody,
}

impl AttemptError {
    /// The attempt's time limit has passed.
    pub fn timeout(model: ModelId, timeout_ms: u32) -> Self {
        Self {
            code: AttemptCode::Timeout,
            message: format!("{model} timed out after {timeout_ms} ms"),
            status: None,
            blame: Blame::Provider,
        }
    }

    /// The breaker did not let the attempt begin.
    pub fn circuit_open(model: ModelId) -> Self {
        Self {
            code: AttemptCode::CircuitOpen,
            message: format!("circuit open for {model}"),
            status: None,
            blame: Blame::Nobody,
        }
    }
}

/// Waiting, as a parameter: tests wait no real milliseconds.
pub trait Sleeper: Send + Sync {
    /// Is over after so many milliseconds.
    fn sleep(&self, ms: u64) -> Pending<'static, ()>;
}
