//! Conversion of the tools' inputs for the engine. Stage 2 has checked the ranges.

use colibri_runtime::progress::Progress;
use serde_json::Value;

use super::fallback::RouteOptions;
use super::scoring::{ScoreContext, Task};
use crate::catalogue::{OperatorPreference, RouterCallInputOptions, RouterScoreInputContext, RouterTask};

impl From<RouterScoreInputContext> for ScoreContext {
    fn from(given: RouterScoreInputContext) -> Self {
        context(given.task, given.operator_preference)
    }
}

impl From<RouterCallInputOptions> for RouteOptions {
    fn from(given: RouterCallInputOptions) -> Self {
        // A struct of strings and numbers can always be serialised.
        let received = serde_json::to_value(&given).unwrap_or(Value::Null);
        Self {
            max_tokens: given.max_tokens.map(i64::unsigned_abs),
            system_prompt: given.system_prompt,
            model: given.model,
            context: context(given.task, given.operator_preference),
            tools: Vec::new(),
            received,
            progress: Progress::default(),
        }
    }
}

fn context(task: Option<RouterTask>, preference: Option<OperatorPreference>) -> ScoreContext {
    let task = task.map(|task| Task {
        domain: task.domain,
        tokens: task.tokens.map(i64::unsigned_abs),
        deadline_ms: task.deadline_ms.map(i64::unsigned_abs),
        skill: task.skill.unwrap_or_default(),
    });
    let preference = preference.map(|OperatorPreference(preference)| preference.into_iter().collect());
    ScoreContext { task: task.unwrap_or_default(), operator_preference: preference.unwrap_or_default() }
}
