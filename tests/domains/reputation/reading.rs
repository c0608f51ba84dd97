//! `reputation_get`.

use serde_json::json;

use crate::reputation::world::World;

#[test]
fn a_node_without_rows_is_no_error() {
    let mut world = World::new();
    let one = json!({ "node_id": "ghost", "domain": "social", "current_epoch": 0 });
    assert_eq!(world.server.data("reputation_get", one), json!({ "row": null, "current_epoch": 0 }));
    let all = json!({ "node_id": "ghost", "current_epoch": 0 });
    assert_eq!(world.server.data("reputation_get", all), json!({ "rows": [], "current_epoch": 0 }));
}

#[test]
fn rows_are_listed_by_the_names_of_their_domains() {
    let mut world = World::new();
    for (domain, score) in
        [("social", 1), ("execution", 2), ("governance", 3), ("commissioning", 4), ("arbitration", 5)]
    {
        world.put("n", domain, score, 0);
    }
    world.put("m", "execution", 9, 0);
    let data = world.server.data("reputation_get", json!({ "node_id": "n", "current_epoch": 0 }));
    let listed: Vec<_> =
        data["rows"].as_array().unwrap().iter().map(|row| (&row["domain"], &row["score"])).collect();
    let expected =
        json!([["arbitration", 5], ["commissioning", 4], ["execution", 2], ["governance", 3], ["social", 1]]);
    assert_eq!(json!(listed), expected);
}

#[test]
fn a_read_takes_decay_off_and_stores_nothing() {
    let mut world = World::new();
    world.put_row("n", "execution", (8000, 1000), Some(150), 100);
    let before = world.rows();
    for (epoch, score) in
        [(100, 8000), (101, 7600), (102, 7220), (110, 4793), (150, 624), (196, 67), (99, 8000)]
    {
        let row = json!({
            "node_id": "n", "domain": "execution", "score": score, "scar_bps": 1000,
            "ban_until_epoch": 150, "last_activity_epoch": 100,
        });
        assert_eq!(world.row("n", "execution", epoch), row, "epoch {epoch}");
        let all = world.server.data("reputation_get", json!({ "node_id": "n", "current_epoch": epoch }));
        assert_eq!(all, json!({ "rows": [row], "current_epoch": epoch }), "epoch {epoch}");
        world.server.data("reputation_check_gates", json!({ "node_id": "n", "current_epoch": epoch }));
        let board = json!({ "domain": "execution", "current_epoch": epoch });
        assert_eq!(
            world.server.data("reputation_leaderboard", board),
            json!({ "rows": [row], "current_epoch": epoch })
        );
    }
    assert_eq!(world.rows(), before);
}

#[test]
fn a_standing_without_events_fades_however_long_ago_the_last_one_was() {
    let mut world = World::new();
    world.put("n", "execution", 8000, 100);
    let now = world.server.data("reputation_get", json!({ "node_id": "n" }))["current_epoch"].clone();
    assert_eq!(world.score("n", now.as_i64().unwrap()), 19);
    let beyond = json!({ "node_id": "n", "domain": "execution", "current_epoch": 9_007_199_254_740_992_i64 });
    let issues = world.invalid("reputation_get", beyond);
    assert_eq!(issues[0]["path"], json!(["current_epoch"]), "{issues:?}");
}

#[test]
fn node_and_epoch_are_taken_as_they_are() {
    let mut world = World::new();
    for (arguments, field, code) in [
        (json!({ "node_id": "", "current_epoch": 0 }), "node_id", "too_small"),
        (json!({ "node_id": 5, "current_epoch": 0 }), "node_id", "invalid_type"),
        (json!({ "current_epoch": 0 }), "node_id", "invalid_type"),
        (json!({ "node_id": "n", "current_epoch": -1 }), "current_epoch", "too_small"),
        (json!({ "node_id": "n", "current_epoch": 1.5 }), "current_epoch", "invalid_type"),
        (json!({ "node_id": "n", "current_epoch": "7" }), "current_epoch", "invalid_type"),
        (json!({ "node_id": "n", "current_epoch": null }), "current_epoch", "invalid_type"),
    ] {
        for tool in ["reputation_get", "reputation_check_gates"] {
            let issues = world.invalid(tool, arguments.clone());
            assert_eq!(issues.len(), 1, "{arguments}: {issues:?}");
            assert_eq!(
                (&issues[0]["path"], &issues[0]["code"]),
                (&json!([field]), &json!(code)),
                "{arguments}"
            );
        }
    }
    let missing = world.invalid("reputation_get", json!({ "current_epoch": 0 }));
    assert_eq!(missing[0]["message"], "Invalid input: expected string, received undefined");
    let taken = json!({ "node_id": " ", "current_epoch": 7.0 });
    assert_eq!(world.server.data("reputation_get", taken), json!({ "rows": [], "current_epoch": 7 }));
    // JSON has one type of number: these are integers too.
    for number in ["7.0", "7e0", "70e-1"] {
        let arguments = format!("{{\"node_id\":\"n\",\"current_epoch\":{number}}}");
        let arguments = serde_json::from_str(&arguments).unwrap();
        assert_eq!(world.server.data("reputation_get", arguments)["current_epoch"], 7, "{number}");
    }
}

#[test]
fn the_five_domains_are_all_there_are() {
    let mut world = World::new();
    for domain in [json!("Execution"), json!("karma"), json!(null), json!("")] {
        for tool in ["reputation_get", "reputation_leaderboard", "reputation_history"] {
            let mut arguments = json!({ "domain": domain });
            if tool != "reputation_history" {
                arguments["current_epoch"] = json!(0);
            }
            if tool != "reputation_leaderboard" {
                arguments["node_id"] = json!("n");
            }
            let issues = world.invalid(tool, arguments);
            assert_eq!(issues[0]["path"], json!(["domain"]), "{tool} {domain}: {issues:?}");
            assert_eq!(issues.len(), 1, "{tool} {domain}: {issues:?}");
        }
    }
}

#[test]
fn an_unknown_key_is_named() {
    let mut world = World::new();
    let arguments = json!({ "node_id": "n", "current_epoch": 0, "score": 1 });
    for tool in ["reputation_get", "reputation_check_gates"] {
        let issues = world.invalid(tool, arguments.clone());
        assert_eq!(issues[0]["code"], "unrecognized_keys", "{issues:?}");
        assert_eq!(issues[0]["message"], "Unrecognized key: \"score\"");
    }
}
