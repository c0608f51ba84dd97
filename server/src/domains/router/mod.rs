//! The model router (delta): which model suits a prompt, and asking it, with others behind it.
//!
//! ```text
//! candidates + rules -> scoring -> chain -> fallback (walk) -> completion <- attempt
//!                                             |- state: circuit, stats (with cost)
//!                                             '- decision (record of the choice)
//! service     all of it, behind the tools; input and output translate
//! start       candidates at boot: candidate_file, store (the table), built-in rows
//!
//! attempt     one attempt at one model: settings, request, retries, answer
//! settings, base_url, redact                         what the operator says, and what nobody sees
//! adapters, http                                     requests built and responses read, purely
//! retry                                              when a provider is asked again
//! transport                                          the network, on a thread beside the loop
//! ```

pub mod adapters;
pub mod attempt;
pub mod base_url;
pub mod candidate_file;
pub mod candidates;
pub mod circuit;
pub mod completion;
pub mod cost;
pub mod decision;
pub mod fallback;
pub mod http;
mod input;
pub mod model_id;
mod output;
pub mod profile;
pub mod redact;
pub mod retry;
pub mod rules;
pub mod scoring;
pub mod service;
pub mod settings;
pub mod start;
pub mod state;
pub mod stats;
mod store;
mod timer;
pub mod transport;

use colibri_runtime::handler::{NetworkOutcome, Outcome};

use self::fallback::RouteOptions;
use self::service::{ConfigInvalid, RouteError};
use crate::catalogue::{
    RouterCallError, RouterCallInput, RouterCallOutput, RouterFallbackError, RouterFallbackInput,
    RouterFallbackOutput, RouterScoreError, RouterScoreInput, RouterScoreOutput, RouterStatsError,
    RouterStatsInput, RouterStatsOutput, RouterTools,
};
use crate::context::{Cx, NetworkCx};
use crate::domains::Domains;

impl RouterTools<Cx> for Domains {
    fn router_score(
        &mut self,
        cx: &mut Cx,
        input: RouterScoreInput,
    ) -> Outcome<RouterScoreOutput, RouterScoreError> {
        let scorer = cx.router()?.scorer().map_err(|invalid| RouterScoreError::from(invalid.clone()))?;
        let context = input.context.map(Into::into).unwrap_or_default();
        let scores = scorer.score(&input.prompt, &context);
        Ok(output::scored(&scores, scorer.rule_version_hash()))
    }

    fn router_call(
        &mut self,
        cx: NetworkCx,
        input: RouterCallInput,
    ) -> NetworkOutcome<RouterCallOutput, RouterCallError> {
        Box::pin(async move {
            let router = cx.router()?;
            let options = input.options.map(RouteOptions::from).unwrap_or_default();
            let result = router.route(&input.prompt, &options).await.map_err(RouterCallError::from)?;
            Ok(result.into())
        })
    }

    fn router_fallback(
        &mut self,
        cx: &mut Cx,
        input: RouterFallbackInput,
    ) -> Outcome<RouterFallbackOutput, RouterFallbackError> {
        let router = cx.router()?;
        if input.reset == Some(true) {
            router.reset_circuits(input.model_id);
        }
        Ok(output::circuits(router.circuits()))
    }

    fn router_stats(
        &mut self,
        cx: &mut Cx,
        _: RouterStatsInput,
    ) -> Outcome<RouterStatsOutput, RouterStatsError> {
        Ok(output::figures(cx.router()?.stats()))
    }
}

impl From<ConfigInvalid> for RouterScoreError {
    fn from(invalid: ConfigInvalid) -> Self {
        Self::RouterConfigInvalid { reason: invalid.reason }
    }
}

impl From<RouteError> for RouterCallError {
    fn from(error: RouteError) -> Self {
        match error {
            RouteError::Config(invalid) => Self::RouterConfigInvalid { reason: invalid.reason },
            RouteError::Exhausted(exhausted) => Self::RouterChainExhausted {
                count: output::integer(exhausted.attempts.len() as u64),
                models: exhausted.attempts.iter().map(|attempt| attempt.model.to_string()).collect(),
                cause: exhausted.last_message().to_owned(),
            },
        }
    }
}
