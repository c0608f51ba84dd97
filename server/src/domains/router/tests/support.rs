//! Candidates, contexts, and a world without a network: clocks that stand still, scripted answers, a log that
//! remembers.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::domains::router::candidates::{Candidate, Snapshot, built_in};
use crate::domains::router::circuit::Moment;
use crate::domains::router::completion::{
    AttemptCode, AttemptError, Blame, Completion, CompletionRequest, CompletionResult, Pending, Sleeper,
};
use crate::domains::router::decision::{Emitter, RoutingDecision};
use crate::domains::router::fallback::{AttemptLimits, RouterEnv};
use crate::domains::router::model_id::ModelId;
use crate::domains::router::rules::Weights;
use crate::domains::router::scoring::{ScoreContext, Task};
use crate::domains::router::service::{Router, Scorer};
use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::kernel::Clock;

/// The rule hash of the default pack (rules#version-hash).
pub const DEFAULT_HASH: &str = "4a669a1f33dc25902015d1686374ef13ca5b0eba09f8ff7f677408d4ee8352a9";

/// The eight built-in rows, all enabled.
pub fn auto_8() -> Snapshot {
    Snapshot::new(built_in(|_| true), Weights::default())
}

/// A snapshot of these models alone.
pub fn only(models: &[ModelId]) -> Snapshot {
    Snapshot::new(built_in(|model| models.contains(&model)), Weights::default())
}

/// A candidate that is equal to every other but for its name.
pub fn plain(model_id: ModelId) -> Candidate {
    let row = built_in(|_| true).remove(0);
    Candidate { model_id, ..row }
}

/// A context of nothing but a task.
pub fn about(task: Task) -> ScoreContext {
    ScoreContext { task, ..ScoreContext::default() }
}

/// A moment at which both clocks agree.
pub fn at(ms: u64) -> Moment {
    Moment { monotonic_ms: ms, wall_ms: ms as i64 }
}

/// Clocks that move when they are told to.
#[derive(Default)]
pub struct FakeClock {
    now: Mutex<(u64, i64)>,
}

impl FakeClock {
    /// Lets both clocks run.
    pub fn pass(&self, ms: u64) {
        let mut now = self.now.lock().unwrap();
        *now = (now.0 + ms, now.1 + ms as i64);
    }

    /// Sets the wall clock back or forth; the monotonic one does not notice.
    pub fn step_wall(&self, ms: i64) {
        self.now.lock().unwrap().1 += ms;
    }
}

impl Clock for FakeClock {
    fn monotonic_ms(&self) -> f64 {
        self.now.lock().unwrap().0 as f64
    }

    fn wall_ms(&self) -> i64 {
        self.now.lock().unwrap().1
    }
}

/// A timer that lets its milliseconds pass at once.
pub struct FakeTimer(pub Arc<FakeClock>);

impl Sleeper for FakeTimer {
    fn sleep(&self, ms: u64) -> Pending<'static, ()> {
        let clock = self.0.clone();
        Box::pin(async move { clock.pass(ms) })
    }
}

/// What a scripted attempt does.
pub enum Step {
    /// It brings this.
    Answer(Result<CompletionResult, AttemptError>),
    /// It brings this after so many milliseconds.
    After(u64, Result<CompletionResult, AttemptError>),
    /// It never ends.
    Never,
    /// It panics.
    Panic,
}

/// Answers from a script, and what it was asked.
pub struct Script {
    pub steps: Mutex<VecDeque<Step>>,
    pub asked: Mutex<Vec<(ModelId, CompletionRequest, u32)>>,
    pub clock: Arc<FakeClock>,
}

impl Completion for Script {
    fn complete<'a>(
        &'a self,
        model: ModelId,
        request: &'a CompletionRequest,
        timeout_ms: u32,
    ) -> Pending<'a, Result<CompletionResult, AttemptError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push((model, request.clone(), timeout_ms));
            let step = self.steps.lock().unwrap().pop_front();
            match step.expect("the script is longer than the walk") {
                Step::Answer(answer) => answer,
                Step::After(ms, answer) => {
                    self.clock.pass(ms);
                    answer
                }
                Step::Never => std::future::pending().await,
                Step::Panic => panic!("as the script has it"),
            }
        })
    }
}

/// Remembers its lines.
#[derive(Default)]
pub struct Lines(pub Mutex<Vec<String>>);

impl Log for Lines {
    fn enabled(&self, _: Level) -> bool {
        true
    }

    fn write(&self, level: Level, message: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {message}"));
    }
}

/// Remembers its records.
#[derive(Default)]
pub struct Records(pub Mutex<Vec<RoutingDecision>>);

impl Emitter for Records {
    fn emit(&self, decision: &RoutingDecision) -> Result<(), String> {
        self.0.lock().unwrap().push(decision.clone());
        Ok(())
    }
}

/// A router with everything around it in the test's hands.
pub struct World {
    pub clock: Arc<FakeClock>,
    pub script: Arc<Script>,
    pub log: Arc<Lines>,
    pub records: Arc<Records>,
    pub environment: RouterEnv,
}

/// The limits that hold unless a variable says otherwise.
pub const LIMITS: AttemptLimits = AttemptLimits { attempt_timeout_ms: 30_000, anthropic_timeout_ms: 30_000 };

impl World {
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let clock = Arc::new(FakeClock::default());
        let steps = Mutex::new(steps.into_iter().collect());
        let script = Arc::new(Script { steps, asked: Mutex::default(), clock: clock.clone() });
        let (log, records) = (Arc::new(Lines::default()), Arc::new(Records::default()));
        let environment = RouterEnv {
            completion: script.clone(),
            clock: clock.clone(),
            timer: Arc::new(FakeTimer(clock.clone())),
            log: log.clone(),
            emitter: records.clone(),
        };
        Self { clock, script, log, records, environment }
    }

    /// The router over candidates, or without any.
    pub fn router(&self, snapshot: Option<Snapshot>) -> Router {
        Router::new(Scorer::new(snapshot), LIMITS, self.environment.clone())
    }

    /// Puts more steps at the script's end.
    pub fn then(&self, steps: impl IntoIterator<Item = Step>) {
        self.script.steps.lock().unwrap().extend(steps);
    }

    /// The models that were really asked.
    pub fn asked(&self) -> Vec<ModelId> {
        self.script.asked.lock().unwrap().iter().map(|(model, ..)| *model).collect()
    }
}

/// Runs a future that never has to wait.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match poll_once(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits for something"),
    }
}

/// Polls a future once.
pub fn poll_once<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A completion of so many tokens.
pub fn answer(prompt_tokens: u64, completion_tokens: u64, latency_ms: u64) -> Step {
    Step::Answer(Ok(completion(prompt_tokens, completion_tokens, latency_ms)))
}

/// The same, bare.
pub fn completion(prompt_tokens: u64, completion_tokens: u64, latency_ms: u64) -> CompletionResult {
    CompletionResult {
        content: "pong".to_owned(),
        model: "some-version-1".to_owned(),
        prompt_tokens,
        completion_tokens,
        latency_ms,
        stop_reason: "end_turn".to_owned(),
    }
}

/// A failure of the provider of `model`.
pub fn failure(model: ModelId, message: &str) -> Step {
    Step::Answer(Err(error(model, message, Some(500), Blame::Provider)))
}

pub fn error(model: ModelId, message: &str, status: Option<u16>, blame: Blame) -> AttemptError {
    AttemptError { code: AttemptCode::Api(model.profile()), message: message.to_owned(), status, blame }
}
