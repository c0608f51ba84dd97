//! Dependencies between tasks: what blocks, what loops, what is unknown.

use std::collections::HashMap;
use std::convert::Infallible;

use crate::catalogue::TaskStatus::{Cancelled, Done, Gather, Verify};
use crate::catalogue::{Task, TaskCreateError, TaskUpdateError};
use crate::domains::tasks::dependencies::find_cycle;
use crate::domains::tasks::input::{ListFilter, NewTask, TaskPatch};
use crate::domains::tasks::service;
use proptest::prelude::*;

use crate::domains::tasks::tests::support::{Engine, refusal};

#[test]
fn a_task_waits_until_its_dependency_is_done() {
    let engine = Engine::new();
    let a = engine.create(NewTask { status: Verify, ..NewTask::titled("A") });
    let b = engine.create(NewTask { depends_on: vec![a.id.clone()], ..NewTask::titled("B") });
    assert_eq!(engine.queue(), (vec!["A".to_owned()], 1, 1));
    engine.go(&b.id, Gather).expect("blocking does not veto a step");
    engine.think(&a.id);
    engine.go(&a.id, Done).unwrap();
    assert_eq!(engine.queue(), (vec!["B".to_owned()], 1, 0));
    engine.delete(&a.id);
    assert_eq!(engine.queue(), (vec!["B".to_owned()], 1, 0), "done stays done after deletion");
}

#[test]
fn an_abandoned_dependency_blocks_until_the_set_is_edited() {
    let engine = Engine::new();
    for abandon in [cancel as fn(&Engine, &str), delete] {
        let a = engine.create(NewTask { status: Verify, ..NewTask::titled("A") });
        let b = engine.create(NewTask { depends_on: vec![a.id.clone()], ..NewTask::titled("B") });
        abandon(&engine, &a.id);
        assert_eq!(engine.queue(), (vec![], 0, 1));
        let freed = engine.wait_for(&b.id, &[]).unwrap();
        assert_eq!(freed.depends_on, None);
        assert_eq!(engine.queue(), (vec!["B".to_owned()], 1, 0));
        cancel(&engine, &b.id);
    }
}

fn cancel(engine: &Engine, id: &str) {
    engine.go(id, Cancelled).unwrap();
}

fn delete(engine: &Engine, id: &str) {
    engine.delete(id);
}

#[test]
fn a_loop_is_named_and_nothing_is_stored() {
    let engine = Engine::new();
    let [a, b, c] = ["A", "B", "C"].map(|title| engine.task(title).id);
    engine.wait_for(&a, &[&b]).unwrap();
    engine.wait_for(&b, &[&c]).unwrap();
    let before = engine.dump();
    let cycle = vec![c.clone(), a.clone(), b, c.clone()];
    let refused = TaskUpdateError::ErrDependencyCycle { task_id: c.clone(), cycle };
    assert_eq!(refusal(engine.wait_for(&c, &[&a])), refused);
    let refused =
        TaskUpdateError::ErrDependencyCycle { task_id: c.clone(), cycle: vec![c.clone(), c.clone()] };
    assert_eq!(refusal(engine.wait_for(&c, &[&c])), refused);
    assert_eq!(engine.dump(), before);
}

#[test]
fn the_tasks_own_old_edges_do_not_count() {
    let engine = Engine::new();
    let [a, b] = ["A", "B"].map(|title| engine.task(title).id);
    engine.wait_for(&a, &[&b]).unwrap();
    refusal(engine.wait_for(&b, &[&a]));
    engine.wait_for(&a, &[]).unwrap();
    engine.wait_for(&b, &[&a]).expect("the old edge is gone");
}

#[test]
fn unknown_dependencies_are_listed_in_the_order_given() {
    let engine = Engine::new();
    let known = engine.task("known").id;
    let gone = engine.task("gone").id;
    engine.delete(&gone);
    let before = engine.dump();
    let missing = vec!["nope".to_owned(), gone.clone()];
    let depends_on = vec!["nope".to_owned(), known.clone(), gone.clone()];
    let refused = refusal(engine.try_create(NewTask { depends_on, ..NewTask::titled("new") }));
    assert_eq!(refused, TaskCreateError::ErrDependencyNotFound { task_id: None, missing: missing.clone() });
    let refused = refusal(engine.wait_for(&known, &["nope", &gone]));
    assert_eq!(refused, TaskUpdateError::ErrDependencyNotFound { task_id: known, missing });
    assert_eq!(engine.dump(), before);
}

#[test]
fn a_deleted_dependency_may_stay_in_the_set_but_not_enter_it() {
    let engine = Engine::new();
    let [a, b, c] = ["A", "B", "C"].map(|title| engine.task(title).id);
    engine.wait_for(&b, &[&a]).unwrap();
    engine.delete(&a);
    let kept = engine.wait_for(&b, &[&c, &a]).unwrap();
    assert_eq!(kept.depends_on, Some(vec![a.clone(), c.clone()]), "what was named first stays first");
    engine.wait_for(&b, &[&c]).unwrap();
    refusal(engine.wait_for(&b, &[&c, &a]));
}

#[test]
fn a_task_without_dependencies_has_no_such_key() {
    let engine = Engine::new();
    let free = engine.task("free");
    assert!(serde_json::to_value(&free).unwrap().get("depends_on").is_none());
    let waiting = engine.create(NewTask { depends_on: vec![free.id.clone()], ..NewTask::titled("waiting") });
    assert_eq!(serde_json::to_value(&waiting).unwrap()["depends_on"], serde_json::json!([free.id]));
    let listed = service::list_tasks::<Task>(&engine.db, &ListFilter::default()).unwrap().tasks;
    assert_eq!(listed, [free, waiting.clone()]);
    assert_eq!(engine.get(&waiting.id), Some(waiting));
}

#[test]
fn an_update_of_other_fields_keeps_the_set() {
    let engine = Engine::new();
    let a = engine.task("A").id;
    let b = engine.create(NewTask { depends_on: vec![a.clone()], ..NewTask::titled("B") });
    let patch = TaskPatch { title: Some("b".into()), ..TaskPatch::default() };
    assert_eq!(engine.update(&b.id, patch).unwrap().depends_on, Some(vec![a]));
}

#[test]
fn a_chain_of_a_hundred_thousand_is_searched_without_deep_recursion() {
    let mut asked = 0;
    let found = find_cycle("0", &["1".to_owned()], |id| {
        asked += 1;
        let next: u32 = id.parse().unwrap();
        Ok::<_, Infallible>(if next == 100_000 { vec![] } else { vec![(next + 1).to_string()] })
    });
    assert_eq!((found, asked), (Ok(None), 100_000));
}

/// Whether `to` can be reached from `from`, by growing the set of reached nodes.
fn reaches(edges: &HashMap<String, Vec<String>>, from: &[String], to: &str) -> bool {
    let mut reached: Vec<String> = from.to_vec();
    let mut next = 0;
    while next < reached.len() {
        for id in edges.get(&reached[next]).into_iter().flatten() {
            if !reached.contains(id) {
                reached.push(id.clone());
            }
        }
        next += 1;
    }
    reached.iter().any(|id| id == to)
}

proptest! {
    #[test]
    fn a_loop_is_found_exactly_when_there_is_one(
        pairs in prop::collection::vec((0u8..8, 0u8..8), 0..24),
        wanted in prop::collection::hash_set(0u8..8, 0..5),
    ) {
        let mut edges: HashMap<String, Vec<String>> = HashMap::new();
        for (from, to) in pairs {
            edges.entry(from.to_string()).or_default().push(to.to_string());
        }
        // The task's own old edges are not followed.
        edges.remove("0");
        let wanted: Vec<String> = wanted.into_iter().map(|id| id.to_string()).collect();
        let mut asked: Vec<String> = Vec::new();
        let found = find_cycle("0", &wanted, |id| {
            asked.push(id.to_owned());
            Ok::<_, Infallible>(edges.get(id).cloned().unwrap_or_default())
        }).unwrap();
        prop_assert_eq!(found.is_some(), reaches(&edges, &wanted, "0"));
        let distinct: std::collections::HashSet<&String> = asked.iter().collect();
        prop_assert_eq!(distinct.len(), asked.len(), "each task is asked once");
        if let Some(cycle) = found {
            prop_assert_eq!(cycle.first().map(String::as_str), Some("0"));
            prop_assert_eq!(cycle.last().map(String::as_str), Some("0"));
            prop_assert!(wanted.contains(&cycle[1]));
            for pair in cycle[1..].windows(2) {
                prop_assert!(edges[&pair[0]].contains(&pair[1]), "{:?} is no edge", pair);
            }
        }
    }
}
