//! The constant, what is refused, and the chapter's first example to the byte.

use colibri_test_support::actions::action_of;
use colibri_test_support::engine;
use serde_json::{Map, Value, json};

use crate::router_tools::world::{DEFAULT_HASH, auto_8, invalid, launch};

/// All nine scores, in order.
fn scores(listed: [(&str, f64); 9]) -> Value {
    listed.into_iter().map(|(model, score)| (model.to_owned(), json!(score))).collect::<Map<_, _>>().into()
}

fn constant() -> Value {
    json!({
        "scores": scores([
            ("claude", 1.0), ("claude-sonnet-3-5", 0.0), ("claude-haiku-3-5", 0.0), ("gpt-4o", 0.0),
            ("gpt-4o-mini", 0.0), ("gemini-1-5-pro", 0.0), ("llama-3-3-70b", 0.0), ("mixtral-8x22b", 0.0),
            ("kimi-k2", 0.0),
        ]),
        "winner": "claude",
        "rule_version_hash": DEFAULT_HASH,
    })
}

#[test]
fn and_05_without_candidates_nothing_changes_the_answer() {
    let mut server = launch().start();
    let plain = server.data("router_score", json!({ "prompt": "hi" }));
    assert_eq!(plain, constant());
    assert_eq!(plain.to_string(), constant().to_string(), "in the models' order");
    for context in [
        json!({}),
        json!({ "task": {} }),
        json!({
            "task": { "domain": "", "tokens": 150_000, "deadline_ms": 0, "skill": ["coding"] },
            "operatorPreference": { "gpt-4o": 1 },
        }),
    ] {
        let scored = server.data("router_score", json!({ "prompt": "Review this", "context": context }));
        assert_eq!(scored, plain, "{context}");
    }
}

#[test]
fn and_07_a_prompt_is_required_and_says_something() {
    let mut server = launch().start();
    for arguments in [json!({ "prompt": "" }), json!({}), json!({ "prompt": 5 }), json!({ "prompt": null })] {
        let issues = invalid(&mut server, "router_score", &arguments);
        assert_eq!(issues.len(), 1, "{arguments}");
        assert_eq!(issues[0]["path"], json!(["prompt"]), "{arguments}");
    }
}

#[test]
fn a_key_among_the_arguments_is_refused_and_kept_nowhere() {
    let mut server = launch().env("COLIBRI_LOG_LEVEL", "trace").start();
    let envelope = server.call("router_score", json!({ "prompt": "x", "apiKey": "s3cr3t" }));
    assert_eq!(envelope["error"]["details"]["issues"][0]["message"], "Unrecognized key: \"apiKey\"");
    assert!(!envelope.to_string().contains("s3cr3t"), "{envelope}");
    // The row was closed by stage 2: the handler did not run.
    let row = action_of(&server.sql(), "router_score");
    assert_eq!(row.end(), ("invalid", Some("INVALID_PARAMS")));
    let folder = server.shared_folder();
    let mut bytes = engine::contents(&server.database());
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            bytes.extend(std::fs::read(path).unwrap());
        }
    }
    assert!(bytes.windows(12).any(|part| part == b"router_score"), "the row is in the files");
    assert!(!bytes.windows(6).any(|part| part == b"s3cr3t"));
    let ended = server.finish();
    assert!(!ended.stderr.contains("s3cr3t"), "{}", ended.stderr);
}

#[test]
fn snapshots_and_counts_are_not_the_caller_s_to_give() {
    let mut server = launch().start();
    for key in ["candidatesSnapshot", "weightsSnapshot", "toolCount", "complexity"] {
        let issues = invalid(&mut server, "router_score", &json!({ "prompt": "x", "context": { key: [] } }));
        assert_eq!(issues[0]["path"], json!(["context"]));
        assert_eq!(issues[0]["message"], format!("Unrecognized key: \"{key}\""));
    }
}

#[test]
fn tokens_are_whole_and_not_negative() {
    let mut server = launch().start();
    let with = |tokens: Value| json!({ "prompt": "x", "context": { "task": { "tokens": tokens } } });
    for tokens in [json!(-1), json!(1.5), json!("3"), json!(null), json!(9_007_199_254_740_992_u64)] {
        let issues = invalid(&mut server, "router_score", &with(tokens));
        assert_eq!(issues[0]["path"], json!(["context", "task", "tokens"]));
    }
    for tokens in [json!(0), json!(3.0), json!(9_007_199_254_740_991_u64)] {
        assert_eq!(server.data("router_score", with(tokens)), constant());
    }
}

#[test]
fn preferences_are_0_to_1_and_other_names_are_nobody_s() {
    let mut server = auto_8().start();
    let with = |preference: Value| json!({ "prompt": "x", "context": { "operatorPreference": preference } });
    for value in [json!(1.01), json!(-0.1), json!("1"), json!(null)] {
        let issues = invalid(&mut server, "router_score", &with(json!({ "gpt-4o": value })));
        assert_eq!(issues[0]["path"], json!(["context", "operatorPreference", "gpt-4o"]));
    }
    let without = server.data("router_score", json!({ "prompt": "x" }));
    // `json!` would take the name for a prototype no more than the server does.
    for preference in [json!({ "nope": 0.5 }), json!({ "__proto__": 1 }), json!({ "constructor": 0, "": 1 })]
    {
        assert_eq!(server.data("router_score", with(preference)), without);
    }
    assert_ne!(server.data("router_score", with(json!({ "gpt-4o": 1 }))), without);
}

#[test]
fn spaces_and_a_mebibyte_are_prompts() {
    let mut server = launch().start();
    for prompt in ["   ".to_owned(), "x".repeat(1024 * 1024)] {
        assert_eq!(server.data("router_score", json!({ "prompt": prompt })), constant());
    }
}

#[test]
fn example_a_over_the_wire_is_the_same_a_hundred_times() {
    let mut server = auto_8().start();
    let arguments = json!({
        "prompt": "Review this Rust function",
        "context": { "task": {
            "domain": "code_review", "tokens": 12_000, "deadline_ms": 6000, "skill": ["coding"],
        } },
    });
    let first = server.data("router_score", arguments.clone());
    assert_eq!(
        first,
        json!({
            "scores": scores([
                ("claude", 0.0), ("claude-sonnet-3-5", 0.779), ("claude-haiku-3-5", 0.5234), ("gpt-4o", 0.7891),
                ("gpt-4o-mini", 0.5476), ("gemini-1-5-pro", 0.5165), ("llama-3-3-70b", 0.6176),
                ("mixtral-8x22b", 0.5062), ("kimi-k2", 0.6627),
            ]),
            "winner": "gpt-4o",
            "rule_version_hash": DEFAULT_HASH,
        })
    );
    for _ in 0..100 {
        assert_eq!(server.data("router_score", arguments.clone()).to_string(), first.to_string());
    }
}

#[test]
fn what_scoring_refuses() {
    let mut server = launch().start();
    let task = |key: &str, value: Value| json!({ "prompt": "x", "context": { "task": { key: value } } });
    for arguments in [
        json!({ "prompt": "x", "context": null }),
        json!({ "prompt": "x", "context": { "task": null } }),
        task("deadline_ms", json!(-1)),
        task("deadline_ms", json!(1.5)),
        task("domain", json!(5)),
        task("skill", json!("x")),
        task("skill", json!([1])),
        task("more", json!(1)),
    ] {
        invalid(&mut server, "router_score", &arguments);
    }
}
