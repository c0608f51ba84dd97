//! Who did something: agent, actor and client are told apart, and no work is left out.

use serde_json::{Value, json};

use super::world::{Caller, World, short};
use crate::people::era::Era;

fn caller<'a>(actor: Option<&'a str>, client: &'a str) -> Caller<'a> {
    Caller { actor, client: Some(client), era: Era::Handshake }
}

#[test]
fn a_client_named_like_an_actor_looks_different_in_every_view() {
    let world = World::new();
    let mut host = world.serve(caller(Some("alice"), "claude-code"));
    let task = host.create(json!({ "title": "By the host" }));
    for name in [
        "alice (claude-code)",
        "alice (\"claude-code\")",
        "alice",
        "alice, claude-code",
        "alice with claude-code",
    ] {
        let mut impostor = world.serve(caller(None, name));
        impostor.data("task_update", json!({ "id": task, "description": name }));
    }
    let actors: Vec<Value> = world.log().iter().map(|row| row["caller"]["actor"].clone()).collect();
    let hosts = actors.iter().filter(|actor| **actor == "alice").count();
    for view in [&["log"][..], &["timeline", "--since", "2020-01-01"], &["task", &task]] {
        let text = world.text(view);
        // Only lines of the host begin its part with a bare name.
        let bare = text.lines().filter(|line| line.contains(" alice (\"claude-code\")")).count();
        assert_eq!(bare, hosts, "{text}");
        assert!(text.contains("Names in quotes are as clients and agents give them"), "{text}");
    }
    let task = world.text(&["timeline", "--since", "2020-01-01"]);
    assert!(task.contains("  \"alice\" ") && task.contains("\"alice (claude-code)\" "), "{task}");
}

#[test]
fn the_timeline_of_an_agent_has_its_moves_and_the_calls_of_its_caller() {
    let world = World::new();
    let mut host = world.serve(caller(Some("alice"), "host"));
    let task = host.create(json!({ "title": "T" }));
    host.data("task_claim", json!({ "agent_id": "claude-1", "id": task }));
    // Another caller that knows the number of the claim acts for the agent, too.
    let mut other = world.serve(caller(Some("carol"), "worker"));
    other.data("task_update", json!({ "id": task, "status": "GATHER", "claim": 1 }));
    other.data("task_create", json!({ "title": "Of the worker" }));
    let mut bob = world.serve(caller(Some("bob"), "else"));
    bob.create(json!({ "title": "Of another" }));
    host.data("task_release", json!({ "id": task, "claim": 1 }));
    host.data("task_update", json!({ "id": task, "status": "ANALYZE" }));
    let of = |who: &str| {
        let found = world.json(&["timeline", "--since", "2020-01-01", "--who", who]);
        let events = found["events"].as_array().unwrap().clone();
        let told = events.iter().map(|event| {
            let agent = event["agent_id"].as_str().unwrap_or("-");
            format!("{} {agent} {}", event["tool"].as_str().unwrap(), event["claim"])
        });
        told.collect::<Vec<_>>()
    };
    let expected = [
        "task_create - null",
        "task_claim claude-1 1",
        "task_update claude-1 1",
        "task_release claude-1 1",
        "task_update - null",
    ];
    assert_eq!(of("claude-1"), expected);
    assert_eq!(of("bob"), ["task_create - null"]);
    let text = world.text(&["timeline", "--since", "2020-01-01", "--who", "claude-1"]);
    let moved = format!("\"claude-1\" (carol, \"worker\")  moved {} T: INIT > GATHER", short(&task));
    assert!(text.contains(&moved), "{text}");
}

#[test]
fn the_overview_names_an_agent_under_several_actors_that_decided_nothing() {
    let world = World::new();
    for actor in ["alice", "bob"] {
        let mut host = world.serve(caller(Some(actor), "host"));
        let task = host.create(json!({ "title": "T" }));
        host.data("task_claim", json!({ "agent_id": "claude-1", "id": task }));
    }
    let (run, page) = world.page(&["overview"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(page.contains("No decision in this time."), "{page}");
    assert!(page.contains("claude-1&quot; was used under 2 actors: alice, bob."), "{page}");
}
