//! The tool itself.

use serde_json::json;

use crate::skills::world::{World, listed, skill};

fn project() -> World {
    World::with(&[
        ("colibri-pm", &skill("colibri-pm", "capabilities: [read, write]\nversion: '2.0'\ngreekLetter: β\n")),
        (
            "colibri-qa",
            "---\nname: colibri-qa\ndescription: 100 % of the a_b Tests\ncapabilities: [read, read]\nentrypoint: run.sh\nround: 3\n---\nSecret body\n",
        ),
        ("colibri-doc", &skill("colibri-doc", "")),
    ])
}

#[test]
fn search_looks_for_plain_text_in_name_and_description() {
    let mut server = project().start();
    let mut found = |search: &str| listed(&mut server, json!({ "search": search }));
    assert_eq!(found("PM"), ["colibri-pm"]);
    assert_eq!(found("tests"), ["colibri-qa"]);
    assert_eq!(found("does"), ["colibri-doc", "colibri-pm"]);
    assert_eq!(found("%"), ["colibri-qa"]);
    assert_eq!(found("a_b"), ["colibri-qa"]);
    assert_eq!(found("a.b"), [] as [&str; 0]);
    assert_eq!(found("body"), [] as [&str; 0], "the body is not searched");
    assert_eq!(found(""), ["colibri-doc", "colibri-pm", "colibri-qa"]);
}

#[test]
fn capability_is_exact_and_adds_to_search() {
    let mut server = project().start();
    let mut found = |arguments| listed(&mut server, arguments);
    assert_eq!(found(json!({ "capability": "read" })), ["colibri-pm", "colibri-qa"]);
    assert_eq!(found(json!({ "capability": "write" })), ["colibri-pm"]);
    for nobody in ["READ", "fly", "rea", "re%"] {
        assert_eq!(found(json!({ "capability": nobody })), [] as [&str; 0], "{nobody}");
    }
    assert_eq!(found(json!({ "capability": "read", "search": "QA" })), ["colibri-qa"]);
    assert_eq!(found(json!({ "capability": "write", "search": "qa" })), [] as [&str; 0]);
}

#[test]
fn arguments_are_strict_and_items_are_small() {
    let mut server = project().start();
    for arguments in [
        json!({ "tier": 1 }),
        json!({ "search": 5 }),
        json!({ "search": null }),
        json!({ "search": "x".repeat(257) }),
        json!({ "search": "a\u{0}b" }),
        json!({ "capability": "" }),
        json!({ "capability": "x".repeat(65) }),
        json!({ "capability": ["read"] }),
    ] {
        // The client checks that `isError` goes with `ok: false`.
        let envelope = server.call("skill_list", arguments.clone());
        assert_eq!(envelope["ok"], false, "{arguments}: {envelope}");
        assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{arguments}: {envelope}");
    }
    assert_eq!(
        listed(&mut server, json!({ "search": "é".repeat(256), "capability": "é".repeat(64) })),
        [] as [&str; 0]
    );
    let data = server.data("skill_list", json!({ "search": "colibri-qa" }));
    let mut item = data["skills"][0].clone();
    assert_eq!(item["loaded_at"].as_str().map(str::len), Some(24), "{item}");
    item["loaded_at"] = json!(null);
    assert_eq!(
        item,
        json!({
            "name": "colibri-qa", "description": "100 % of the a_b Tests", "version": null, "entrypoint": "run.sh",
            "capabilities": ["read", "read"], "greek_letter": null,
            "source_path": ".agents/skills/colibri-qa/SKILL.md", "loaded_at": null,
        }),
        "neither body nor front matter"
    );
}

#[test]
fn there_is_one_skill_tool_and_no_other() {
    let mut server = project().start();
    let answer = server.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let skills: Vec<&&str> = names.iter().filter(|name| name.starts_with("skill_")).collect();
    assert_eq!(skills, [&"skill_list"]);
    assert_eq!(names.iter().filter(|name| name.starts_with("task_")).count(), 8, "{names:?}");
    for name in
        ["skill_get", "skill_reload", "skill_invoke", "skill_register", "skill_unregister", "task_delete"]
    {
        let answer = server.request("tools/call", json!({ "name": name, "arguments": {} }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(name), "{answer}");
    }
}
