//! The tools of the model router.

use super::Domains;
use super::cx::{Cx, NetworkCx};
use crate::catalogue::{
    RouterCallError, RouterCallInput, RouterCallOutput, RouterFallbackError, RouterFallbackInput,
    RouterFallbackOutput, RouterScoreError, RouterScoreInput, RouterScoreOutput, RouterStatsError,
    RouterStatsInput, RouterStatsOutput, RouterTools,
};
use crate::domains::router::fallback::RouteOptions;
use crate::domains::router::output;
use crate::domains::router::service::{ConfigInvalid, RouteError};
use colibri_runtime::handler::{NetworkOutcome, Outcome};

impl RouterTools<Cx> for Domains {
    fn router_score(
        &mut self,
        cx: &mut Cx,
        input: RouterScoreInput,
    ) -> Outcome<RouterScoreOutput, RouterScoreError> {
        let scorer =
            cx.parts.router()?.scorer().map_err(|invalid| RouterScoreError::from(invalid.clone()))?;
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
            let mut options = input.options.map(RouteOptions::from).unwrap_or_default();
            options.progress = cx.progress().clone();
            let result = router.route(&input.prompt, &options).await.map_err(RouterCallError::from)?;
            Ok(result.into())
        })
    }

    fn router_fallback(
        &mut self,
        cx: &mut Cx,
        input: RouterFallbackInput,
    ) -> Outcome<RouterFallbackOutput, RouterFallbackError> {
        let router = cx.parts.router()?;
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
        Ok(output::figures(cx.parts.router()?.stats()))
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
