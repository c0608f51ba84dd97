//! Servers without keys, and what they answer.

use colibri_test_support::client::{Launch, Server};
use serde_json::{Value, json};

/// The rule hash of the default pack (rules#version-hash).
pub const DEFAULT_HASH: &str = "4a669a1f33dc25902015d1686374ef13ca5b0eba09f8ff7f677408d4ee8352a9";
/// What a call says that finds no key.
pub const NO_KEY: &str =
    "δ fallback chain exhausted (attempts: 1): [claude] COLIBRI_ANTHROPIC_API_KEY is not set";
/// The tools, in order.
pub const TOOLS: [&str; 4] = ["router_score", "router_call", "router_fallback", "router_stats"];
/// The providers that models are bound to.
pub const PROVIDERS: [&str; 6] = ["ANTHROPIC", "OPENAI", "GEMINI", "LLAMA", "MISTRAL", "KIMI"];

/// The real server in a fresh folder, and no variable of the router's.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// The same with a key for every provider, and all of them candidates. Nothing may call them: their base URLs are
/// refused.
pub fn auto_8() -> Launch {
    let keyed = launch().env("COLIBRI_ROUTER_CANDIDATES", "auto");
    PROVIDERS.iter().fold(keyed, |launch, provider| {
        launch
            .env(&format!("COLIBRI_{provider}_API_KEY"), "sk-never-sent-anywhere")
            .env(&format!("COLIBRI_{provider}_BASE_URL"), "http://example.invalid")
    })
}

/// The real server with a key, and a provider that is not there: nothing listens on that port of this machine.
pub fn down() -> Launch {
    launch()
        .env("COLIBRI_ANTHROPIC_API_KEY", "sk-never-sent-anywhere")
        .env("COLIBRI_ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
}

/// All eight candidates, and no provider that is there.
pub fn down_8() -> Launch {
    PROVIDERS.iter().fold(auto_8(), |launch, provider| {
        launch.env(&format!("COLIBRI_{provider}_BASE_URL"), "http://127.0.0.1:9")
    })
}

/// Asserts that stage 2 refuses the call; the issues.
pub fn invalid(server: &mut Server, tool: &str, arguments: &Value) -> Vec<Value> {
    let envelope = server.call(tool, arguments.clone());
    assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{tool} {arguments}: {envelope}");
    envelope["error"]["details"]["issues"].as_array().expect("issues").clone()
}

/// Asserts that the handler fails, with a message and what the error declares; the message.
pub fn failed(server: &mut Server, tool: &str, arguments: Value) -> String {
    let envelope = server.call(tool, arguments);
    assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{tool}: {envelope}");
    assert_eq!(envelope["error"].as_object().unwrap().len(), 3, "code, message and details: {envelope}");
    assert!(envelope["error"]["details"]["remedy"].is_string(), "{envelope}");
    envelope["error"]["message"].as_str().unwrap().to_owned()
}

/// What has become of attempts so far.
pub fn stats(server: &mut Server) -> Value {
    server.data("router_stats", json!({}))["models"].clone()
}

/// The circuits so far.
pub fn circuits(server: &mut Server) -> Value {
    server.data("router_fallback", json!({}))["circuitState"].clone()
}
