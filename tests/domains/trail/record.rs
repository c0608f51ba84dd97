//! `thought_record`.

use colibri_canonical::sha256_hex;
use serde_json::{Value, json};

use crate::trail::world::{SESSION, World, launch, text, thought, thought_but, zero_hash};

/// The hash of a record by hand: JSON of six fields, the keys in order.
fn hash_of(record: &Value) -> String {
    let field = |name: &str| record[name].clone();
    let preimage = json!({
        "content": field("content"),
        "id": field("id"),
        "prev_hash": field("prev_hash"),
        "task_id": field("task_id"),
        "timestamp": field("timestamp"),
        "type": field("type"),
    });
    sha256_hex(preimage.to_string().as_bytes())
}

/// Whether the letters and digits of a text stand as in a form: `x` for a hex digit, `9` for a digit.
fn has_form(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
            b'x' => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            b'9' => byte.is_ascii_digit(),
            b'v' => b"89ab".contains(&byte),
            _ => byte == wanted,
        })
}

#[test]
fn a_record_has_nine_members_and_its_own_hash() {
    let mut world = World::new();
    let task = text(&world.server.data("task_create", json!({ "title": "T" })), "id");
    let record = world.think(&task, "x");
    let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["id", "type", "task_id", "agent_id", "content", "timestamp", "prev_hash", "hash", "session_id"]
    );
    for (member, value) in [
        ("type", "plan"),
        ("task_id", task.as_str()),
        ("agent_id", "a1"),
        ("content", "x"),
        ("session_id", SESSION),
    ] {
        assert_eq!(record[member], value);
    }
    assert_eq!(record["prev_hash"], zero_hash());
    assert!(has_form(&text(&record, "id"), "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx"), "{record}");
    assert!(has_form(&text(&record, "timestamp"), "9999-99-99T99:99:99.999Z"), "{record}");
    assert_eq!(record["hash"], hash_of(&record));
}

#[test]
fn a_record_points_at_the_one_before_of_its_own_task() {
    let mut world = World::new();
    let first = world.think("T", "one");
    let other = world.think("U", "between");
    let second = world.think("T", "two");
    assert_eq!(second["prev_hash"], first["hash"]);
    assert_eq!(other["prev_hash"], zero_hash());
}

#[test]
fn content_says_something() {
    let mut world = World::new();
    for content in ["", " \n\t"] {
        let issues = world.invalid("thought_record", thought("T", content));
        assert!(text(&issues[0], "message").contains("non-empty"), "{content:?}: {issues:?}");
        let envelope = world.server.call("thought_record", thought("T", content));
        assert!(
            text(&envelope["error"], "message").contains("thought content must be non-empty"),
            "{envelope}"
        );
    }
    assert_eq!(world.think("T", ".")["content"], ".");
}

#[test]
fn there_are_four_types_spelt_as_they_are() {
    let mut world = World::new();
    for kind in ["Plan", "gate", ""] {
        world.invalid("thought_record", thought_but("type", Some(json!(kind))));
    }
    world.invalid("thought_record", thought_but("type", None));
    let mut renamed = thought_but("type", None);
    renamed["thought_type"] = json!("plan");
    world.invalid("thought_record", renamed);
    for kind in ["plan", "analysis", "decision", "reflection"] {
        assert_eq!(world.record(thought_but("type", Some(json!(kind))))["type"], kind);
    }
}

#[test]
fn what_the_server_decides_cannot_be_given() {
    let mut world = World::new();
    for key in ["prev_hash", "id", "timestamp", "hash", "foo"] {
        world.invalid("thought_record", thought_but(key, Some(json!(zero_hash()))));
    }
}

#[test]
fn a_session_is_required_unless_the_policy_says_otherwise() {
    let mut world = World::new();
    let issues = world.invalid("thought_record", thought_but("session_id", None));
    assert_eq!(issues[0]["path"], json!(["session_id"]));
    let lax = launch().env("COLIBRI_TRAIL_SESSION_POLICY", "optional").start();
    let mut lax = World::around(lax);
    assert_eq!(lax.record(thought_but("session_id", None))["session_id"], Value::Null);
    for world in [&mut world, &mut lax] {
        for session in [json!(""), Value::Null] {
            world.invalid("thought_record", thought_but("session_id", Some(session)));
        }
    }
}

/// What is advertised is what is enforced (trail#limits).
#[test]
fn the_published_schema_follows_the_policy() {
    for (policy, required) in [
        ("required", json!(["type", "task_id", "agent_id", "content", "session_id"])),
        ("optional", json!(["type", "task_id", "agent_id", "content"])),
    ] {
        let mut server = launch().env("COLIBRI_TRAIL_SESSION_POLICY", policy).start();
        let answer = server.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == "thought_record").unwrap();
        assert_eq!(tool["inputSchema"]["required"], required, "{policy}");
    }
}

#[test]
fn a_cited_session_exists() {
    let mut world = World::new();
    let message = world.refused("thought_record", thought_but("session_id", Some(json!("nope"))));
    assert!(message.starts_with("ERR_SESSION_NOT_FOUND: there is no audit session nope"), "{message}");
    let lax = launch().env("COLIBRI_TRAIL_SESSION_POLICY", "optional").start();
    let message =
        World::around(lax).refused("thought_record", thought_but("session_id", Some(json!("nope"))));
    assert!(message.starts_with("ERR_SESSION_NOT_FOUND: there is no audit session nope"), "{message}");
}

#[test]
fn content_is_bounded_in_bytes() {
    let mut world = World::new();
    let limit = 1_048_576;
    let exact = "a".repeat(limit);
    assert_eq!(world.think("T", &exact)["content"], exact);
    let straddling = format!("{}é", "a".repeat(limit - 1));
    for content in ["a".repeat(limit + 1), straddling] {
        let issues = world.invalid("thought_record", thought("T", &content));
        assert_eq!(issues.len(), 1);
        assert_eq!(issues[0]["code"], "custom");
        assert_eq!(issues[0]["path"], json!(["content"]));
        assert_eq!(issues[0]["message"], "content must be at most 1048576 bytes");
    }
    let fits = format!("{}é", "a".repeat(limit - 2));
    assert_eq!(world.think("T", &fits)["content"], fits);
    assert_eq!(world.verify(json!({ "task_id": "T" }))["valid"], true);
}

#[test]
fn names_are_short_and_hold_no_control_characters() {
    let mut world = World::new();
    for field in ["task_id", "agent_id", "session_id"] {
        for bad in ["é".repeat(257), "T\u{0}".into(), "a\nb".into(), "\u{7f}".into(), String::new()] {
            world.invalid("thought_record", thought_but(field, Some(json!(bad))));
        }
    }
    let longest = "é".repeat(256);
    assert_eq!(world.think(&longest, "x")["task_id"], longest);
}

#[test]
fn any_text_comes_back_as_it_was() {
    let mut world = World::new();
    let contents = [
        "'; DROP TABLE thought_records; --",
        "\"quoted\" 'single' back\\slash",
        "line one\r\nline two\ttab",
        "emoji 😀 and 漢字 and é and e\u{301}",
        "zero \u{0} inside",
        "\u{1}\u{7f}\u{2028}\u{2029}\u{feff}",
    ];
    let mut recorded: Vec<Value> = contents.iter().map(|content| world.think("T", content)).collect();
    for record in &mut recorded {
        // No task has the id; what is stored says nothing of it.
        assert!(record.as_object_mut().unwrap().remove("warnings").is_some());
    }
    let listed = world.list(json!({ "task_id": "T" }));
    assert_eq!(listed["records"], json!(recorded));
    for (record, content) in recorded.iter().zip(contents) {
        assert_eq!(record["content"], content);
        assert_eq!(record["hash"], hash_of(record), "{content:?}");
    }
    assert_eq!(world.verify(json!({ "task_id": "T" }))["valid"], true);
}

/// Each record says which call wrote it, and the call's row which record it wrote.
#[test]
fn a_record_and_its_call_name_each_other() {
    let mut world = World::new();
    let record = world.think("T", "x");
    let (sequence_no, subject): (i64, String) = world
        .sql
        .query_row(
            "SELECT r.sequence_no, a.subject FROM thought_records r JOIN actions a USING (sequence_no)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert!(sequence_no > 0);
    assert_eq!(record["id"], subject);
}
