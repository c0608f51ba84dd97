//! Experience tokens as they are kept.

use serde_json::json;

use crate::reputation::world::World;

/// A stored token.
#[derive(Debug, PartialEq)]
struct Kept {
    id: String,
    /// Node, domain, action and class of the outcome.
    work: [String; 4],
    outcome_delta: i64,
    counterparty: Option<String>,
    scenario: Option<String>,
    promoted_from: Option<String>,
}

/// The tokens of a level, by id.
fn kept(world: &World, level: &str) -> Vec<Kept> {
    let sql = "SELECT id, node_id, domain, action, outcome_class, outcome_delta, counterparty, scenario, promoted_from \
               FROM experience_tokens WHERE level = ?1 ORDER BY id";
    let mut statement = world.sql.prepare(sql).unwrap();
    let rows = statement.query_map([level], |row| {
        Ok(Kept {
            id: row.get(0)?,
            work: [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?],
            outcome_delta: row.get(5)?,
            counterparty: row.get(6)?,
            scenario: row.get(7)?,
            promoted_from: row.get(8)?,
        })
    });
    rows.unwrap().map(|row| row.unwrap()).collect()
}

#[test]
fn the_table_knows_five_levels() {
    let world = World::new();
    let insert = "INSERT INTO experience_tokens (id, node_id, level, domain, action, outcome_class, outcome_delta, created_at) \
                  VALUES ('tok_1', 'alice', 'L3', 'execution', 'a', 'success', 1, 0)";
    let refused = world.sql.execute(insert, []).unwrap_err();
    assert!(refused.is_of_a_check(), "{refused}");
}

#[test]
fn a_finished_task_mints_one_token_or_two() {
    let mut world = World::new();
    world.finished(Some("alice"), &[("alice", "plan")]);
    let unacknowledged = kept(&world, "L0");
    assert_eq!(kept(&world, "L1"), []);
    world.finished(Some("alice"), &[("alice", "plan"), ("carol", "reflection")]);
    let [first, second]: [Kept; 2] = kept(&world, "L0").try_into().unwrap();
    assert_eq!(unacknowledged, std::slice::from_ref(&first));
    let [raised]: [Kept; 1] = kept(&world, "L1").try_into().unwrap();
    assert_eq!(raised.promoted_from.as_ref(), Some(&second.id));
    for (token, delta, counterparty) in
        [(&first, 50, None), (&second, 20, Some("carol")), (&raised, 20, Some("carol"))]
    {
        assert_eq!(token.work, ["alice", "execution", "task_done", "success"]);
        assert_eq!(token.outcome_delta, delta);
        assert_eq!((token.counterparty.as_deref(), token.scenario.as_deref()), (counterparty, None));
        let ulid = token.id.strip_prefix("tok_").unwrap();
        assert!(
            ulid.len() == 26 && ulid.bytes().all(|byte| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&byte)),
            "{ulid}"
        );
    }
    assert!(first.id < second.id && second.id < raised.id, "ids are in the order of time");
    // A gain that is not credited does not count as experience.
    let epoch = world.number("SELECT max(epoch) FROM reputation_history", &[]);
    world.put_row("eve", "execution", (9000, 0), Some(epoch + 1000), epoch);
    let minted = world.counts()[4];
    world.finished(Some("alice"), &[("alice", "plan"), ("eve", "reflection")]);
    assert_eq!(world.counts()[4], minted);
    assert_eq!(world.server.data("task_list", json!({ "status": "DONE" }))["total_count"], 3);
}
