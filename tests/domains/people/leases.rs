//! Leases that end, and clocks that are wrong. The clocks are moved under the real binary.

use colibri_test_support::wall::Wall;
use serde_json::{Value, json};

use super::claims::{claim, create, refusal};
use super::era::{Client, ERAS, Era, launch};
use super::verified::assert_sound;

const HOUR_MS: i64 = 3_600_000;
/// Beyond the default lease.
const LATER_MS: i64 = 901_000;

fn wall() -> Wall {
    Wall::new(env!("COLIBRI_FILE_LAYER"))
}

fn kinds(client: &mut Client, id: &Value) -> Vec<String> {
    let history = client.data("task_history", json!({ "id": id, "limit": 500 }));
    let events = history["events"].as_array().unwrap().iter().rev();
    events.map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn people_23_the_number_keeps_the_former_holder_from_writing() {
    for era in ERAS {
        let wall = wall();
        let mut client = Client::of(wall.under(launch()), era);
        let id = create(&mut client, json!({}), "A");
        assert_eq!(claim(&mut client, "a", &id)["claim"], 1);
        let error = refusal(&mut client, "task_update", json!({ "id": id, "title": "by b" }));
        assert_eq!((&error["code"], &error["held_by"]), (&json!("ERR_CLAIMED"), &json!("a")));
        client.data("task_update", json!({ "id": id, "title": "by a", "claim": 1 }));
        wall.set(LATER_MS);
        assert_eq!(client.data("task_get", json!({ "id": id })).get("held"), None);
        let taken = claim(&mut client, "b", &id);
        assert_eq!((&taken["claim"], &taken["taken_over_from"]), (&json!(2), &json!("a")));
        let error = refusal(&mut client, "task_update", json!({ "id": id, "title": "by a", "claim": 1 }));
        assert_eq!((&error["code"], &error["newest"]), (&json!("ERR_CLAIM_STALE"), &json!(2)));
        assert_eq!(kinds(&mut client, &id), ["created", "claimed", "changed", "taken_over"]);
        let newest = client.data("task_history", json!({ "id": id, "limit": 1 }))["events"][0].clone();
        assert_eq!(newest["changes"], json!({ "held_by": { "old": "a", "new": "b" } }));
        assert_sound(&client.server);
    }
}

#[test]
fn people_24_a_lease_that_ended_takes_nothing_from_its_holder() {
    for era in ERAS {
        let wall = wall();
        let mut client = Client::of(wall.under(launch()), era);
        let id = create(&mut client, json!({}), "A");
        claim(&mut client, "a", &id);
        wall.set(LATER_MS);
        client.data("task_update", json!({ "id": id, "title": "with its number", "claim": 1 }));
        client.data("task_update", json!({ "id": id, "title": "without a number" }));
        let renewed = client.data("task_claim", json!({ "agent_id": "a", "id": id, "claim": 1 }));
        assert_eq!((&renewed["claim"], &renewed["renewed"]), (&json!(1), &json!(true)));
        assert_eq!(kinds(&mut client, &id), ["created", "claimed", "changed", "changed", "renewed"]);
        assert_sound(&client.server);
    }
}

#[test]
fn people_29_a_clock_that_was_set_back_revives_no_lease() {
    for era in ERAS {
        let (right, wrong) = (wall(), wall());
        let mut client = Client::of(right.under(launch()), era);
        let (one, other) = (create(&mut client, json!({}), "one"), create(&mut client, json!({}), "other"));
        claim(&mut client, "a", &one);
        right.set(LATER_MS);
        claim(&mut client, "a", &other);
        wrong.set(-HOUR_MS);
        let mut back = Client::of(wrong.under(launch().beside(&client.server)), era);
        assert_eq!(back.data("task_get", json!({ "id": one })).get("held"), None);
        assert_eq!(claim(&mut back, "b", &one)["taken_over_from"], "a");
        // What is held is held for the process whose clock is wrong, too.
        assert_eq!(
            refusal(&mut back, "task_claim", json!({ "agent_id": "b", "id": other }))["code"],
            "ERR_CLAIMED"
        );
        assert_sound(&client.server);
        assert_eq!(client.server.finish().warnings(), Vec::<&str>::new());
    }
}

#[test]
fn people_29_a_clock_that_was_a_year_ahead_is_forgotten_with_one_warning() {
    const YEAR_MS: i64 = 365 * 24 * HOUR_MS;
    let wall = wall();
    let mut client = Client::of(wall.under(launch()), Era::Handshake);
    let (one, other) = (create(&mut client, json!({}), "one"), create(&mut client, json!({}), "other"));
    wall.set(YEAR_MS);
    claim(&mut client, "a", &one);
    wall.set(0);
    assert_eq!(
        client.data("task_get", json!({ "id": one })).get("held"),
        None,
        "no lease beyond a day is live"
    );
    assert_eq!(claim(&mut client, "b", &one)["taken_over_from"], "a");
    assert_eq!(claim(&mut client, "b", &other)["claim"], 1);
    assert_sound(&client.server);
    let ended = client.server.finish();
    let warnings = ended.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("[tasks] claims went by "), "{warnings:?}");
}
