//! How many round trips a batch takes, counted at the protocol.

use std::time::Duration;

use serde_json::json;

use super::proxy::{Proxy, Way};
use super::world::World;

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
