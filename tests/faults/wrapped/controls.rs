//! The checks notice a relay that makes a mistake, and find nothing with one that makes none.

use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;

use super::judge::What;
use super::kills::round;
use super::peer::{Relay, Setup};

/// Rounds until a mistake must have been noticed.
const ROUNDS: u64 = 40;

/// What the first round that finds something has found.
fn noticed(fault: &'static str, rounds: u64) -> Option<(u64, What, String)> {
    (1..=rounds).find_map(|seed| {
        let finding = round(7_000 + seed, Relay::Careless(fault), "full").err()?;
        Some((seed, finding.what, finding.text))
    })
}

#[test]
fn wrap_38_each_mistake_of_a_careless_relay_is_noticed() {
    for (fault, expected) in [
        ("late-rows", &[What::NoRow, What::NoReply][..]),
        ("loose-ids", &[What::Invented]),
        ("changed-byte", &[What::OtherBytes]),
        ("loose-group", &[What::Left]),
        ("held-replies", &[What::Held]),
    ] {
        let found = noticed(fault, ROUNDS);
        let (_, what, text) = found.unwrap_or_else(|| panic!("{fault} is not noticed in {ROUNDS} rounds"));
        assert!(expected.contains(&what), "{fault} shows as {what:?}: {text}");
    }
}

#[test]
fn wrap_38_a_relay_without_a_mistake_is_found_sound() {
    assert_eq!(noticed("none", 5), None);
}

/// How many calls the server has looked for, and how many of their rows it did not find.
fn looks(relay: Relay) -> (usize, usize) {
    let folder = Arc::new(TempDir::new().unwrap());
    let setup = Setup { looks: true, ..Setup::new(relay, "odd", &folder) };
    let mut client = setup.start();
    assert!(client.greet());
    for id in 0..20 {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "echo", "arguments": {} } }));
        assert_eq!(client.message()["id"], id);
    }
    let log = std::fs::read_to_string(setup.log()).unwrap();
    (log.matches("row yes").count() + log.matches("row no").count(), log.matches("row no").count())
}

#[test]
fn wrap_18_a_server_that_looks_for_its_rows_notices_a_relay_that_writes_them_late() {
    assert_eq!(looks(Relay::Wrap), (20, 0));
    assert_eq!(looks(Relay::Careless("none")), (20, 0));
    let (looked, missing) = looks(Relay::Careless("late-rows"));
    assert!(looked == 20 && missing > 0, "{missing} of {looked} rows were missing");
}
