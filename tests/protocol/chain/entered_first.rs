//! A call that changes anything has its row before it runs.

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::options::{AuditChoice, Options};
use colibri::lifecycle::server::create_server;
use colibri::tools::Domains;
use colibri_test_support::embed::{Spy, Wire, block_on, converse, options};
use colibri_test_support::engine;
use colibri_test_support::sql::Refused;
use serde_json::{Value, json};

use super::failure;

/// Valid arguments for each tool that says it does more than read.
fn changing() -> Vec<(&'static str, Value)> {
    let tuple = json!({ "merkle_root_hex": "ab".repeat(32), "rule_version_hash_hex": "cd".repeat(32) });
    let mut vote = tuple.clone();
    vote["vote_type"] = json!("ACCEPT");
    vec![
        ("consensus_propose", json!({ "event": tuple })),
        ("consensus_vote", json!({ "round_id": "1", "vote": vote })),
        ("audit_session_start", json!({ "intent": "x" })),
        ("merkle_finalize", json!({ "session_id": "s1" })),
        ("router_call", json!({ "prompt": "x" })),
        ("router_fallback", json!({ "reset": true })),
        ("task_create", json!({ "title": "x" })),
        ("task_update", json!({ "id": "t1", "title": "y" })),
        ("task_claim", json!({ "agent_id": "a" })),
        ("task_release", json!({ "id": "t1", "claim": 1 })),
        (
            "thought_record",
            json!({ "type": "plan", "task_id": "t1", "agent_id": "a", "content": "x", "session_id": "s1" }),
        ),
    ]
}

#[test]
fn no_tool_that_changes_anything_runs_before_its_row_is_stored() {
    let changes = |listing: &str| {
        let entry: Value = serde_json::from_str(listing).unwrap();
        entry["annotations"]["readOnlyHint"] == false
    };
    let mut named: Vec<&str> =
        CATALOGUE.tools.iter().filter(|tool| changes(tool.listing)).map(|tool| tool.name).collect();
    let mut covered: Vec<&str> = changing().iter().map(|(name, _)| *name).collect();
    named.sort_unstable();
    covered.sort_unstable();
    assert_eq!(named, covered);

    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let (dispatch, ran) = Spy::new(Dispatcher(Domains::default()));
    let options = Options { audit: AuditChoice::ByMode, ..options(streams, folder.path()) };
    let mut server = create_server(&CATALOGUE, dispatch, options).unwrap();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        assert_eq!(wire.call("task_list", json!({})).await["ok"], true);
        let conn = engine::open(folder.path().join("colibri.db"));
        conn.refuse(Refused::Commits("actions"));
        ran.set(0);
        for (tool, arguments) in changing() {
            let envelope = wire.call(tool, arguments).await;
            assert_eq!(failure(&envelope).0, "AUDIT_ENTER_FAILED", "{tool}: {envelope}");
            assert_eq!(ran.get(), 0, "{tool} has run");
        }
        conn.allow();
        for (tool, arguments) in changing() {
            wire.call(tool, arguments).await;
            assert_eq!(ran.replace(0), 1, "{tool} runs once its row is stored");
        }
    }));
}
