//! Where candidates come from, and what a bad source stops.

use colibri::domains::router::candidates::{LatencyTier, built_in};
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use serde_json::{Value, json};

use crate::router_tools::world::{DEFAULT_HASH, PROVIDERS, auto_8, down_8, failed, launch};

const SOURCE: &str = "COLIBRI_ROUTER_CANDIDATES";

fn scored(server: &mut Server) -> Value {
    server.data("router_score", json!({ "prompt": "Review this Rust function" }))
}

/// The models that can be asked at all.
fn rated(server: &mut Server) -> Vec<String> {
    let scored = scored(server);
    let scores = scored["scores"].as_object().unwrap().iter();
    scores.filter(|(_, score)| score.as_f64().unwrap() > 0.0).map(|(model, _)| model.clone()).collect()
}

/// A server whose candidates are the file's.
fn with_file(text: &str) -> (Launch, String) {
    let launch = launch();
    let path = launch.folder().path().join("candidates.json");
    std::fs::write(&path, text).unwrap();
    let source = format!("file:{}", path.display());
    (launch.env(SOURCE, &source), path.display().to_string())
}

#[test]
fn auto_takes_the_models_whose_provider_has_a_key() {
    let mut server = launch()
        .env(SOURCE, "auto")
        .env("COLIBRI_OPENAI_API_KEY", "k1")
        .env("COLIBRI_KIMI_API_KEY", " ")
        .start();
    assert_eq!(rated(&mut server), ["gpt-4o", "gpt-4o-mini"]);
    let mut server = auto_8().start();
    assert_eq!(rated(&mut server).len(), 8);
    let mut server = launch().env(SOURCE, "auto").start();
    assert_eq!(rated(&mut server), ["claude"], "without any key the answer is the constant");
}

#[test]
fn a_bad_source_stops_scoring_and_calling_and_nothing_else() {
    let (bad_json, path) = with_file("{\"candidates\": [\n  {\"model_id\": \"gpt-5\"}]}");
    let directory = launch();
    let folder = format!("file:{}", directory.folder().path().display());
    let cases = [
        (
            launch().env(SOURCE, "file:/nonexistent"),
            "the file of candidates cannot be read: No such file or directory",
        ),
        (directory.env(SOURCE, folder), "the file of candidates cannot be read: not a regular file"),
        (bad_json, "the file of candidates is not valid: unknown variant `gpt-5`"),
    ];
    for (launch, fault) in cases {
        let mut server = launch.start();
        for tool in ["router_score", "router_call"] {
            let message = failed(&mut server, tool, json!({ "prompt": "x" }));
            let reason =
                message.strip_prefix("ROUTER_CONFIG_INVALID: ").unwrap_or_else(|| panic!("{message}"));
            assert!(reason.starts_with(fault), "{message}");
            assert!(reason.ends_with("; mend what COLIBRI_ROUTER_CANDIDATES names and restart"), "{message}");
            assert!(!message.contains(&path), "{message}");
        }
        assert_eq!(server.data("router_stats", json!({})), json!({ "models": {} }));
        assert_eq!(server.data("router_fallback", json!({})), json!({ "circuitState": {} }));
        server.data("task_create", json!({ "title": "other domains go on" }));
        let ended = server.finish();
        assert_eq!(ended.code(), 0);
        let told = ended.stderr.lines().filter(|line| line.contains(fault)).count();
        assert_eq!(told, 1, "{}", ended.stderr);
    }
}

#[test]
fn a_source_of_no_known_form_ends_the_start() {
    for bad in ["bogus", "file:", "DB"] {
        let ended = launch().env(SOURCE, bad).start().wait();
        assert_eq!(ended.code(), 1, "{bad}");
        let message = "COLIBRI_ROUTER_CANDIDATES must be one of off, auto, db, file:<path>";
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
}

#[test]
fn a_file_brings_candidates_and_weights() {
    let row = json!({
        "model_id": "kimi-k2", "provider": "moonshot", "context_window_tokens": 1000, "latency_tier": "fast",
        "cost_bps_per_kilotoken": 1, "domain_fit_profile": 255, "enabled": true,
    });
    let (server, _) = with_file(&json!({ "candidates": [row] }).to_string());
    let scores = scored(&mut server.start());
    assert_eq!((&scores["winner"], &scores["rule_version_hash"]), (&json!("kimi-k2"), &json!(DEFAULT_HASH)));
    let weights = json!({
        "task_domain_match": 2200, "context_window_fit": 2200, "cost_efficiency": 1300, "latency_fit": 1300,
        "reliability": 1300, "skill_match": 1300, "operator_preference": 500,
    });
    let (server, _) = with_file(&json!({ "candidates": [row], "weights": weights }).to_string());
    let hash = "ec9247ae943142446ff16d3547d2074970c4f088930bafd462fb3c55c3b51264";
    assert_eq!(scored(&mut server.start())["rule_version_hash"], hash);
}

#[test]
fn the_table_is_seeded_with_the_built_in_rows() {
    let mut server = launch().start();
    server.data("task_list", json!({}));
    let sql = server.sql();
    let mut rows = sql.prepare("SELECT * FROM mcp_model_candidates ORDER BY model_id").unwrap();
    let stored = rows.query_map([], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, i64>(2)?,
            row.get::<_, String>(3)?,
            row.get::<_, i64>(4)?,
            row.get::<_, i64>(5)?,
            row.get::<_, bool>(6)?,
        ))
    });
    let stored: Vec<_> = stored.unwrap().map(Result::unwrap).collect();
    let mut expected: Vec<_> = built_in(|model| model.as_str() == "claude-sonnet-3-5")
        .into_iter()
        .map(|row| {
            let tier = match row.latency_tier {
                LatencyTier::Fast => "fast",
                LatencyTier::Balanced => "balanced",
                LatencyTier::Slow => "slow",
            };
            let (window, cost) = (row.context_window_tokens as i64, row.cost_bps_per_kilotoken as i64);
            let profile = i64::from(row.domain_fit_profile);
            (row.model_id.to_string(), row.provider, window, tier.to_owned(), cost, profile, row.enabled)
        })
        .collect();
    expected.sort();
    assert_eq!(stored, expected);
}

#[test]
fn the_table_is_read_at_the_start_and_not_again() {
    let mut server = launch().env(SOURCE, "db").start();
    assert_eq!(rated(&mut server), ["claude-sonnet-3-5"]);
    let sql = server.sql();
    let changed = "UPDATE mcp_model_candidates SET enabled = 1 WHERE provider = 'openai'";
    assert_eq!(sql.execute(changed, []).unwrap(), 2);
    let unknown = "INSERT INTO mcp_model_candidates VALUES ('gpt-5', 'openai', 1, 'fast', 0, 1, 1)";
    assert_eq!(sql.execute(unknown, []).unwrap(), 1);
    assert_eq!(rated(&mut server), ["claude-sonnet-3-5"], "the snapshot stays");
    let folder = server.shared_folder();
    assert_eq!(server.finish().code(), 0);
    for mode in ["FULL", "READONLY"] {
        let launch = launch().in_folder(folder.clone()).env(SOURCE, "db").env("COLIBRI_MODE", mode);
        let mut server = launch.start();
        assert_eq!(rated(&mut server), ["claude-sonnet-3-5", "gpt-4o", "gpt-4o-mini"], "{mode}");
        let ended = server.finish();
        let skipped = ended.stderr.lines().filter(|line| line.contains("unknown ids are skipped: \"gpt-5\""));
        assert_eq!(skipped.count(), 1, "{}", ended.stderr);
    }
}

#[test]
fn a_table_that_is_gone_or_out_of_range_is_a_bad_source() {
    for (damage, fault) in [
        ("DROP TABLE mcp_model_candidates", "ROUTER_CONFIG_INVALID: the candidates cannot be read: "),
        (
            "UPDATE mcp_model_candidates SET context_window_tokens = 0 WHERE model_id = 'gpt-4o'",
            "ROUTER_CONFIG_INVALID: the candidate gpt-4o is not valid: context_window_tokens must be at least 1",
        ),
    ] {
        let mut server = launch().start();
        server.data("task_list", json!({}));
        server.sql().execute(damage, []).unwrap();
        let folder = server.shared_folder();
        server.finish();
        let mut server = launch().in_folder(folder).env(SOURCE, "db").start();
        let message = failed(&mut server, "router_score", json!({ "prompt": "x" }));
        // A shared database with another schema is refused as a whole.
        let fault = match damage.starts_with("DROP") && engine::is_postgres() {
            true => "STARTUP_FAILED: table mcp_model_candidates is missing",
            false => fault,
        };
        assert!(message.starts_with(fault), "{message}");
    }
}

#[test]
fn an_open_circuit_does_not_change_scores() {
    let mut server = down_8().start();
    let before = scored(&mut server);
    for _ in 0..3 {
        failed(&mut server, "router_call", json!({ "prompt": "ping" }));
    }
    let circuits = server.data("router_fallback", json!({}))["circuitState"].clone();
    assert!(circuits["gpt-4o"]["openedAt"].is_u64(), "{circuits}");
    assert_eq!(scored(&mut server), before);
}

#[test]
fn every_member_of_the_chain_is_told_of() {
    let mut server = auto_8().start();
    let message = failed(&mut server, "router_call", json!({ "prompt": "hello" }));
    let chain = "[gpt-4o-mini, llama-3-3-70b, claude-haiku-3-5, mixtral-8x22b, kimi-k2, gpt-4o, \
                 claude-sonnet-3-5, gemini-1-5-pro]";
    let start = format!("δ fallback chain exhausted (attempts: 8): {chain} COLIBRI_GEMINI_BASE_URL is not");
    assert!(message.starts_with(&start), "{message}");
    let ended = server.finish();
    let lines = ended.stderr.lines().filter(|line| line.contains("[router] attempt failed model="));
    assert_eq!(lines.count(), 8, "{}", ended.stderr);
    assert!(PROVIDERS.iter().all(|provider| ended.stderr.contains(&format!("code={provider}_CONFIG_ERROR"))));
}
