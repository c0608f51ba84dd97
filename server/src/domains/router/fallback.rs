//! The walk along the chain (router#walk): tries models by score until one answers. Clock, waiting, log and providers
//! are parameters.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::kernel::Clock;
use colibri_runtime::progress::Progress;
use serde_json::Value;

use super::candidates::Snapshot;
use super::circuit::Moment;
use super::completion::{
    AttemptError, Completion, CompletionRequest, CompletionResult, Sleeper, ToolDescriptor,
};
use super::cost::{NanoDollars, Price};
use super::decision::{Emitter, Grounds, RoutingDecision};
use super::model_id::ModelId;
use super::profile::Profile;
use super::scoring::{ScoreContext, Scores};
use super::state::RouterState;

/// Milliseconds after which no further attempt starts. Common clients wait a minute for a reply.
pub const TOTAL_BUDGET_MS: u32 = 60_000;

/// The environment of a walk.
#[derive(Clone)]
pub struct RouterEnv {
    /// The providers.
    pub completion: Arc<dyn Completion>,
    /// Both clocks.
    pub clock: Arc<dyn Clock>,
    /// Ends attempts that exceed their limit.
    pub timer: Arc<dyn Sleeper>,
    /// The log for failed attempts.
    pub log: Arc<dyn Log>,
    /// The recipient of decision records.
    pub emitter: Arc<dyn Emitter>,
}

impl RouterEnv {
    /// Reads both clocks.
    pub fn now(&self) -> Moment {
        // A monotonic clock starts at 0 and never exceeds a u64; the cast drops the fraction.
        Moment { monotonic_ms: self.clock.monotonic_ms() as u64, wall_ms: self.clock.wall_ms() }
    }
}

/// The longest duration of an attempt, including its own retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimits {
    /// Milliseconds for any model.
    pub attempt_timeout_ms: u32,
    /// Milliseconds for Anthropic's models, if less.
    pub anthropic_timeout_ms: u32,
}

impl AttemptLimits {
    /// Returns the milliseconds for an attempt at `model` that begins after `elapsed_ms` of the walk's time; `None`
    /// if no time is left.
    fn timeout_ms(self, model: ModelId, elapsed_ms: u64) -> Option<u32> {
        let limit = match model.profile() {
            Profile::Anthropic => self.attempt_timeout_ms.min(self.anthropic_timeout_ms),
            _ => self.attempt_timeout_ms,
        };
        let left = u64::from(TOTAL_BUDGET_MS).checked_sub(elapsed_ms).filter(|&left| left > 0)?;
        Some(u32::try_from(left).map_or(limit, |left| limit.min(left)))
    }
}

/// A caller's options besides the prompt (router#tools).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RouteOptions {
    /// The longest answer in tokens.
    pub max_tokens: Option<u64>,
    /// The system prompt; an empty one is ignored.
    pub system_prompt: Option<String>,
    /// The provider's name of a model, for the first member of the chain; an empty one is ignored.
    pub model: Option<String>,
    /// The context for scoring.
    pub context: ScoreContext,
    /// Tools that the model may request.
    pub tools: Vec<ToolDescriptor>,
    /// The options exactly as received, for the decision record; null if the caller sent none.
    pub received: Value,
    /// Where the walk reports its attempts.
    pub progress: Progress,
}

/// An answer, and the models that were tried (router#walk).
#[derive(Debug, Clone, PartialEq)]
pub struct RouteResult {
    /// The model that answered.
    pub model: ModelId,
    /// The text, or JSON text of blocks if the model requests tools.
    pub content: String,
    /// Why the answer ends, normalised.
    pub finish_reason: String,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Milliseconds of the attempt that answered.
    pub latency_ms: u64,
    /// Its cost, in dollars.
    pub cost_usd: f64,
    /// Every model that was tried, in order; the last one answered.
    pub models_attempted: Vec<ModelId>,
}

/// A failed visit of the walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The model that was tried.
    pub model: ModelId,
    /// The error.
    pub error: AttemptError,
}

/// No model of the chain answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackChainExhaustedError {
    /// The visits in order; at least one.
    pub attempts: Vec<FailedAttempt>,
}

impl FallbackChainExhaustedError {
    /// Returns the models that were tried, joined by comma and space.
    pub fn models(&self) -> String {
        let models: Vec<_> = self.attempts.iter().map(|attempt| attempt.model.as_str()).collect();
        models.join(", ")
    }

    /// Returns the last visit's error message.
    pub fn last_message(&self) -> &str {
        self.attempts.last().map_or("", |attempt| &attempt.error.message)
    }
}

impl fmt::Display for FallbackChainExhaustedError {
    /// Writes the form of router#walk; the catalogue has the same for clients.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, models, last) = (self.attempts.len(), self.models(), self.last_message());
        write!(out, "\u{3b4} fallback chain exhausted (attempts: {count}): [{models}] {last}")
    }
}

impl std::error::Error for FallbackChainExhaustedError {}

/// The inputs of a walk.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    /// Its environment.
    pub environment: &'a RouterEnv,
    /// The state kept between walks.
    pub state: &'a RouterState,
    /// The time limits of attempts.
    pub limits: AttemptLimits,
    /// The candidates, for prices.
    pub snapshot: Option<&'a Snapshot>,
    /// The scores, which determine the models and their order.
    pub scores: &'a Scores,
    /// The rules behind the scores.
    pub rule_version_hash: &'a str,
}

impl Walk<'_> {
    /// Tries one model after the other until one answers. A refusal by content is an answer: the chain does not look
    /// for a laxer model. After every failure it tries the next one.
    ///
    /// # Errors
    /// [`FallbackChainExhaustedError`] with the error of each visit.
    pub async fn run(
        self,
        prompt: &str,
        options: &RouteOptions,
    ) -> Result<RouteResult, FallbackChainExhaustedError> {
        let chain = self.scores.chain();
        let began = self.environment.now();
        let mut request = first_request(prompt, options);
        let mut attempts: Vec<FailedAttempt> = Vec::new();
        let steps = chain.len();
        for (step, &model) in (1..).zip(&chain) {
            let elapsed_ms = self.environment.now().monotonic_ms.saturating_sub(began.monotonic_ms);
            let Some(timeout_ms) = self.limits.timeout_ms(model, elapsed_ms) else { break };
            options.progress.step(step, steps as u64, || format!("asking {model} ({step} of {steps})"));
            match self.attempt(model, &request, timeout_ms).await {
                Ok((answer, cost)) => {
                    let visited = attempts.iter().map(|attempt| attempt.model).chain([model]).collect();
                    let result = route_result(model, answer, cost, visited);
                    self.emit(prompt, options, &chain, Some(model), result.models_attempted.len());
                    return Ok(result);
                }
                Err(error) => {
                    self.tell(model, &error);
                    attempts.push(FailedAttempt { model, error });
                }
            }
            // A version string of one provider is meaningless to the next.
            request.upstream_model = None;
        }
        self.emit(prompt, options, &chain, None, attempts.len());
        Err(FallbackChainExhaustedError { attempts })
    }

    /// Makes one visit: breaker, adapter, bookkeeping.
    async fn attempt(
        self,
        model: ModelId,
        request: &CompletionRequest,
        timeout_ms: u32,
    ) -> Result<(CompletionResult, NanoDollars), AttemptError> {
        let admitted = self.state.admit(model, self.environment.now());
        let lease = admitted.map_err(|refusal| AttemptError::circuit_open(model, refusal))?;
        let outcome = tokio::select! {
            // An answer that arrives exactly at the limit counts.
            biased;
            outcome = self.environment.completion.complete(model, request, timeout_ms) => outcome,
            () = self.environment.timer.sleep(u64::from(timeout_ms)) => {
                Err(AttemptError::timeout(model, timeout_ms))
            }
        };
        match outcome {
            Ok(answer) => {
                let price = Price::of(model, self.snapshot);
                let cost = price.of_answer(answer.prompt_tokens, answer.completion_tokens);
                lease.succeed(cost, answer.latency_ms);
                Ok((answer, cost))
            }
            Err(error) => {
                lease.fail(&error, self.environment.now());
                Err(error)
            }
        }
    }

    fn tell(self, model: ModelId, error: &AttemptError) {
        let status = error.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let (code, message) = (error.code, &error.message);
        let line = format!("[router] attempt failed model={model} code={code} status={status} {message}");
        self.environment.log.write(Level::Warn, &line);
    }

    /// Passes on the decision record. A failure to do so does not change the result.
    fn emit(
        self,
        prompt: &str,
        options: &RouteOptions,
        chain: &[ModelId],
        chosen: Option<ModelId>,
        visited: usize,
    ) {
        let none = Value::Object(serde_json::Map::new());
        let options = if options.received.is_null() { &none } else { &options.received };
        let (scores, rule_version_hash) = (self.scores, self.rule_version_hash);
        let grounds = Grounds { prompt, options, scores, chain, rule_version_hash };
        let emitted = match RoutingDecision::new(grounds, chosen, visited) {
            Ok(decision) => catch_unwind(AssertUnwindSafe(|| self.environment.emitter.emit(&decision)))
                .unwrap_or_else(|_| Err("the emitter panicked".to_owned())),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = emitted {
            self.environment
                .log
                .write(Level::Warn, &format!("[router] the decision's record was not kept: {reason}"));
        }
    }
}

/// Builds the request to the first member of the chain.
fn first_request(prompt: &str, options: &RouteOptions) -> CompletionRequest {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    CompletionRequest {
        prompt: prompt.to_owned(),
        max_tokens: options.max_tokens,
        system_prompt: given(&options.system_prompt),
        upstream_model: given(&options.model),
        tools: options.tools.clone(),
    }
}

fn route_result(
    model: ModelId,
    answer: CompletionResult,
    cost: NanoDollars,
    models_attempted: Vec<ModelId>,
) -> RouteResult {
    RouteResult {
        model,
        content: answer.content,
        finish_reason: answer.stop_reason,
        prompt_tokens: answer.prompt_tokens,
        completion_tokens: answer.completion_tokens,
        latency_ms: answer.latency_ms,
        cost_usd: cost.dollars(),
        models_attempted,
    }
}
