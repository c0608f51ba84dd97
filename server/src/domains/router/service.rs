//! The router behind the four tools: scores, calls along the chain, circuits, figures.

use std::collections::BTreeMap;

use super::candidates::Snapshot;
use super::circuit::CircuitState;
use super::fallback::{
    AttemptLimits, FallbackChainExhaustedError, RouteOptions, RouteResult, RouterEnv, Walk,
};
use super::model_id::ModelId;
use super::rules::{Weights, scoring_rule_version_hash};
use super::scoring::{ScoreContext, Scores, score_intent};
use super::state::RouterState;
use super::stats::ModelStats;
use colibri_canonical::HexDigest;

/// The inputs of scores: loaded once, never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scorer {
    snapshot: Option<Snapshot>,
    rule_version_hash: HexDigest,
}

/// The operator's configuration of the router cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ConfigInvalid {
    /// The fault, on one line.
    pub reason: String,
}

impl Scorer {
    /// Scores from these candidates; without candidates, returns the fixed result.
    ///
    /// # Errors
    /// [`ConfigInvalid`] if the rules cannot be hashed.
    pub fn new(snapshot: Option<Snapshot>) -> Result<Self, ConfigInvalid> {
        let default = Weights::default();
        let weights = snapshot.as_ref().map_or(&default, Snapshot::weights);
        let rule_version_hash = scoring_rule_version_hash(weights)
            .map_err(|error| ConfigInvalid { reason: error.to_string() })?;
        Ok(Self { snapshot, rule_version_hash })
    }

    /// Scores every model for a prompt.
    pub fn score(&self, prompt: &str, context: &ScoreContext) -> Scores {
        score_intent(prompt, context, self.snapshot.as_ref())
    }

    /// Returns the hash of the rules behind the scores, 64 hex characters.
    pub fn rule_version_hash(&self) -> &str {
        self.rule_version_hash.as_str()
    }
}

/// Why no model was asked, or why none answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// The candidates cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigInvalid),
    /// No model answered.
    #[error(transparent)]
    Exhausted(#[from] FallbackChainExhaustedError),
}

/// The router of a process. Its calls may run concurrently.
pub struct Router {
    scorer: Result<Scorer, ConfigInvalid>,
    limits: AttemptLimits,
    environment: RouterEnv,
    state: RouterState,
}

impl Router {
    /// Makes a router without history. An invalid configuration disables only scoring and calling.
    pub fn new(scorer: Result<Scorer, ConfigInvalid>, limits: AttemptLimits, environment: RouterEnv) -> Self {
        Self { scorer, limits, environment, state: RouterState::default() }
    }

    /// Returns the inputs of scores.
    ///
    /// # Errors
    /// [`ConfigInvalid`] as found at the start.
    pub fn scorer(&self) -> Result<&Scorer, &ConfigInvalid> {
        self.scorer.as_ref()
    }

    /// Gets a prompt completed by the best model that answers (`routeRequest`).
    ///
    /// # Errors
    /// [`RouteError`].
    pub async fn route(&self, prompt: &str, options: &RouteOptions) -> Result<RouteResult, RouteError> {
        let scorer = self.scorer().map_err(Clone::clone)?;
        let scores = scorer.score(prompt, &options.context);
        self.route_by(&scores, prompt, options).await
    }

    /// Does the same with the caller's scores.
    ///
    /// # Errors
    /// [`RouteError`].
    pub async fn route_by(
        &self,
        scores: &Scores,
        prompt: &str,
        options: &RouteOptions,
    ) -> Result<RouteResult, RouteError> {
        let scorer = self.scorer().map_err(Clone::clone)?;
        let walk = Walk {
            environment: &self.environment,
            state: &self.state,
            limits: self.limits,
            snapshot: scorer.snapshot.as_ref(),
            scores,
            rule_version_hash: scorer.rule_version_hash(),
        };
        Ok(walk.run(prompt, options).await?)
    }

    /// Returns the used circuits (`getCircuitBreakerState`).
    pub fn circuits(&self) -> BTreeMap<ModelId, CircuitState> {
        self.state.circuits()
    }

    /// Forgets a model's circuit, or all of them (`resetCircuitBreaker`).
    pub fn reset_circuits(&self, model: Option<ModelId>) {
        self.state.reset_circuits(model);
    }

    /// Returns the figures of the models that were tried (`getRouterStats`).
    pub fn stats(&self) -> BTreeMap<ModelId, ModelStats> {
        self.state.stats()
    }

    /// Forgets a model's figures, or all of them; for tests (`resetRouterStats`).
    pub fn reset_stats(&self, model: Option<ModelId>) {
        self.state.reset_stats(model);
    }
}
