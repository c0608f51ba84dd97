//! The circuits and figures of a process, read and reset.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::router_tools::world::{circuits, down, down_8, failed, invalid, launch, stats};

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

#[test]
fn and_56_a_fresh_process_remembers_nothing() {
    let mut server = launch().start();
    assert_eq!(server.data("router_fallback", json!({})), json!({ "circuitState": {} }));
    assert_eq!(server.data("router_stats", json!({})), json!({ "models": {} }));
    let answer = server.request("tools/call", json!({ "name": "router_stats" }));
    assert_eq!(answer["result"]["structuredContent"], json!({ "ok": true, "data": { "models": {} } }));
    assert_eq!(invalid(&mut server, "router_stats", &json!({ "a": 1 })).len(), 1);
}

#[test]
fn three_failures_open_the_circuit_and_the_fourth_call_is_refused() {
    let mut server = down().start();
    let ping = json!({ "prompt": "ping" });
    let before = now_ms();
    for failures in 1..=3 {
        let message = failed(&mut server, "router_call", ping.clone());
        assert!(message.contains("(attempts: 1): [claude] Anthropic request failed: "), "{message}");
        assert_eq!(circuits(&mut server)["claude"]["failures"], failures);
    }
    let opened = circuits(&mut server)["claude"]["openedAt"].as_u64().expect("a time");
    assert!((before..=now_ms()).contains(&opened), "{opened}");
    let refused = failed(&mut server, "router_call", ping);
    let begins = "δ fallback chain exhausted (attempts: 1): [claude] circuit open for claude: it failed 3 times in a row; ";
    assert!(refused.starts_with(begins), "{refused}");
    assert_eq!(
        stats(&mut server),
        json!({ "claude": {
            "calls_total": 3, "successes": 0, "failures": 3, "avg_cost_usd": 0.0, "p50_latency_ms": 0,
            "success_rate": 0.0,
        } })
    );
    let ended = server.finish();
    let lines: Vec<&str> =
        ended.stderr.lines().filter(|line| line.contains("[router] attempt failed")).collect();
    let missing = "WARN [router] attempt failed model=claude code=ANTHROPIC_API_ERROR status=- \
                   Anthropic request failed: ";
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[..3].iter().all(|line| line.contains(missing)), "{lines:?}");
    assert!(lines[3].contains("code=ROUTER_CIRCUIT_OPEN status=- circuit open for claude"), "{}", lines[3]);
}

#[test]
fn and_49_a_reset_forgets_and_a_read_does_not() {
    // Eight candidates that are not there: one call touches them all.
    let mut server = down_8().start();
    failed(&mut server, "router_call", json!({ "prompt": "ping" }));
    let all = circuits(&mut server);
    assert_eq!(all.as_object().unwrap().len(), 8, "{all}");
    let figures = stats(&mut server);
    for read in [json!({ "reset": false, "model_id": "gpt-4o" }), json!({ "model_id": "gpt-4o" }), json!({})]
    {
        assert_eq!(server.data("router_fallback", read)["circuitState"], all);
    }
    let mut others = all.clone();
    others.as_object_mut().unwrap().shift_remove("gpt-4o");
    for _ in 0..2 {
        let reset = server.data("router_fallback", json!({ "reset": true, "model_id": "gpt-4o" }));
        assert_eq!(reset, json!({ "circuitState": others }));
    }
    assert_eq!(server.data("router_fallback", json!({ "reset": true })), json!({ "circuitState": {} }));
    assert_eq!(stats(&mut server), figures, "figures stay");
}

#[test]
fn only_known_models_and_booleans_are_taken() {
    let mut server = down().start();
    failed(&mut server, "router_call", json!({ "prompt": "ping" }));
    for arguments in [json!({ "model_id": "gpt-5" }), json!({ "reset": "true" }), json!({ "x": 1 })] {
        assert_eq!(invalid(&mut server, "router_fallback", &arguments).len(), 1);
    }
    assert_eq!(circuits(&mut server)["claude"]["failures"], 1, "nothing was reset");
}
