//! What a server does that may only read.

use serde_json::json;

use crate::trail::world::{SESSION, World, launch, thought};

#[test]
fn readonly_lists_and_verifies_but_records_nothing() {
    let mut first = World::new();
    first.think("T", "x");
    let mut reader = World::around(launch().beside(&first.server).env("COLIBRI_MODE", "READONLY").start());
    assert_eq!(reader.contents(json!({ "task_id": "T" })), ["x"]);
    for arguments in [json!({}), json!({ "task_id": "T" }), json!({ "session_id": SESSION })] {
        let verdict = reader.verify(arguments.clone());
        assert_eq!((&verdict["valid"], &verdict["record_count"]), (&json!(true), &json!(1)), "{arguments}");
    }
    for (tool, arguments) in [
        ("thought_record", thought("T", "y")),
        ("audit_session_start", json!({ "intent": "why" })),
        ("merkle_finalize", json!({ "session_id": SESSION })),
    ] {
        let envelope = reader.server.call(tool, arguments);
        assert_eq!(envelope["error"]["code"], "TOOL_NOT_ADMITTED", "{tool}: {envelope}");
    }
    assert_eq!(first.count(), 1);
}
