//! One attempt at one model, over the network: settings, request, retries, answer (router#retries).

use std::sync::Arc;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::kernel::Clock;

use super::adapters;
use super::completion::{
    AttemptCode, AttemptError, Blame, Completion, CompletionRequest, CompletionResult, Pending, Sleeper,
};
use super::http::{HttpResponse, NetworkFailure};
use super::model_id::ModelId;
use super::profile::Profile;
use super::redact::Redaction;
use super::retry;
use super::settings::Target;
use super::transport::Transport;
use crate::settings::config::Config;
use crate::settings::mode::capabilities_for;

/// The longest version string of a provider that is logged, in characters.
const LOGGED_VERSION_LENGTH: usize = 100;

/// The providers behind their HTTP interfaces.
pub struct Providers {
    config: Arc<Config>,
    redaction: Redaction,
    transport: Arc<dyn Transport>,
    sleeper: Arc<dyn Sleeper>,
    clock: Arc<dyn Clock>,
    log: Arc<dyn Log>,
}

impl Providers {
    /// Makes the providers for which the configuration has keys; `sleeper` and `clock` pace the retries.
    pub fn new(
        config: Arc<Config>,
        transport: Arc<dyn Transport>,
        sleeper: Arc<dyn Sleeper>,
        clock: Arc<dyn Clock>,
        log: Arc<dyn Log>,
    ) -> Self {
        let redaction = Redaction::new(config.secrets().iter().map(String::as_str));
        Self { config, redaction, transport, sleeper, clock, log }
    }

    async fn attempt(
        &self,
        model: ModelId,
        request: &CompletionRequest,
        timeout_ms: u32,
    ) -> Result<CompletionResult, AttemptError> {
        let profile = model.profile();
        self.outside_allowed(profile)?;
        let target = Target::of_model(&self.config, model, request.upstream_model.as_deref())?;
        let began = self.clock.monotonic_ms();
        let response = self.ask(model, &target, request, began, timeout_ms).await?;
        let latency_ms = self.elapsed_ms(began);
        let result = adapters::parse(profile, &target.model, &response, latency_ms, &self.redaction)?;
        self.log_success(profile, &result);
        Ok(result)
    }

    /// Refuses attempts in modes without outside traffic, before it reads a setting (router#modes).
    fn outside_allowed(&self, profile: Profile) -> Result<(), AttemptError> {
        let mode = self.config.mode;
        if capabilities_for(mode).dispatch_external_io {
            return Ok(());
        }
        Err(AttemptError {
            code: AttemptCode::Config(profile),
            message: format!("external I/O disabled in mode {mode}"),
            status: None,
            blame: Blame::Nobody,
        })
    }

    /// Sends requests until one has a final answer, which a retry would not change.
    async fn ask(
        &self,
        model: ModelId,
        target: &Target,
        request: &CompletionRequest,
        began: f64,
        timeout_ms: u32,
    ) -> Result<HttpResponse, AttemptError> {
        let profile = target.profile;
        let message = Arc::new(adapters::build(target, request));
        let left = || u64::from(timeout_ms).saturating_sub(self.elapsed_ms(began));
        for requests in 1.. {
            let left_ms = left();
            if left_ms == 0 {
                break;
            }
            let response = match self.transport.send(message.clone(), left_ms).await {
                Ok(response) => response,
                Err(NetworkFailure::Timeout) => break,
                Err(failure) => return Err(unreachable_provider(profile, failure)),
            };
            if !retry::is_transient(response.status) {
                return Ok(response);
            }
            match retry::next_wait(requests, response.retry_after.as_deref(), left()) {
                Some(wait) => self.sleeper.sleep(wait).await,
                None => return Err(exhausted(profile, requests, response.status)),
            }
        }
        Err(AttemptError::timeout(model, timeout_ms))
    }

    fn elapsed_ms(&self, began: f64) -> u64 {
        // A float to integer cast saturates: a clock that steps back counts as one that stands still.
        (self.clock.monotonic_ms() - began) as u64
    }

    /// Logs the line of router#errors: numbers and the provider's version string, but no prompt or answer.
    fn log_success(&self, profile: Profile, result: &CompletionResult) {
        // Cut last, or half a key could remain unrecognised.
        let version = self.redaction.redact(&result.model);
        let version: String = version.chars().take(LOGGED_VERSION_LENGTH).collect();
        let CompletionResult { prompt_tokens, completion_tokens, latency_ms, .. } = result;
        let tag = tag(profile);
        let line = format!(
            "[{tag}] model={version} prompt_tokens={prompt_tokens} completion_tokens={completion_tokens} latency_ms={latency_ms}"
        );
        self.log.write(Level::Info, &line);
    }
}

impl Completion for Providers {
    fn complete<'a>(
        &'a self,
        model: ModelId,
        request: &'a CompletionRequest,
        timeout_ms: u32,
    ) -> Pending<'a, Result<CompletionResult, AttemptError>> {
        Box::pin(self.attempt(model, request, timeout_ms))
    }
}

/// Returns the provider's name in the log.
const fn tag(profile: Profile) -> &'static str {
    match profile {
        Profile::Anthropic => "claude",
        Profile::OpenAi => "openai",
        Profile::Kimi => "kimi",
        Profile::Codex => "codex",
        Profile::Llama => "llama",
        Profile::Mistral => "mistral",
        Profile::Gemini => "gemini",
    }
}

fn unreachable_provider(profile: Profile, failure: NetworkFailure) -> AttemptError {
    AttemptError {
        code: AttemptCode::Api(profile),
        message: format!("{profile} request failed: {failure}"),
        status: None,
        blame: Blame::Provider,
    }
}

fn exhausted(profile: Profile, requests: u32, status: u16) -> AttemptError {
    AttemptError {
        code: AttemptCode::RetriesExhausted(profile),
        message: format!("{profile} retries exhausted after {requests} requests: HTTP {status}"),
        status: Some(status),
        blame: Blame::Provider,
    }
}
