//! Names as long as the catalogue permits, of texts that do not compress: each engine can hold them in its indexes.

use colibri_test_support::dice::Dice;
use colibri_test_support::log_chain::assert_log_is_sound;
use serde_json::json;

use super::world::launch;

/// A text of that many characters from a range.
fn text(dice: &Dice, length: usize, range: std::ops::Range<u32>) -> String {
    let span = u64::from(range.end - range.start);
    let draw = |_| char::from_u32(range.start + u32::try_from(dice.below(span)).unwrap()).unwrap();
    (0..length).map(draw).collect()
}

#[test]
fn names_of_the_greatest_length_are_kept_and_found() {
    let dice = Dice::new(1);
    // Four bytes each.
    let name = |length| text(&dice, length, 0x2_0000..0x2_a6df);
    let mut server = launch().start();
    let (project, assignee, priority) = (name(128), name(128), name(64));
    let task =
        json!({ "title": name(256), "project_id": project, "assignee": assignee, "priority": priority });
    let id = server.data("task_create", task)["id"].clone();
    let listed = server.data("task_list", json!({ "project_id": project }));
    assert_eq!(listed["tasks"][0]["id"], id);
    let queue = server.data("task_next_actions", json!({ "project_id": project, "assignee": assignee }));
    assert_eq!(queue["tasks"][0]["id"], id);
    let (session, trail, agent) = (name(256), name(256), name(256));
    server.data(
        "audit_session_start",
        json!({ "intent": name(4096), "session_id": session, "task_id": trail }),
    );
    for task_id in [&json!(trail), &id] {
        let thought = json!({ "type": "plan", "task_id": task_id, "agent_id": agent, "content": "c", "session_id": session });
        server.data("thought_record", thought);
    }
    server.data("merkle_finalize", json!({ "session_id": session }));
    let sealed = server.data("audit_session_list", json!({ "state": "sealed", "task_id": trail }));
    assert_eq!(sealed["sessions"][0]["session_id"], json!(session));
    let checked = server.data("audit_verify_chain", json!({ "task_id": trail }));
    assert_eq!(checked["valid"], json!(true), "{checked}");
    server.walk(&id, "DONE");
    let standing = json!({ "node_id": assignee, "domain": "execution" });
    assert_eq!(server.data("reputation_get", standing)["row"]["node_id"], json!(assignee));
    assert_log_is_sound(&server.sql());
    assert_eq!(server.finish().code(), 0);
}

#[test]
fn imported_names_of_the_greatest_length_are_kept_and_found() {
    let dice = Dice::new(2);
    let folder = launch().folder();
    let path = folder.path().join("events.jsonl");
    // Four bytes each; and characters that canonical JSON writes in six.
    let nodes = [0x2_0000..0x2_a6df, 0x0e..0x20].map(|range| {
        let event_id = text(&dice, 256, range.clone());
        (event_id, text(&dice, 256, range))
    });
    let lines = nodes.clone().map(|(event_id, node_id)| {
        json!({ "event_id": event_id, "node_id": node_id, "domain": "*", "kind": "penalty", "band": "fraud", "epoch": 0, "reason": "r" })
            .to_string()
    });
    std::fs::write(&path, lines.join("\n")).unwrap();
    let import = launch().in_folder(folder.clone()).arg("reputation").arg("import").arg(&path);
    let output = import.command().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut server = launch().in_folder(folder).start();
    for (_, node_id) in nodes {
        let entries = json!({ "node_id": node_id, "domain": "social" });
        let history = server.data("reputation_history", entries);
        assert_eq!(history["events"][0]["node_id"], json!(node_id), "{history}");
    }
    assert_eq!(server.finish().code(), 0);
}
