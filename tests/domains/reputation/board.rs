//! `reputation_leaderboard`.

use colibri::domains::reputation::domain::Domain;
use colibri::domains::reputation::leaderboard::leaderboard;
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Failure, Fault};
use colibri_runtime::progress::Progress;
use colibri_test_support::dice::Dice;
use serde_json::{Value, json};

use crate::reputation::world::{World, nodes};

fn board(world: &mut World, epoch: i64, limit: Option<i64>) -> Value {
    let mut arguments = json!({ "domain": "execution", "current_epoch": epoch });
    if let Some(limit) = limit {
        arguments["limit"] = json!(limit);
    }
    world.server.data("reputation_leaderboard", arguments)["rows"].clone()
}

fn listed(rows: &Value) -> Vec<(String, i64)> {
    let row = |row: &Value| (row["node_id"].as_str().unwrap().to_owned(), row["score"].as_i64().unwrap());
    rows.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn an_empty_board_and_the_limits() {
    let mut world = World::new();
    assert_eq!(board(&mut world, 0, None), json!([]));
    for (limit, code) in [(0, "too_small"), (1001, "too_big")] {
        let arguments = json!({ "domain": "execution", "current_epoch": 0, "limit": limit });
        assert_eq!(world.invalid("reputation_leaderboard", arguments)[0]["code"], code);
    }
    let issues = world.invalid("reputation_leaderboard", json!({ "current_epoch": 0 }));
    assert_eq!(issues[0]["path"], json!(["domain"]));
    for number in 0..150 {
        world.put(&format!("n{number}"), "execution", number, 0);
    }
    world.put("other", "social", 9999, 0);
    assert_eq!(board(&mut world, 0, None).as_array().unwrap().len(), 100);
    assert_eq!(board(&mut world, 0, Some(1000)).as_array().unwrap().len(), 150);
}

#[test]
fn stale_high_scores_hide_nobody() {
    let mut world = World::new();
    for number in 0..250 {
        world.put(&format!("stale{number:03}"), "execution", 9000, 0);
    }
    world.put("fresh", "execution", 5000, 200);
    assert_eq!(listed(&board(&mut world, 200, Some(1))), [("fresh".to_owned(), 5000)]);
    let two = listed(&board(&mut world, 200, Some(2)));
    assert_eq!(two[1], ("stale000".to_owned(), 19));
}

#[test]
fn the_order_is_that_of_decayed_scores() {
    let mut world = World::new();
    world.put("A", "execution", 9000, 90);
    world.put("B", "execution", 8000, 100);
    assert_eq!(listed(&board(&mut world, 100, None)), [("B".to_owned(), 8000), ("A".to_owned(), 5393)]);
}

#[test]
fn equal_scores_are_ordered_by_the_bytes_of_ids() {
    let mut world = World::new();
    for node_id in ["b", "a", "ä", "B"] {
        world.put(node_id, "execution", 4000, 7);
    }
    world.put_row("banned", "execution", (0, 10_000), Some(99), 7);
    for limit in 1..=5 {
        let rows = board(&mut world, 7, Some(limit));
        assert_eq!(nodes(&rows), ["B", "a", "b", "ä", "banned"][..usize::try_from(limit).unwrap()]);
    }
}

#[test]
fn a_tie_at_the_end_of_the_walk_is_still_decided() {
    let mut world = World::new();
    world.put("z", "execution", 5263, 99);
    world.put("a", "execution", 5000, 100);
    assert_eq!(listed(&board(&mut world, 100, Some(1))), [("a".to_owned(), 5000)]);
    assert_eq!(listed(&board(&mut world, 100, Some(2))), [("a".to_owned(), 5000), ("z".to_owned(), 5000)]);
}

/// Decay as reputation#decay has it, written down once more.
fn decayed(mut score: i64, rate: i64, idle: i64) -> i64 {
    for _ in 0..idle.clamp(0, 600) {
        score -= score * rate / 10_000;
    }
    score
}

#[test]
fn the_board_is_a_sort_of_everything() {
    let mut world = World::new();
    let dice = Dice::new(35);
    let roll = |sides: u64| dice.below(sides).cast_signed();
    world.sql.execute_batch("BEGIN").unwrap();
    let mut rows = Vec::new();
    for number in 0..1000 {
        // Few different scores and epochs, so that there are ties.
        let (score, last) = (roll(40) * 250, roll(30) * 10);
        let node_id = format!("{:x}-{number}", roll(16));
        world.put(&node_id, "governance", score, last);
        rows.push((node_id, score, last));
    }
    world.sql.execute_batch("COMMIT").unwrap();
    for _ in 0..20 {
        let (epoch, limit) = (roll(700), 1 + roll(1000));
        let mut sorted: Vec<(String, i64)> =
            rows.iter().map(|(id, score, last)| (id.clone(), decayed(*score, 200, epoch - last))).collect();
        sorted.sort_by(|(id, score), (other_id, other)| other.cmp(score).then(id.cmp(other_id)));
        sorted.truncate(usize::try_from(limit).unwrap());
        let arguments = json!({ "domain": "governance", "current_epoch": epoch, "limit": limit });
        let rows = world.server.data("reputation_leaderboard", arguments)["rows"].clone();
        assert_eq!(listed(&rows), sorted, "epoch {epoch}, limit {limit}");
    }
}

#[test]
fn an_interrupt_stops_the_walk() {
    let world = World::new();
    world.put("n", "execution", 1, 0);
    let (interrupt, quiet) = (Interrupt::default(), Progress::default());
    let rows = leaderboard(world.db(), Domain::Execution, 0, 1, &interrupt, &quiet).unwrap();
    assert_eq!(rows.len(), 1);
    interrupt.raise();
    let stopped = leaderboard(world.db(), Domain::Execution, 0, 1, &interrupt, &quiet).unwrap_err();
    assert_eq!(stopped, Failure::Fault(Fault::Other("the leaderboard was interrupted".to_owned())));
}
