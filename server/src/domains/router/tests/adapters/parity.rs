//! The parity matrix (router#adapters, rule 7): what must hold for every adapter, from one table. A result must not
//! reveal which provider answered.

use crate::domains::router::adapters;
use crate::domains::router::completion::{Blame, CompletionResult};
use crate::domains::router::model_id::MODELS;
use crate::domains::router::profile::{PROFILES, Profile};
use crate::domains::router::settings::Target;
use serde_json::{Value, json};

use crate::domains::router::tests::adapters::fixtures::of;
use crate::domains::router::tests::adapters::support::{
    answer, attempt, bare_config, built, config, parsed, request, status,
};

/// An invariant and its name in failures.
type Invariant = (&'static str, fn(Profile));

const INVARIANTS: [Invariant; 8] = [
    ("shape", shape),
    ("determinism", determinism),
    ("token accounting", token_accounting),
    ("reason mapping", reason_mapping),
    ("tool use", tool_use),
    ("errors", errors),
    ("retries", retries),
    ("settings", settings),
];

#[test]
fn every_adapter_keeps_every_invariant() {
    let mut broken = Vec::new();
    for profile in PROFILES {
        for (name, invariant) in INVARIANTS {
            if std::panic::catch_unwind(|| invariant(profile)).is_err() {
                broken.push(format!("{profile}: {name}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:?}; the assertions are above");
}

fn result(profile: Profile, name: &str) -> CompletionResult {
    parsed(profile, &of(profile, name)).unwrap_or_else(|error| panic!("{profile} {name}: {error}"))
}

/// The same conversation gives the same result, except for the version string.
fn shape(profile: Profile) {
    let success = result(profile, "success");
    let expected = CompletionResult {
        content: "Hello there.".to_owned(),
        model: success.model.clone(),
        prompt_tokens: 1000,
        completion_tokens: 500,
        latency_ms: 7,
        stop_reason: "end_turn".to_owned(),
    };
    assert_eq!(success, expected);
    assert_ne!(success.model, "m-1", "the provider's own word counts");
    assert_eq!(result(profile, "empty_content").content, "");
}

fn determinism(profile: Profile) {
    for name in ["success", "tool_call", "length"] {
        assert_eq!(result(profile, name), result(profile, name));
    }
    assert_eq!(built(profile, &request("ping")).0.body, built(profile, &request("ping")).0.body);
}

fn token_accounting(profile: Profile) {
    let counted = result(profile, "success");
    assert_eq!((counted.prompt_tokens, counted.completion_tokens), (1000, 500));
    let uncounted = result(profile, "success_without_usage");
    assert_eq!((uncounted.prompt_tokens, uncounted.completion_tokens), (0, 0));
}

fn reason_mapping(profile: Profile) {
    let filtered = if profile == Profile::Anthropic { "refusal" } else { "content_filter" };
    for (name, reason) in [
        ("success", "end_turn"),
        ("length", "max_tokens"),
        ("tool_call", "tool_use"),
        ("empty_content", "end_turn"),
        ("content_filter", filtered),
    ] {
        assert_eq!(result(profile, name).stop_reason, reason, "{name}");
    }
}

fn tool_use(profile: Profile) {
    let blocks: Value = serde_json::from_str(&result(profile, "tool_call").content).expect("blocks");
    let id = blocks[1]["id"].as_str().expect("an id").to_owned();
    let call = json!({ "type": "tool_use", "id": id, "name": "lookup", "input": { "a": 1 } });
    assert_eq!(blocks, json!([{ "type": "text", "text": "I look it up." }, call]));
    assert!(!id.is_empty());
}

fn errors(profile: Profile) {
    for (name, status, blame) in [
        ("error_400", 400, Blame::Request),
        ("error_401", 401, Blame::Provider),
        ("error_403", 403, Blame::Provider),
        ("error_404", 404, Blame::Request),
        ("error_429", 429, Blame::Provider),
        ("error_500", 500, Blame::Provider),
        ("error_503", 503, Blame::Provider),
        ("malformed_json", 200, Blame::Provider),
        ("wrong_shape", 200, Blame::Provider),
    ] {
        let error = parsed(profile, &of(profile, name)).expect_err("an error");
        assert_eq!((error.status, error.blame), (Some(status), blame), "{name}");
        assert_eq!(error.code.to_string(), format!("{}_API_ERROR", profile.prefix()), "{name}");
        let told = error.message.strip_prefix(&format!("{profile} API error {status}: "));
        assert!(told.is_some_and(|told| !told.is_empty()), "{name}: {}", error.message);
        assert_eq!(told == Some("malformed response"), status == 200, "{name}");
    }
}

/// Runs it through every model that is bound to the profile.
fn retries(profile: Profile) {
    for model in MODELS.into_iter().filter(|model| model.profile() == profile) {
        let recovered = attempt(
            config(&[]),
            model,
            30_000,
            vec![answer(of(profile, "error_503")), answer(of(profile, "success"))],
        );
        assert_eq!((recovered.waits.as_slice(), recovered.result.is_ok()), (&[100][..], true), "{model}");
        let limited =
            attempt(config(&[]), model, 30_000, vec![answer(of(profile, "error_429")), status(401)]);
        assert_eq!((limited.waits.as_slice(), limited.requests()), (&[1000][..], 2), "{model}");
    }
}

fn settings(profile: Profile) {
    let missing = Target::of_profile(&bare_config(&[]), profile, "m".to_owned()).err().expect("no key");
    assert_eq!(missing.message, format!("COLIBRI_{}_API_KEY is not set", profile.prefix()));
    let base = format!("COLIBRI_{}_BASE_URL", profile.prefix());
    let elsewhere = config(&[(&base, "https://proxy.example/llm/")]);
    let target = Target::of_profile(&elsewhere, profile, "m".to_owned()).expect("good settings");
    let url = adapters::build(&target, &request("ping")).url;
    assert!(url.starts_with("https://proxy.example/llm/") && !url.contains("//llm"), "{url}");
    let refused = Target::of_profile(&config(&[(&base, "http://proxy.example")]), profile, "m".to_owned());
    let expected = format!("{base} is not an acceptable base URL: plain http is for this machine only");
    assert_eq!(refused.err().expect("a refusal").message, expected);
}
