//! The walk along the chain (router#walk): the best model first, and whoever is next when it does not answer. Clock,
//! waiting, log and the outside are parameters.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::kernel::Clock;
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

/// Milliseconds after which no further attempt begins. Common clients wait a minute for a reply.
pub const TOTAL_BUDGET_MS: u32 = 60_000;

/// What a walk depends on besides its input.
#[derive(Clone)]
pub struct RouterEnv {
    /// The outside.
    pub completion: Arc<dyn Completion>,
    /// Both clocks.
    pub clock: Arc<dyn Clock>,
    /// Ends attempts that take too long.
    pub timer: Arc<dyn Sleeper>,
    /// Where failed attempts are told.
    pub log: Arc<dyn Log>,
    /// Where decision records go.
    pub emitter: Arc<dyn Emitter>,
}

impl RouterEnv {
    /// Both clocks, now.
    pub fn now(&self) -> Moment {
        // A monotonic clock starts at 0 and outlives no u64; the cast cuts the fraction off.
        Moment { monotonic_ms: self.clock.monotonic_ms() as u64, wall_ms: self.clock.wall_ms() }
    }
}

/// How long an attempt may take, its own retries included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimits {
    /// Milliseconds for any model.
    pub attempt_timeout_ms: u32,
    /// Milliseconds for Anthropic's, where that is less.
    pub anthropic_timeout_ms: u32,
}

impl AttemptLimits {
    /// Milliseconds for an attempt at `model` that begins when so much of the walk's time has gone; `None` when
    /// nothing is left.
    fn timeout_ms(self, model: ModelId, elapsed_ms: u64) -> Option<u32> {
        let limit = match model.profile() {
            Profile::Anthropic => self.attempt_timeout_ms.min(self.anthropic_timeout_ms),
            _ => self.attempt_timeout_ms,
        };
        let left = u64::from(TOTAL_BUDGET_MS).checked_sub(elapsed_ms).filter(|&left| left > 0)?;
        Some(u32::try_from(left).map_or(limit, |left| limit.min(left)))
    }
}

/// What a caller may ask for besides the prompt (router#tools).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RouteOptions {
    /// The longest answer in tokens.
    pub max_tokens: Option<u64>,
    /// The system prompt; empty counts as none.
    pub system_prompt: Option<String>,
    /// The provider's name of a model, for the first member of the chain; empty counts as none.
    pub model: Option<String>,
    /// What scoring looks at.
    pub context: ScoreContext,
    /// Tools that the model may ask for.
    pub tools: Vec<ToolDescriptor>,
    /// The options exactly as they came, for the decision record; null if there were none.
    pub received: Value,
}

/// An answer, and the way to it (router#walk).
#[derive(Debug, Clone, PartialEq)]
pub struct RouteResult {
    /// Who answered.
    pub model: ModelId,
    /// The text, or JSON text of blocks where the model asks for tools.
    pub content: String,
    /// Why the answer ends, normalised.
    pub finish_reason: String,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Milliseconds of the attempt that answered.
    pub latency_ms: u64,
    /// What it cost, in dollars.
    pub cost_usd: f64,
    /// Every model that was visited, in order; the last one answered.
    pub models_attempted: Vec<ModelId>,
}

/// A visit that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The model that was visited.
    pub model: ModelId,
    /// What came of it.
    pub error: AttemptError,
}

/// Nobody along the chain has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackChainExhaustedError {
    /// The visits in order; at least one.
    pub attempts: Vec<FailedAttempt>,
}

impl FallbackChainExhaustedError {
    /// The models that were visited, joined by comma and space.
    pub fn models(&self) -> String {
        let models: Vec<_> = self.attempts.iter().map(|attempt| attempt.model.as_str()).collect();
        models.join(", ")
    }

    /// What the last of them came to.
    pub fn last_message(&self) -> &str {
        self.attempts.last().map_or("", |attempt| &attempt.error.message)
    }
}

impl fmt::Display for FallbackChainExhaustedError {
    /// The form of router#walk; the catalogue has the same for clients.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, models, last) = (self.attempts.len(), self.models(), self.last_message());
        write!(out, "\u{3b4} fallback chain exhausted after {count} attempts: [{models}] {last}")
    }
}

impl std::error::Error for FallbackChainExhaustedError {}

/// What a walk goes by.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    /// What it depends on.
    pub environment: &'a RouterEnv,
    /// What is remembered between walks.
    pub state: &'a RouterState,
    /// How long attempts may take.
    pub limits: AttemptLimits,
    /// The candidates, for prices.
    pub snapshot: Option<&'a Snapshot>,
    /// Who is asked, and in which order.
    pub scores: &'a Scores,
    /// The rules behind the scores.
    pub rule_version_hash: &'a str,
}

impl Walk<'_> {
    /// Asks one model after the other until one answers. A refusal by content is an answer: the chain does not
    /// shop for a laxer model. Every failure moves on.
    ///
    /// # Errors
    /// [`FallbackChainExhaustedError`] with what each visit came to.
    pub async fn run(
        self,
        prompt: &str,
        options: &RouteOptions,
    ) -> Result<RouteResult, FallbackChainExhaustedError> {
        let chain = self.scores.chain();
        let began = self.environment.now();
        let mut request = first_request(prompt, options);
        let mut attempts: Vec<FailedAttempt> = Vec::new();
        for &model in &chain {
            let elapsed_ms = self.environment.now().monotonic_ms.saturating_sub(began.monotonic_ms);
            let Some(timeout_ms) = self.limits.timeout_ms(model, elapsed_ms) else { break };
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
            // A version string of one provider means nothing to the next.
            request.upstream_model = None;
        }
        self.emit(prompt, options, &chain, None, attempts.len());
        Err(FallbackChainExhaustedError { attempts })
    }

    /// One visit: breaker, adapter, bookkeeping.
    async fn attempt(
        self,
        model: ModelId,
        request: &CompletionRequest,
        timeout_ms: u32,
    ) -> Result<(CompletionResult, NanoDollars), AttemptError> {
        let admitted = self.state.admit(model, self.environment.now());
        let lease = admitted.ok_or_else(|| AttemptError::circuit_open(model))?;
        let outcome = tokio::select! {
            // An answer that comes together with the end of its time counts.
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

    /// Hands the decision's record over. Whatever becomes of it, the result stays.
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

/// What the first member of the chain is asked.
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
