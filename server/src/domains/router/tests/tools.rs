//! The tools' handlers over a router whose outside is scripted, with no database opened.

use std::sync::Arc;

use crate::catalogue::{
    RouterCallInput, RouterCallOutput, RouterFallbackInput, RouterScoreInput, RouterStatsInput, RouterTools,
};
use crate::domains::router::candidates::Snapshot;
use crate::domains::router::fallback::RouteOptions;
use crate::domains::router::model_id::ModelId;
use crate::domains::router::scoring::{ScoreContext, Task};
use crate::domains::system::facts::{DatabaseState, DatabaseStatus, Phase, SystemFacts};
use crate::settings::config::Config;
use crate::tools::Domains;
use crate::tools::cx::{Cx, Parts};
use colibri_runtime::handler::{Context, Failure};
use colibri_runtime::kernel::SystemIds;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::domains::router::tests::support::{DEFAULT_HASH, World, answer, failure, now, only};

/// A context without a database.
fn context(world: &World) -> Cx {
    let facts = SystemFacts {
        version: "9.9.9-test".to_owned(),
        boot_start_ms: 0.0,
        phase: Phase::Phase2,
        database: DatabaseState {
            status: DatabaseStatus::Skipped,
            path: None,
            read_only: false,
            latest_schema_version: 0,
        },
        tool_count: 4,
        admitted_tool_count: 4,
    };
    let config = Arc::new(Config::for_tests(":memory:"));
    Cx::new(None, world.clock.clone(), Box::new(SystemIds::default()), Parts::new(config, facts))
}

/// The same with a router over candidates, or without any.
fn with_router(world: &World, snapshot: Option<Snapshot>) -> Cx {
    let mut cx = context(world);
    cx.parts.router = Some(Arc::new(world.router(snapshot)));
    cx
}

fn input<T: DeserializeOwned>(arguments: Value) -> T {
    serde_json::from_value(arguments).unwrap()
}

fn call(cx: &mut Cx, arguments: Value) -> Result<RouterCallOutput, String> {
    let outcome = now(Domains::default().router_call(cx.network(), input::<RouterCallInput>(arguments)));
    outcome.map_err(|failure| match failure {
        Failure::Domain(error) => colibri_runtime::handler::ToolError::message(&error),
        Failure::Fault(fault) => fault.to_string(),
    })
}

#[test]
fn the_tools_work_with_no_database_opened() {
    let world = World::new([answer(1000, 500, 80), failure(ModelId::Claude, "down")]);
    let cx = &mut with_router(&world, None);
    assert!(cx.db().is_err());
    let scored =
        Domains::default().router_score(cx, input::<RouterScoreInput>(json!({ "prompt": "hi" }))).unwrap();
    assert_eq!((scored.winner, &*scored.rule_version_hash), (ModelId::Claude, DEFAULT_HASH));
    assert_eq!(call(cx, json!({ "prompt": "hi" })).unwrap().model, ModelId::Claude);
    assert_eq!(
        call(cx, json!({ "prompt": "hi" })),
        Err("δ fallback chain exhausted (attempts: 1): [claude] down".to_owned())
    );
    let circuits = Domains::default().router_fallback(cx, input::<RouterFallbackInput>(json!({}))).unwrap();
    assert_eq!(
        serde_json::to_value(circuits).unwrap(),
        json!({ "circuitState": { "claude": { "failures": 1, "openedAt": null } } })
    );
    let stats = Domains::default().router_stats(cx, input::<RouterStatsInput>(json!({}))).unwrap();
    assert_eq!(
        serde_json::to_value(stats).unwrap(),
        json!({ "models": { "claude": {
            "calls_total": 2, "successes": 1, "failures": 1, "avg_cost_usd": 0.0105, "p50_latency_ms": 80,
            "success_rate": 0.5,
        } } })
    );
}

#[test]
fn before_the_start_is_over_there_is_no_router() {
    let world = World::new([]);
    let cx = &mut context(&world);
    let fault = "the router is not initialised";
    assert_eq!(call(cx, json!({ "prompt": "hi" })), Err(fault.to_owned()));
    let Err(Failure::Fault(refused)) =
        Domains::default().router_stats(cx, input::<RouterStatsInput>(json!({})))
    else {
        panic!("there is no router");
    };
    assert_eq!(refused.to_string(), fault);
}

#[test]
fn the_tool_says_what_the_library_says_key_by_key() {
    let chain = [ModelId::Gpt4o, ModelId::ClaudeSonnet35];
    let steps = || [failure(chain[0], "down"), answer(1000, 500, 42)];
    let context = ScoreContext {
        task: Task { skill: vec!["coding".to_owned()], tokens: Some(3), ..Task::default() },
        operator_preference: [("gpt-4o".to_owned(), 1.0)].into(),
    };
    let world = World::new(steps());
    let options = RouteOptions { context, max_tokens: Some(7), ..RouteOptions::default() };
    let expected = now(world.router(Some(only(&chain))).route("ping", &options)).unwrap();
    let tool = World::new(steps());
    let arguments = json!({ "prompt": "ping", "options": {
        "maxTokens": 7, "task": { "skill": ["coding"], "tokens": 3 }, "operatorPreference": { "gpt-4o": 1 },
    } });
    let said = call(&mut with_router(&tool, Some(only(&chain))), arguments).unwrap();
    assert_eq!(
        serde_json::to_value(said).unwrap(),
        json!({
            "model": expected.model.as_str(),
            "content": expected.content,
            "finishReason": expected.finish_reason,
            "promptTokens": expected.prompt_tokens,
            "completionTokens": expected.completion_tokens,
            "latencyMs": expected.latency_ms,
            "costUsd": expected.cost_usd,
            "modelsAttempted": expected.models_attempted,
        })
    );
    assert_eq!(*world.script.asked.lock().unwrap(), *tool.script.asked.lock().unwrap());
}

#[test]
fn the_record_hashes_the_options_as_the_tool_got_them() {
    let options = json!({ "operatorPreference": { "claude": 1, "__proto__": 0.5 }, "task": { "tokens": 3 } });
    let record = |received: Option<Value>| {
        let world = World::new([answer(1, 1, 1)]);
        match received {
            Some(received) => {
                let options = RouteOptions { received, ..RouteOptions::default() };
                now(world.router(None).route("ping", &options)).unwrap();
            }
            None => {
                let arguments = json!({ "prompt": "ping", "options": options });
                call(&mut with_router(&world, None), arguments).unwrap();
            }
        }
        let records = world.records.0.lock().unwrap();
        records[0].decision_hash.clone()
    };
    assert_eq!(record(None), record(Some(options.clone())));
    assert_ne!(record(None), record(Some(json!({}))));
}

#[test]
fn scores_circuits_and_figures_come_in_the_models_order() {
    let chain = [ModelId::Gpt4oMini, ModelId::Gpt4o, ModelId::ClaudeHaiku35, ModelId::ClaudeSonnet35];
    let world = World::new(chain.map(|model| failure(model, "down")));
    let cx = &mut with_router(&world, Some(only(&chain)));
    assert!(call(cx, json!({ "prompt": "hello" })).is_err());
    let scored =
        Domains::default().router_score(cx, input::<RouterScoreInput>(json!({ "prompt": "hello" }))).unwrap();
    let names: Vec<_> = scored.scores.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ModelId::ALL.map(|model| model.to_string()));
    let tried = ["claude-sonnet-3-5", "claude-haiku-3-5", "gpt-4o", "gpt-4o-mini"];
    let circuits = Domains::default().router_fallback(cx, input::<RouterFallbackInput>(json!({}))).unwrap();
    assert_eq!(circuits.circuit_state.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), tried);
    let stats = Domains::default().router_stats(cx, input::<RouterStatsInput>(json!({}))).unwrap();
    assert_eq!(stats.models.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), tried);
}

#[test]
fn a_reset_names_one_model_or_all() {
    let chain = [ModelId::Gpt4o, ModelId::ClaudeSonnet35];
    let world = World::new(chain.map(|model| failure(model, "down")));
    let cx = &mut with_router(&world, Some(only(&chain)));
    assert!(call(cx, json!({ "prompt": "hello" })).is_err());
    let mut fallback = |arguments: Value| {
        let output = Domains::default().router_fallback(cx, input::<RouterFallbackInput>(arguments)).unwrap();
        output.circuit_state.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let both = ["claude-sonnet-3-5", "gpt-4o"];
    for read in [json!({}), json!({ "model_id": "gpt-4o" }), json!({ "model_id": "gpt-4o", "reset": false })]
    {
        assert_eq!(fallback(read), both);
    }
    for _ in 0..2 {
        assert_eq!(fallback(json!({ "model_id": "gpt-4o", "reset": true })), ["claude-sonnet-3-5"]);
    }
    assert_eq!(fallback(json!({ "model_id": "kimi-k2", "reset": true })), ["claude-sonnet-3-5"]);
    assert!(fallback(json!({ "reset": true })).is_empty());
    assert_eq!(
        Domains::default().router_stats(cx, input::<RouterStatsInput>(json!({}))).unwrap().models.len(),
        2
    );
}
