//! Configurations, a network that plays a script, and a clock that only sleeping moves.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::domains::router::adapters;
use crate::domains::router::attempt::Providers;
use crate::domains::router::completion::{
    AttemptError, Completion, CompletionRequest, CompletionResult, Pending, Sleeper,
};
use crate::domains::router::http::{HttpRequest, HttpResponse, NetworkFailure};
use crate::domains::router::model_id::ModelId;
use crate::domains::router::profile::{PROFILES, Profile};
use crate::domains::router::redact::Redaction;
use crate::domains::router::settings::Target;
use crate::domains::router::transport::Transport;
use crate::settings::config::{Config, load_config};
use crate::settings::environment::Environment;
use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::kernel::Clock;
use serde_json::Value;

/// A key that no test may find in a text.
pub const KEY: &str = "sk-canary-4f9a1b2c3d4e";

/// Every provider's key set, and its base URL a place on this machine; then the variables given, where an empty
/// value unsets one.
pub fn config(variables: &[(&str, &str)]) -> Config {
    let mut environment = Environment::default();
    let standard = PROFILES.into_iter().flat_map(|profile| {
        [
            (profile.key_variable(), KEY.to_owned()),
            (profile.base_variable(), "http://127.0.0.1:9/v1".to_owned()),
        ]
    });
    for (name, value) in standard {
        environment = environment.with(name, value);
    }
    for (name, value) in variables {
        environment = environment.with(*name, *value);
    }
    load_config(&environment, 1).unwrap_or_else(|problems| panic!("{problems:?}")).0
}

/// Only these variables.
pub fn bare_config(variables: &[(&str, &str)]) -> Config {
    load_config(&variables.iter().copied().collect(), 1).unwrap_or_else(|problems| panic!("{problems:?}")).0
}

pub fn redaction() -> Redaction {
    Redaction::new([KEY])
}

pub fn request(prompt: &str) -> CompletionRequest {
    CompletionRequest { prompt: prompt.to_owned(), ..CompletionRequest::default() }
}

/// A provider of [`config`], asked for the model `m-1`.
pub fn target(profile: Profile) -> Target {
    Target::of_profile(&config(&[]), profile, "m-1".to_owned()).expect("the settings are good")
}

/// The body of the request that is built.
pub fn built(profile: Profile, request: &CompletionRequest) -> (HttpRequest, Value) {
    let built = adapters::build(&target(profile), request);
    let body = serde_json::from_str(&built.body).expect("a JSON body");
    (built, body)
}

/// What the adapter reads in a response; `m-1` was asked for.
pub fn parsed(profile: Profile, response: &HttpResponse) -> Result<CompletionResult, AttemptError> {
    adapters::parse(profile, "m-1", response, 7, &redaction())
}

/// What the scripted network does with one request, and how long it takes over it.
pub struct Step {
    pub takes_ms: u64,
    pub result: Result<HttpResponse, NetworkFailure>,
}

/// A status with an empty body.
pub fn status(status: u16) -> Step {
    answer(HttpResponse { status, retry_after: None, body: Vec::new() })
}

/// A status with a `Retry-After`.
pub fn retry_after(status: u16, value: &str) -> Step {
    answer(HttpResponse { status, retry_after: Some(value.to_owned()), body: Vec::new() })
}

pub fn answer(response: HttpResponse) -> Step {
    Step { takes_ms: 0, result: Ok(response) }
}

pub fn fails(failure: NetworkFailure) -> Step {
    Step { takes_ms: 0, result: Err(failure) }
}

/// What an attempt left behind.
pub struct Outcome {
    pub result: Result<CompletionResult, AttemptError>,
    /// The waits between requests, in milliseconds.
    pub waits: Vec<u64>,
    /// The time each request was given, in milliseconds.
    pub limits: Vec<u64>,
    /// What was logged.
    pub log: Vec<(Level, String)>,
}

impl Outcome {
    /// How many requests were sent.
    pub fn requests(&self) -> usize {
        self.limits.len()
    }

    /// The error's code and text.
    pub fn error(&self) -> (String, &str) {
        let error = self.result.as_ref().expect_err("the attempt fails");
        (error.code.to_string(), &error.message)
    }
}

/// Makes one attempt against a script.
pub fn attempt(config: Config, model: ModelId, timeout_ms: u32, script: Vec<Step>) -> Outcome {
    let world = Arc::new(World { script: Mutex::new(script.into()), ..World::default() });
    let providers =
        Providers::new(Arc::new(config), world.clone(), world.clone(), world.clone(), world.clone());
    let request = request("ping");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let result = runtime.block_on(providers.complete(model, &request, timeout_ms));
    let taken = |list: &Mutex<Vec<u64>>| list.lock().expect("a list").clone();
    let log = world.log.lock().expect("a log").clone();
    Outcome { result, waits: taken(&world.waits), limits: taken(&world.limits), log }
}

#[derive(Default)]
struct World {
    script: Mutex<VecDeque<Step>>,
    now_ms: AtomicU64,
    waits: Mutex<Vec<u64>>,
    limits: Mutex<Vec<u64>>,
    log: Mutex<Vec<(Level, String)>>,
}

impl Transport for World {
    fn send(
        &self,
        request: Arc<HttpRequest>,
        timeout_ms: u64,
    ) -> Pending<'static, Result<HttpResponse, NetworkFailure>> {
        assert!(request.loopback, "a test reaches for the network");
        self.limits.lock().expect("the limits").push(timeout_ms);
        let step =
            self.script.lock().expect("the script").pop_front().expect("a request more than the script has");
        self.now_ms.fetch_add(step.takes_ms, Ordering::Relaxed);
        Box::pin(async move { step.result })
    }
}

impl Sleeper for World {
    fn sleep(&self, ms: u64) -> Pending<'static, ()> {
        self.waits.lock().expect("the waits").push(ms);
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
        Box::pin(async {})
    }
}

impl Clock for World {
    fn monotonic_ms(&self) -> f64 {
        self.now_ms.load(Ordering::Relaxed) as f64
    }
    fn wall_ms(&self) -> i64 {
        0
    }
}

impl Log for World {
    fn enabled(&self, _: Level) -> bool {
        true
    }
    fn write(&self, level: Level, message: &str) {
        self.log.lock().expect("the log").push((level, message.to_owned()));
    }
}
