//! `reputation_history`.

use colibri_test_support::sqlite_only;
use serde_json::{Value, json};

use crate::reputation::world::World;

fn page(world: &mut World, limit: Option<i64>, offset: Option<i64>) -> Value {
    let mut arguments = json!({ "node_id": "n", "domain": "execution" });
    for (name, value) in [("limit", limit), ("offset", offset)] {
        if let Some(value) = value {
            arguments[name] = json!(value);
        }
    }
    world.server.data("reputation_history", arguments)
}

fn epochs(page: &Value) -> Vec<i64> {
    page["events"].as_array().unwrap().iter().map(|event| event["epoch"].as_i64().unwrap()).collect()
}

#[test]
fn events_come_newest_first_in_pages_of_fifty() {
    let mut world = World::new();
    for epoch in 1..=100 {
        world.remember("n", "execution", epoch, 1 - epoch);
        world.remember("n", "social", epoch, 7);
        world.remember("m", "execution", epoch, 7);
    }
    let first = page(&mut world, None, None);
    assert_eq!(epochs(&first), (51..=100).rev().collect::<Vec<_>>());
    assert_eq!(first["next_offset"], 50);
    let event = json!({
        "id": 298, "node_id": "n", "domain": "execution", "epoch": 100, "delta": -99, "reason": "put", "event_id": "e-100",
    });
    assert_eq!(first["events"][0], event);
    let second = page(&mut world, None, Some(50));
    assert_eq!(epochs(&second), (1..=50).rev().collect::<Vec<_>>());
    assert_eq!(second["next_offset"], json!(null));
    let end = json!({ "events": [], "next_offset": null });
    for offset in [100, 101, 9_007_199_254_740_991] {
        assert_eq!(page(&mut world, None, Some(offset)), end, "offset {offset}");
    }
    assert_eq!(page(&mut world, Some(99), None)["next_offset"], 99);
    assert_eq!(page(&mut world, Some(100), None)["next_offset"], json!(null));
    assert_eq!(page(&mut world, Some(10), Some(85))["next_offset"], 95);
}

#[test]
fn within_an_epoch_the_higher_id_comes_first() {
    let mut world = World::new();
    // Imported events may come after later ones.
    for (epoch, delta) in [(5, 1), (5, 2), (3, 3), (5, 4), (4, 5)] {
        world.remember("n", "execution", epoch, delta);
    }
    let listed = page(&mut world, None, None);
    let listed: Vec<_> =
        listed["events"].as_array().unwrap().iter().map(|event| (&event["epoch"], &event["id"])).collect();
    assert_eq!(json!(listed), json!([[5, 4], [5, 2], [5, 1], [4, 5], [3, 3]]));
}

#[test]
fn a_page_is_read_from_an_index_without_sorting() {
    sqlite_only!("it reads the plans of SQLite");
    let world = World::new();
    let sql = "EXPLAIN QUERY PLAN SELECT id, epoch, delta, reason, event_id FROM reputation_history \
               WHERE node_id = 'n' AND domain = 'd' ORDER BY epoch DESC, id DESC LIMIT 51 OFFSET 0";
    let mut statement = world.sql.prepare(sql).unwrap();
    let plan: Vec<String> = statement.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
    assert_eq!(plan.len(), 1, "{plan:?}");
    assert!(plan[0].contains("USING INDEX idx_history_node (node_id=? AND domain=?)"), "{plan:?}");
}

#[test]
fn limits_are_refused_not_clamped() {
    let mut world = World::new();
    for (name, value, code) in [
        ("limit", json!(0), "too_small"),
        ("limit", json!(501), "too_big"),
        ("limit", json!(1.5), "invalid_type"),
        ("offset", json!(-1), "too_small"),
        ("offset", json!(null), "invalid_type"),
        ("current_epoch", json!(1), "unrecognized_keys"),
    ] {
        let mut arguments = json!({ "node_id": "n", "domain": "execution" });
        arguments[name] = value;
        let issues = world.invalid("reputation_history", arguments.clone());
        assert_eq!((issues.len(), &issues[0]["code"]), (1, &json!(code)), "{arguments}: {issues:?}");
    }
    let issues = world.invalid("reputation_history", json!({ "node_id": "n" }));
    assert_eq!(issues[0]["path"], json!(["domain"]), "{issues:?}");
    assert_eq!(page(&mut world, Some(500), None), json!({ "events": [], "next_offset": null }));
}
