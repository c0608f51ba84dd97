//! Views tell each moment as it was.

use serde_json::json;

use super::world::{Caller, World, short};
use crate::people::era::Era;

#[test]
fn a_title_is_that_of_its_moment_and_a_rename_shows_both() {
    let world = World::new();
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    let id = client.create(json!({ "title": "One" }));
    client.data("audit_session_start", json!({ "session_id": "S", "intent": "Work" }));
    let decide = |content: &str| json!({ "type": "decision", "task_id": id, "agent_id": "a", "content": content, "session_id": "S" });
    client.data("thought_record", decide("While it is One."));
    client.data("task_update", json!({ "id": id, "title": "Two" }));
    client.server.walk(&json!(id), "DONE");
    // A finished task can be renamed, and the views say so.
    client.data("task_update", json!({ "id": id, "title": "Three", "description": "First line.\nSecond." }));
    client.data("thought_record", decide("While it is Three."));
    let timeline = world.text(&["timeline", "--since", "2020-01-01"]);
    let end = short(&id);
    for line in [
        format!("created {end} One\n"),
        format!("changed {end} Two: title \"One\" > \"Two\"\n"),
        format!("moved {end} Two: INIT > GATHER\n"),
        format!("moved {end} Two: VERIFY > DONE\n"),
        format!("changed {end} Three: description - > \"First line.…\", title \"Two\" > \"Three\"\n"),
    ] {
        assert!(timeline.contains(&line), "{line}: {timeline}");
    }
    let task = world.text(&["task", &id]);
    for line in ["title \"One\" > \"Two\"", "description - > \"First line.…\", title \"Two\" > \"Three\""] {
        assert!(task.contains(line), "{line}: {task}");
    }
    let (_, page) = world.page(&["overview"]);
    let (newest, oldest) = (page.find("While it is Three.").unwrap(), page.find("While it is One.").unwrap());
    let decisions = page.split_once("<section id=\"decisions\">").unwrap().0.len();
    assert!(page[decisions..newest].contains(">Three</span>"), "{page}");
    assert!(page[newest..oldest].contains(">One</span>"), "{page}");
}

#[test]
fn a_task_that_was_created_in_a_later_state_says_so() {
    let world = World::new();
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    let plain = client.create(json!({ "title": "Plain" }));
    let late = client.create(json!({ "title": "Late", "status": "VERIFY" }));
    let moved = client.create(json!({ "title": "Moved", "status": "PLAN" }));
    client.data("task_update", json!({ "id": moved, "status": "APPLY" }));
    let timeline = world.text(&["timeline", "--since", "2020-01-01"]);
    for line in [
        format!("  created {} Plain\n", short(&plain)),
        format!("  created in VERIFY {} Late\n", short(&late)),
        format!("  created in PLAN {} Moved\n", short(&moved)),
    ] {
        assert!(timeline.contains(&line), "{line}: {timeline}");
    }
}
