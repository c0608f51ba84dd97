//! The walk along the chain (router#walk), with scripted answers and clocks that stand still.

use std::pin::pin;
use std::task::Poll;

use crate::domains::router::completion::{AttemptCode, AttemptError, Blame, CompletionResult};
use crate::domains::router::fallback::{AttemptLimits, RouteOptions};
use crate::domains::router::model_id::ModelId;
use crate::domains::router::profile::Profile;
use crate::domains::router::service::{RouteError, Router, Scorer};

use crate::domains::router::tests::support::{
    LIMITS, Step, World, answer, at, completion, error, failure, now, only, poll_once,
};

const GPT: ModelId = ModelId::Gpt4o;
const SONNET: ModelId = ModelId::ClaudeSonnet35;

/// A prompt for which Sonnet comes second of the two.
const PROMPT: &str = "hello";

fn two(world: &World) -> Router {
    world.router(Some(only(&[GPT, SONNET])))
}

fn asked(prompt: &str, router: &Router, options: &RouteOptions) -> Result<String, String> {
    let result = now(router.route(prompt, options));
    result.map(|result| result.model.to_string()).map_err(|error| error.to_string())
}

#[test]
fn the_second_answers_when_the_first_is_down() {
    let world = World::new([failure(GPT, "OpenAI API error 500: down"), answer(1000, 500, 42)]);
    let options = RouteOptions { model: Some("m-1".to_owned()), ..RouteOptions::default() };
    let result = now(two(&world).route(PROMPT, &options)).unwrap();
    assert_eq!((result.model, &*result.models_attempted), (SONNET, &[GPT, SONNET][..]));
    assert_eq!((result.cost_usd, result.latency_ms), (0.0105, 42), "the second's alone");
    let asked = world.script.asked.lock().unwrap();
    let hints = asked.iter().map(|(model, request, _)| (*model, request.upstream_model.as_deref()));
    assert_eq!(hints.collect::<Vec<_>>(), [(GPT, Some("m-1")), (SONNET, None)]);
}

#[test]
fn the_hint_is_dropped_with_the_member_that_an_open_circuit_skips() {
    let down = || failure(GPT, "down");
    let world = World::new([down(), answer(1, 1, 1), down(), answer(1, 1, 1), down(), answer(1, 1, 1)]);
    let router = two(&world);
    for _ in 0..3 {
        assert_eq!(asked(PROMPT, &router, &RouteOptions::default()), Ok("claude-sonnet-3-5".to_owned()));
    }
    world.then([answer(1, 1, 1)]);
    let options = RouteOptions { model: Some("m-1".to_owned()), ..RouteOptions::default() };
    let result = now(router.route(PROMPT, &options)).unwrap();
    assert_eq!(result.models_attempted, [GPT, SONNET], "a skipped member counts as visited");
    let asked = world.script.asked.lock().unwrap();
    let (model, request, _) = asked.last().unwrap();
    assert_eq!((*model, request.upstream_model.as_deref()), (SONNET, None));
    assert_eq!(router.stats()[&GPT].failures, 3, "a skip is no call");
}

#[test]
fn every_member_fails_and_is_named() {
    let chain = ["gpt-4o-mini", "llama-3-3-70b", "gpt-4o"];
    let models = chain.map(|model| model.parse::<ModelId>().unwrap());
    let world = World::new(models.map(|model| failure(model, &format!("{model} is down"))));
    let router = world.router(Some(only(&models)));
    assert_eq!(
        asked(PROMPT, &router, &RouteOptions::default()),
        Err("δ fallback chain exhausted (attempts: 3): \
             [gpt-4o-mini, llama-3-3-70b, gpt-4o] gpt-4o is down"
            .to_owned())
    );
    let lines = world.log.0.lock().unwrap();
    assert_eq!(
        *lines,
        [
            "Warn [router] attempt failed model=gpt-4o-mini code=OPENAI_API_ERROR status=500 gpt-4o-mini is down",
            "Warn [router] attempt failed model=llama-3-3-70b code=LLAMA_API_ERROR status=500 llama-3-3-70b is down",
            "Warn [router] attempt failed model=gpt-4o code=OPENAI_API_ERROR status=500 gpt-4o is down",
        ]
    );
}

#[test]
fn a_missing_key_is_an_attempt_and_the_fourth_is_refused() {
    let missing = || {
        Step::Answer(Err(AttemptError {
            code: AttemptCode::Config(Profile::Anthropic),
            message: "COLIBRI_ANTHROPIC_API_KEY is not set".to_owned(),
            status: None,
            blame: Blame::Provider,
        }))
    };
    let world = World::new([missing(), missing(), missing()]);
    world.clock.pass(7000);
    let router = world.router(None);
    let exhausted = "δ fallback chain exhausted (attempts: 1): [claude] ";
    for _ in 0..3 {
        assert_eq!(
            asked("ping", &router, &RouteOptions::default()),
            Err(format!("{exhausted}COLIBRI_ANTHROPIC_API_KEY is not set"))
        );
    }
    let state = router.circuits()[&ModelId::Claude];
    assert_eq!((state.failures, state.opened_at), (3, Some(7000)));
    assert_eq!(
        asked("ping", &router, &RouteOptions::default()),
        Err(format!("{exhausted}circuit open for claude: it failed 3 times in a row; next try in 60 s"))
    );
    assert_eq!((router.stats()[&ModelId::Claude].failures, world.asked().len()), (3, 3));
    let lines = world.log.0.lock().unwrap();
    assert_eq!(
        lines.last().unwrap(),
        "Warn [router] attempt failed model=claude code=ROUTER_CIRCUIT_OPEN status=- circuit open for claude: it failed 3 times in a row; \
         next try in 60 s"
    );
}

#[test]
fn an_attempt_that_never_ends_is_dropped_in_time() {
    let world = World::new([Step::Never, Step::Never]);
    let router = two(&world);
    assert_eq!(
        asked(PROMPT, &router, &RouteOptions::default()),
        Err("δ fallback chain exhausted (attempts: 2): \
             [gpt-4o, claude-sonnet-3-5] claude-sonnet-3-5 timed out after 30000 ms"
            .to_owned())
    );
    assert_eq!((router.stats()[&GPT].failures, router.circuits()[&SONNET].failures), (1, 1));
}

#[test]
fn no_attempt_begins_when_the_budget_is_spent() {
    let models = [ModelId::Gpt4oMini, ModelId::Llama3370b, GPT];
    let world = World::new([Step::Never, Step::Never]);
    let error = asked(PROMPT, &world.router(Some(only(&models))), &RouteOptions::default()).unwrap_err();
    assert!(error.starts_with("δ fallback chain exhausted (attempts: 2): [gpt-4o-mini, llama-3-3-70b] "));
    assert_eq!(world.asked(), &models[..2]);
}

#[test]
fn an_attempt_gets_what_is_left_of_the_budget() {
    let down = Err(error(GPT, "down", None, Blame::Provider));
    let world = World::new([Step::After(45_000, down), Step::Never]);
    let error = asked(PROMPT, &two(&world), &RouteOptions::default()).unwrap_err();
    assert!(error.ends_with("claude-sonnet-3-5 timed out after 15000 ms"), "{error}");
}

#[test]
fn anthropic_s_limit_lowers_the_general_one_and_never_raises_it() {
    for (general, anthropic, gpt, sonnet) in [(900, 200, 900, 200), (200, 900, 200, 200)] {
        let world = World::new([Step::Never, Step::Never]);
        let limits = AttemptLimits { attempt_timeout_ms: general, anthropic_timeout_ms: anthropic };
        let scorer = Scorer::new(Some(only(&[GPT, SONNET])));
        let router = Router::new(scorer, limits, world.environment.clone());
        assert!(asked(PROMPT, &router, &RouteOptions::default()).is_err());
        let timeouts: Vec<u32> = world.script.asked.lock().unwrap().iter().map(|(.., ms)| *ms).collect();
        assert_eq!(timeouts, [gpt, sonnet]);
    }
}

#[test]
fn failures_of_the_request_s_own_making_close_no_provider() {
    let junk = || Step::Answer(Err(error(ModelId::Claude, "bad", Some(400), Blame::Request)));
    let world = World::new((0..4).map(|_| junk()));
    let router = world.router(None);
    for calls in 1..=4 {
        assert!(asked("ping", &router, &RouteOptions::default()).is_err());
        assert_eq!(router.stats()[&ModelId::Claude].failures, calls);
    }
    assert!(router.circuits().is_empty());
}

#[test]
fn attempts_that_the_mode_forbids_are_remembered_nowhere() {
    let refused = || {
        Step::Answer(Err(error(ModelId::Claude, "external I/O disabled in mode TEST", None, Blame::Nobody)))
    };
    let world = World::new((0..5).map(|_| refused()));
    let router = world.router(None);
    for _ in 0..5 {
        let error = asked("ping", &router, &RouteOptions::default()).unwrap_err();
        assert!(error.ends_with("[claude] external I/O disabled in mode TEST"), "{error}");
    }
    assert!(router.stats().is_empty() && router.circuits().is_empty());
}

#[test]
fn a_success_closes_the_circuit_s_count() {
    let down = || failure(ModelId::Claude, "down");
    let world = World::new([down(), down(), answer(1, 1, 1), down(), down()]);
    let router = world.router(None);
    let outcomes: Vec<bool> =
        (0..5).map(|_| asked("ping", &router, &RouteOptions::default()).is_ok()).collect();
    assert_eq!(outcomes, [false, false, true, false, false]);
    let state = router.circuits()[&ModelId::Claude];
    assert_eq!((state.failures, state.opened_at), (2, None));
}

#[test]
fn the_walk_measures_on_the_monotonic_clock() {
    let world = World::new((0..3).map(|_| failure(ModelId::Claude, "down")));
    let router = world.router(None);
    for _ in 0..3 {
        assert!(asked("ping", &router, &RouteOptions::default()).is_err());
    }
    world.clock.step_wall(-3_600_000);
    world.clock.pass(59_999);
    let refused = asked("ping", &router, &RouteOptions::default()).unwrap_err();
    assert!(
        refused.ends_with("circuit open for claude: it failed 3 times in a row; next try in 1 s"),
        "{refused}"
    );
    world.clock.pass(1);
    world.then([answer(1, 1, 1)]);
    assert_eq!(asked("ping", &router, &RouteOptions::default()), Ok("claude".to_owned()));
}

#[test]
fn two_calls_at_the_half_open_moment_send_one_attempt() {
    let world = World::new((0..3).map(|_| failure(ModelId::Claude, "down")).chain([Step::Never]));
    // A timer that never rings: the probe stays under way.
    let mut environment = world.environment.clone();
    environment.timer = std::sync::Arc::new(NoTimer);
    let router = Router::new(Scorer::new(None), LIMITS, environment);
    for _ in 0..3 {
        assert!(asked("ping", &router, &RouteOptions::default()).is_err());
    }
    world.clock.pass(60_000);
    let options = RouteOptions::default();
    let mut probe = pin!(router.route("ping", &options));
    assert!(matches!(poll_once(probe.as_mut()), Poll::Pending));
    let refused = asked("ping", &router, &options).unwrap_err();
    assert!(refused.ends_with("circuit open for claude: another call is trying it now"), "{refused}");
    assert_eq!(world.asked().len(), 4);
}

struct NoTimer;

impl crate::domains::router::completion::Sleeper for NoTimer {
    fn sleep(&self, _: u64) -> crate::domains::router::completion::Pending<'static, ()> {
        Box::pin(std::future::pending())
    }
}

#[test]
fn a_cancelled_call_leaves_no_trace_and_its_probe_s_place_free() {
    let world = World::new((0..3).map(|_| failure(ModelId::Claude, "down")).chain([Step::Never]));
    let mut environment = world.environment.clone();
    environment.timer = std::sync::Arc::new(NoTimer);
    let router = Router::new(Scorer::new(None), LIMITS, environment);
    for _ in 0..3 {
        assert!(asked("ping", &router, &RouteOptions::default()).is_err());
    }
    world.clock.pass(60_000);
    let stats = router.stats();
    {
        let options = RouteOptions::default();
        let mut cancelled = pin!(router.route("ping", &options));
        assert!(poll_once(cancelled.as_mut()).is_pending());
    }
    let state = router.circuits()[&ModelId::Claude];
    assert_eq!((state.failures, state.opened_at), (2, None));
    assert_eq!(router.stats(), stats);
    world.then([answer(1, 1, 1)]);
    assert_eq!(asked("ping", &router, &RouteOptions::default()), Ok("claude".to_owned()));
}

#[test]
fn a_panicking_attempt_leaves_the_probe_s_place_free() {
    let world = World::new((0..3).map(|_| failure(ModelId::Claude, "down")).chain([Step::Panic]));
    let router = world.router(None);
    for _ in 0..3 {
        assert!(asked("ping", &router, &RouteOptions::default()).is_err());
    }
    world.clock.pass(60_000);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        asked("ping", &router, &RouteOptions::default())
    }));
    assert!(panicked.is_err());
    world.then([answer(1, 1, 1)]);
    assert_eq!(asked("ping", &router, &RouteOptions::default()), Ok("claude".to_owned()));
}

#[test]
fn a_refusal_by_content_is_an_answer() {
    for reason in ["refusal", "content_filter"] {
        let refused = CompletionResult { stop_reason: reason.to_owned(), ..completion(5, 0, 1) };
        let world = World::new([Step::Answer(Ok(refused))]);
        let result = now(two(&world).route(PROMPT, &RouteOptions::default())).unwrap();
        assert_eq!((result.model, &*result.finish_reason, world.asked()), (GPT, reason, vec![GPT]));
    }
}

#[test]
fn snapshots_taken_before_a_call_stay_as_they_were() {
    let world = World::new([answer(1, 1, 1), failure(ModelId::Claude, "down")]);
    let router = world.router(None);
    assert!(asked("ping", &router, &RouteOptions::default()).is_ok());
    let (circuits, stats) = (router.circuits(), router.stats());
    let copies = (circuits.clone(), stats.clone());
    assert!(asked("ping", &router, &RouteOptions::default()).is_err());
    assert_eq!((circuits, stats), copies);
    assert_ne!((router.circuits(), router.stats()), copies);
}

#[test]
fn empty_texts_count_as_absent_and_the_rest_reaches_the_adapter() {
    let world = World::new([answer(1, 1, 1), answer(1, 1, 1)]);
    let router = world.router(None);
    let empty = Some(String::new());
    let options = RouteOptions { system_prompt: empty.clone(), model: empty, ..RouteOptions::default() };
    assert!(asked("ping", &router, &options).is_ok());
    let text = |text: &str| Some(text.to_owned());
    let options = RouteOptions {
        system_prompt: text("S"),
        model: text("m-1"),
        max_tokens: Some(7),
        ..RouteOptions::default()
    };
    assert!(asked("ping", &router, &options).is_ok());
    let asked = world.script.asked.lock().unwrap();
    let [(_, bare, _), (_, full, _)] = &asked[..] else { panic!("two attempts") };
    assert_eq!((&bare.system_prompt, &bare.upstream_model, bare.max_tokens), (&None, &None, None));
    assert_eq!(bare.prompt, "ping");
    assert_eq!(
        (&full.system_prompt, &full.upstream_model, full.max_tokens),
        (&text("S"), &text("m-1"), Some(7))
    );
}

#[test]
fn a_reset_forgets_circuits_and_keeps_figures() {
    let world = World::new((0..3).map(|_| failure(ModelId::Claude, "down")));
    let router = world.router(None);
    for _ in 0..3 {
        assert!(asked("ping", &router, &RouteOptions::default()).is_err());
    }
    router.reset_circuits(Some(GPT));
    assert_eq!(router.circuits()[&ModelId::Claude].opened_at, Some(at(0).wall_ms));
    router.reset_circuits(None);
    assert!(router.circuits().is_empty());
    assert_eq!(router.stats()[&ModelId::Claude].failures, 3);
    router.reset_stats(None);
    assert!(router.stats().is_empty());
}

#[test]
fn with_bad_candidates_nobody_is_asked() {
    let world = World::new([]);
    let invalid = crate::domains::router::service::ConfigInvalid { reason: "bad JSON".to_owned() };
    let router = Router::new(Err(invalid.clone()), LIMITS, world.environment.clone());
    let routed = now(router.route("ping", &RouteOptions::default()));
    assert_eq!(routed, Err(RouteError::Config(invalid)));
    assert!(router.stats().is_empty() && router.circuits().is_empty());
}
