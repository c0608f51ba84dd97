//! How many round trips a batch takes, counted at the protocol.

use std::time::Duration;

use serde_json::{Value, json};

use super::proxy::{Proxy, Way};
use super::world::{Target, World, launch};

/// Far longer than a server is silent while it sends a flight.
const SILENCE: Duration = Duration::from_millis(150);

#[test]
fn machines_04_a_batch_of_task_create_takes_two_round_trips_for_1_and_for_64_calls() {
    let Some(world) = World::new("") else { return };
    let proxy = Proxy::start(world.cluster.port());
    let mut server = world.launch(&world.database(), proxy.port()).start();
    // The first call stores who calls, too.
    server.data("task_create", json!({ "title": "first" }));
    for calls in [1, 64, 1, 64] {
        proxy.count(SILENCE);
        // What comes at once is one batch: all lines wait in the pipe when the server goes on.
        server.signal("STOP");
        for call in 0..calls {
            server.send_call("task_create", json!({ "title": format!("call {call} of {calls}") }));
        }
        server.signal("CONT");
        for _ in 0..calls {
            let reply = server.receive();
            assert_eq!(reply["result"]["structuredContent"]["ok"], json!(true), "{reply}");
        }
        let sent = String::from_utf8_lossy(&proxy.passed(Way::Up)).into_owned();
        assert_eq!(proxy.flights(), 2, "{calls} calls: {sent}");
        // Enter, turn, effects, mark: one boundary each for any number of calls.
        assert_eq!(sent.matches('S').count(), 4, "{calls} calls: {sent}");
    }
    assert_eq!(server.finish().code(), 0);
}

/// A call, and how often its handler reads.
type Counted = (&'static str, Value, usize);

/// What a handler reads costs a round trip each, and the others wait meanwhile. A number here may fall; before it rises, ask whether a
/// statement in `store.rs` can answer both questions.
fn counted(task: &Value, other: &Value, session: &Value) -> Vec<Counted> {
    let thought =
        json!({ "type": "plan", "task_id": task, "agent_id": "a", "content": "c", "session_id": session });
    vec![
        ("server_ping", json!({}), 0),
        ("task_create", json!({ "title": "third" }), 0),
        ("task_create", json!({ "title": "waits", "depends_on": [task, other] }), 1),
        ("task_get", json!({ "id": task }), 2),
        ("task_update", json!({ "id": task, "status": "GATHER" }), 2),
        ("task_update", json!({ "id": task, "status": "ANALYZE" }), 1),
        ("task_list", json!({ "detail": "brief" }), 2),
        ("task_next_actions", json!({ "detail": "brief", "blocked_limit": 0 }), 3),
        ("task_claim", json!({ "agent_id": "a", "id": other }), 5),
        ("task_history", json!({ "id": task }), 5),
        ("task_release", json!({ "id": other, "claim": 1 }), 2),
        ("audit_session_start", json!({ "intent": "count" }), 1),
        ("thought_record", thought, 3),
        ("merkle_finalize", json!({ "session_id": session }), 16),
    ]
}

#[test]
fn machines_04_handlers_read_no_more_often_than_is_written_down() {
    let Some(world) = World::new("") else { return };
    let (proxy, database) = (Proxy::start(world.cluster.port()), world.database());
    // No renewal of the lease comes in between.
    let target = Target::of(&world, &database, proxy.port()).with("COLIBRI_DATABASE_LEASE_SECONDS", 3_600);
    let mut server = launch(&target, &world.launch(&database, 0).folder()).start();
    let mut first = |title: &str| server.data("task_create", json!({ "title": title }))["id"].clone();
    let (task, other) = (first("first"), first("second"));
    let session = server.data("audit_session_start", json!({ "intent": "count" }))["session_id"].clone();
    let mut more = Vec::new();
    for (tool, arguments, reads) in counted(&task, &other, &session) {
        proxy.count(SILENCE);
        server.data(tool, arguments.clone());
        let found = proxy.flights() - 2;
        if found != reads {
            more.push(format!("{tool} {arguments}: {found} reads, {reads} are written down"));
        }
    }
    assert!(more.is_empty(), "{more:#?}");
    assert_eq!(server.finish().code(), 0);
}
