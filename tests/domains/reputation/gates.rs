//! `reputation_check_gates`.

use serde_json::{Value, json};

use crate::reputation::world::World;

const RULES: &str = "245c4b805d8c805060f738863d241db27a5f9fc5b43988a4a9cc94e99b62ab1c";

fn check(world: &mut World, node_id: &str, epoch: i64) -> Value {
    world.server.data("reputation_check_gates", json!({ "node_id": node_id, "current_epoch": epoch }))
}

#[test]
fn an_unknown_node_gets_what_a_newcomer_gets() {
    let mut world = World::new();
    let nothing =
        json!({ "present": false, "score": 0, "ceiling": 10_000, "banned": false, "ban_until_epoch": null });
    for epoch in [0, 7] {
        let expected = json!({
            "node_id": "ghost",
            "current_epoch": epoch,
            "gates": {
                "max_parallel_tasks": 0, "rate_limit_bonus": 0, "stake_discount": 100_000,
                "can_arbitrate": false, "can_govern": false,
            },
            "domains": {
                "execution": nothing, "commissioning": nothing, "arbitration": nothing, "governance": nothing,
                "social": nothing,
            },
            "rule_version_hash": RULES,
        });
        assert_eq!(check(&mut world, "ghost", epoch), expected);
    }
}

#[test]
fn gates_follow_the_decaying_scores() {
    let mut world = World::new();
    for (domain, score) in [("execution", 6000), ("arbitration", 7000), ("governance", 4100)] {
        world.put("n", domain, score, 100);
    }
    for (epoch, [execution, arbitration, governance], stake, can_arbitrate, can_govern) in [
        (100, [6000, 7000, 4100], 16_666, true, true),
        (101, [5700, 6300, 4018], 17_543, true, true),
        (102, [5415, 5670, 3938], 18_467, true, false),
        (103, [5145, 5103, 3860], 19_436, true, false),
        (104, [4888, 4593, 3783], 20_458, false, false),
    ] {
        let data = check(&mut world, "n", epoch);
        let gates = json!({
            "max_parallel_tasks": 20, "rate_limit_bonus": 12, "stake_discount": stake,
            "can_arbitrate": can_arbitrate, "can_govern": can_govern,
        });
        assert_eq!(data["gates"], gates, "epoch {epoch}");
        let scores = ["execution", "arbitration", "governance", "social"]
            .map(|domain| &data["domains"][domain]["score"]);
        assert_eq!(json!(scores), json!([execution, arbitration, governance, 0]), "epoch {epoch}");
        assert_eq!(data["domains"]["social"]["present"], false);
        assert_eq!(data["domains"]["execution"]["present"], true);
    }
}

#[test]
fn a_ban_closes_its_gate_until_its_end() {
    let mut world = World::new();
    world.put_row("n", "governance", (9000, 500), Some(20), 10);
    let banned = check(&mut world, "n", 19);
    assert_eq!(banned["gates"]["can_govern"], false);
    let free = check(&mut world, "n", 20);
    assert_eq!(free["gates"]["can_govern"], true);
    let domain = |banned: bool, score: i64| json!({ "present": true, "score": score, "ceiling": 9500, "banned": banned, "ban_until_epoch": 20 });
    assert_eq!(free["domains"]["governance"], domain(false, 7357));
    assert_eq!(banned["domains"]["governance"]["banned"], true);
    assert_eq!(banned["domains"]["governance"]["ban_until_epoch"], 20);
}
