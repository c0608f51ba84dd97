//! A server whose providers are all on this machine.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use colibri::domains::router::model_id::ModelId;
use colibri::domains::router::profile::PROFILES;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

/// A base URL without a listener: a call that a test did not mean to make ends here.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The real server, every provider nowhere and without keys.
pub fn launch() -> Launch {
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    PROFILES.into_iter().fold(launch, |launch, profile| launch.env(&profile.base_variable(), NOWHERE))
}

/// Every provider is this one, and the key opens it.
pub fn launch_with(provider: &Loopback, key: &str) -> Launch {
    PROFILES.into_iter().fold(launch(), |launch, profile| {
        launch.env(&profile.base_variable(), provider.url("")).env(&profile.key_variable(), key)
    })
}

/// Returns a key that cannot have been written down before.
pub fn canary() -> String {
    format!("sk-canary-{:016x}", RandomState::new().hash_one("canary"))
}

/// A file of candidates for the launch: these models, the first one the cheapest and so the best.
pub fn candidates(launch: Launch, models: &[&str]) -> Launch {
    let rows = models.iter().zip(1..).map(|(model, place)| {
        json!({
            "model_id": model,
            "provider": "scripted",
            "context_window_tokens": 100_000,
            "latency_tier": "fast",
            "cost_bps_per_kilotoken": place * 50,
            "domain_fit_profile": 1,
            "enabled": true,
            "input_microusd_per_kilotoken": place * 1000,
            "output_microusd_per_kilotoken": place * 2000,
        })
    });
    let path = launch.folder().path().join("candidates.json");
    std::fs::write(&path, json!({ "candidates": rows.collect::<Value>() }).to_string()).unwrap();
    launch.env("COLIBRI_ROUTER_CANDIDATES", format!("file:{}", path.display()))
}

/// A provider that plays a script, and a server that has only it.
pub struct World {
    pub server: Server,
    pub provider: Loopback,
    pub key: String,
}

impl World {
    pub fn playing(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::around(Loopback::playing(script), |launch| launch)
    }

    /// With these candidates.
    pub fn with(models: &[&str], script: impl IntoIterator<Item = Reply>) -> Self {
        Self::around(Loopback::playing(script), |launch| candidates(launch, models))
    }

    pub fn around(provider: Loopback, change: impl FnOnce(Launch) -> Launch) -> Self {
        let key = canary();
        let mut server = change(launch_with(&provider, &key)).start();
        server.ready_by("task_list", json!({}));
        Self { server, provider, key }
    }

    /// A call that succeeds; its payload without the time it took.
    pub fn call(&mut self, arguments: Value) -> Value {
        let mut data = self.server.data("router_call", arguments);
        let latency = data.as_object_mut().and_then(|data| data.shift_remove("latencyMs"));
        assert!(latency.is_some_and(|latency| latency.is_u64()), "{data}");
        data
    }

    /// Makes a call that fails, and returns the message without the text before the cause.
    pub fn failure(&mut self, arguments: Value) -> String {
        let envelope = self.server.call("router_call", arguments);
        let message = exhaustion(&envelope);
        let (_, cause) = message.split_once("] ").expect("a cause");
        assert!(!envelope.to_string().contains(&self.key), "{envelope}");
        cause.to_owned()
    }

    /// The row of a model in the statistics.
    pub fn stats(&mut self, model: &str) -> Value {
        self.server.data("router_stats", json!({}))["models"][model].clone()
    }
}

/// Returns the message of a chain that was exhausted; its details hold what the error declares.
pub fn exhaustion(envelope: &Value) -> String {
    assert_eq!(envelope["ok"], false, "{envelope}");
    let error = envelope["error"].as_object().expect("an error");
    assert_eq!(error["code"], "HANDLER_ERROR", "{envelope}");
    assert_eq!(error.len(), 3, "code, message and details only: {envelope}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.starts_with("\u{3b4} fallback chain exhausted (attempts: "), "{message}");
    let details = error["details"].as_object().expect("details");
    let members: Vec<&str> = details.keys().map(String::as_str).collect();
    assert_eq!(members, ["code", "count", "models", "cause", "remedy", "next"], "{envelope}");
    assert!(message.ends_with(details["cause"].as_str().expect("a cause")), "{envelope}");
    message.to_owned()
}

/// A provider's answer from the adapters' fixtures.
pub fn fixture(folder: &str, name: &str) -> Reply {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src/domains/router/tests/vectors");
    let path = root.join(folder).join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let fixture: Value = serde_json::from_str(&text).unwrap();
    let status = u16::try_from(fixture["status"].as_u64().unwrap()).unwrap();
    match fixture["text"].as_str() {
        Some(text) => Reply::new(status, text),
        None => Reply::json(status, &fixture["body"]),
    }
}

/// The folder of a model's provider.
pub fn folder_of(model: ModelId) -> String {
    model.profile().prefix().to_ascii_lowercase()
}
