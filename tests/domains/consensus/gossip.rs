//! The exchange with a peer, of which one arbiter has none.

use colibri_test_support::stored::stored;
use serde_json::json;

use crate::consensus::world::World;

#[test]
fn one_arbiter_has_nobody_to_gossip_with() {
    let mut world = World::proposed();
    let before = stored(&world.sql);
    let nothing = json!({ "events_sent": [], "events_received": [] });
    for arguments in [
        json!({ "peer_id": "p" }),
        json!({ "peer_id": "p", "events": ["e1", "e2", "e3"] }),
        json!({ "peer_id": "p".repeat(256), "events": vec!["e".repeat(256); 1_000] }),
    ] {
        assert_eq!(world.server.data("consensus_gossip", arguments), nothing);
    }
    assert_eq!(stored(&world.sql), before);
}

#[test]
fn peers_and_events_have_their_limits() {
    let mut world = World::new();
    for arguments in [
        json!({}),
        json!({ "peer_id": "" }),
        json!({ "peer_id": "p".repeat(257) }),
        json!({ "peer_id": 1 }),
        json!({ "peer_id": "p", "events": "x" }),
        json!({ "peer_id": "p", "events": [1] }),
        json!({ "peer_id": "p", "events": [""] }),
        json!({ "peer_id": "p", "events": ["e".repeat(257)] }),
        json!({ "peer_id": "p", "events": vec!["e"; 1_001] }),
        json!({ "peer_id": "p", "events": null }),
        json!({ "peer_id": "p", "more": 1 }),
    ] {
        world.invalid("consensus_gossip", arguments);
    }
}

#[test]
fn no_events_are_no_events() {
    let reply = World::new().server.data("consensus_gossip", json!({ "peer_id": "p", "events": [] }));
    assert_eq!(reply, json!({ "events_sent": [], "events_received": [] }));
}
