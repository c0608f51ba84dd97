//! The writer's penalty step over real tables (reputation#penalties).

use colibri::domains::reputation::domain::{DOMAINS, Domain};
use colibri::domains::reputation::event::Acker;
use colibri::domains::reputation::penalty::Band;
use colibri::domains::reputation::writer::Refusal;
use colibri_runtime::handler::Failure;
use serde_json::json;

use crate::reputation::world::World;

#[test]
fn fraud_in_all_domains_binds_a_node_without_rows() {
    let mut world = World::new();
    for domain in DOMAINS {
        world.penalise_for("fraud", ("mallory", domain), Band::Fraud, 100).unwrap();
    }
    let data = world.server.data("reputation_get", json!({ "node_id": "mallory", "current_epoch": 100 }));
    let rows = data["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let told = json!([row["score"], row["scar_bps"], row["ban_until_epoch"], row["last_activity_epoch"]]);
        assert_eq!(told, json!([0, 5000, 200, 100]), "{row}");
    }
    world.put("bob", "execution", 10_000, 300);
    for epoch in 101..=120 {
        world.gain("mallory", (10_000, Acker::Peer("bob")), epoch);
    }
    assert_eq!(world.score("mallory", 120), 5000);
    let gates =
        world.server.data("reputation_check_gates", json!({ "node_id": "mallory", "current_epoch": 120 }));
    assert_eq!(gates["domains"]["execution"]["ceiling"], 5000);
    assert_eq!(gates["domains"]["execution"]["banned"], true);
}

#[test]
fn a_penalty_is_taken_once_for_an_event_and_band() {
    let world = World::new();
    let whom = ("mallory", Domain::Arbitration);
    let first = world.penalise_for("evidence", whom, Band::Critical, 100).unwrap();
    assert_eq!((first.row.score, first.row.ban_until_epoch), (0, Some(200)));
    let before = world.rows();
    match world.penalise_for("evidence", whom, Band::Critical, 101) {
        Err(Failure::Domain(Refusal::Double(double))) => {
            assert_eq!(double.to_string(), "DoublePenaltyError: event evidence already penalised as critical")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(world.rows(), before);
    // Another band for the same event does not count as double jeopardy, and neither does another domain.
    world.penalise_for("evidence", whom, Band::Minor, 101).unwrap();
    world.penalise_for("evidence", ("mallory", Domain::Social), Band::Critical, 101).unwrap();
    world.assert_ledger_is_sound();
    assert_eq!(
        world.text("SELECT reason FROM reputation_history WHERE id = 1", &[]),
        "penalty:critical:offence"
    );
}

#[test]
fn scars_add_up_and_bans_are_never_shortened() {
    let mut world = World::new();
    world.put("mallory", "execution", 8000, 100);
    let first = world.penalise("mallory", Band::Fraud, 111);
    assert_eq!((first.row.score, first.row.scar_bps, first.row.ban_until_epoch), (0, 5000, Some(211)));
    let second = world.penalise("mallory", Band::Fraud, 112);
    assert_eq!((second.row.scar_bps, second.row.ban_until_epoch), (7500, Some(212)));
    world.penalise("mallory", Band::Severe, 113);
    let row = world.row("mallory", "execution", 113);
    assert_eq!((&row["scar_bps"], &row["ban_until_epoch"]), (&json!(7500), &json!(212)));
}
