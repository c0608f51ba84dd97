//! The instructions: what a model reads first is short, true, and enough to work by.

use std::collections::{BTreeMap, BTreeSet};

use colibri::catalogue::CATALOGUE;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};

/// The first two paragraphs: the head's, and the beginning of the one of `core`.
const BEGINNING: &str = "Colibri keeps a checkable record of your work. Where a tool takes agent_id, always give the same name for yourself, such as \"claude-1\".\n\n\
    1. audit_session_start {intent}, once per piece of work: keep its session_id.";

#[test]
fn people_32_instructions_are_short_and_name_what_is_there() {
    for era in ERAS {
        let mut client = Client::new(era);
        let text = client.instructions();
        assert!(text.starts_with(BEGINNING), "{text}");
        assert!(text.chars().count() <= 2000, "{}", text.chars().count());

        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let mut known: BTreeSet<String> = CATALOGUE.tools.iter().map(|tool| tool.name.to_owned()).collect();
        members(&tools, &mut known);
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let names = words.filter(|word| word.contains('_') && *word != "INVALID_PARAMS");
        let unknown: Vec<&str> = names.filter(|word| !known.contains(*word)).collect();
        assert_eq!(unknown, [""; 0]);
        let parameters = calls(&text).flat_map(|(tool, arguments)| {
            let input = input(&tools, &tool);
            arguments.into_keys().filter(move |name| input["properties"].get(name).is_none())
        });
        assert_eq!(parameters.collect::<Vec<_>>(), [""; 0]);
    }
}

/// Every name of a property at any depth.
fn members(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members_of) => {
            if let Some(Value::Object(properties)) = members_of.get("properties") {
                names.extend(properties.keys().cloned());
            }
            members_of.values().for_each(|member| members(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, names)),
        _ => {}
    }
}

fn input(tools: &Value, tool: &str) -> Value {
    let found = tools.as_array().unwrap().iter().find(|entry| entry["name"] == tool);
    found.unwrap_or_else(|| panic!("no tool {tool}"))["inputSchema"].clone()
}

/// The calls in a text, `tool {name, name: "value"}`: the tool, and its arguments with their values where they stand there.
fn calls(text: &str) -> impl Iterator<Item = (String, BTreeMap<String, Option<Value>>)> {
    text.split('}').filter_map(|part| {
        let (before, arguments) = part.rsplit_once(" {")?;
        let tool = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
        let arguments = arguments.split(", ").map(|argument| match argument.split_once(": ") {
            Some((name, value)) => (name.to_owned(), serde_json::from_str(value).ok()),
            None => (argument.to_owned(), None),
        });
        CATALOGUE.tools.iter().any(|known| known.name == tool).then(|| (tool.to_owned(), arguments.collect()))
    })
}

/// What is asked of every call must be an argument of every tool.
#[test]
fn no_text_asks_for_an_argument_in_every_call_that_some_tool_refuses() {
    let mut client = Client::new(ERAS[0]);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].to_string();
    for text in [client.instructions(), listed] {
        assert!(!text.contains("every call"), "{text}");
    }
}

/// A server in that mode with those toolsets, beside a database of a server that has ended.
fn in_mode(mode: &str, toolsets: &str, era: Era) -> Client {
    let mut first = launch().start();
    first.data("task_create", json!({ "title": "A" }));
    let folder = first.shared_folder();
    first.finish();
    Client::of(launch().in_folder(folder).env("COLIBRI_MODE", mode).env("COLIBRI_TOOLS", toolsets), era)
}

const TOOLSETS: [&str; 6] = ["all", "core", "accountability", "reputation", "consensus,router", "vrf_eval"];

#[test]
fn the_modes_own_sentence_comes_first_whatever_the_toolsets() {
    for era in ERAS {
        for (mode, beginning) in [
            (
                "READONLY",
                "This server only reads: no call changes the database. The log of your calls is kept in memory",
            ),
            (
                "MINIMAL",
                "This server has no database: it is a check of the set-up. The log of your calls is kept in memory",
            ),
            ("TEST", "This server is for tests:"),
        ] {
            for toolsets in TOOLSETS {
                let text = in_mode(mode, toolsets, era).instructions();
                assert!(text.starts_with(beginning), "{mode}, {toolsets}: {text}");
            }
        }
    }
}

#[test]
fn no_instruction_teaches_a_tool_that_the_mode_or_the_operator_refuses() {
    for mode in ["FULL", "READONLY", "TEST", "MINIMAL"] {
        for toolsets in TOOLSETS {
            let mut client = in_mode(mode, toolsets, ERAS[0]);
            let text = client.instructions();
            let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
            let listed: BTreeSet<&str> =
                tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let named = words.filter(|word| CATALOGUE.tools.iter().any(|tool| tool.name == *word));
            let refused: BTreeSet<&str> = named.filter(|name| !listed.contains(name)).collect();
            assert_eq!(refused, BTreeSet::new(), "{mode}, {toolsets}: {text}");
        }
    }
}

/// The tools that a server lists.
fn listed(mode: &str, toolsets: &str) -> Vec<String> {
    let tools = in_mode(mode, toolsets, ERAS[0]).request("tools/list", json!({}))["result"]["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_mode_lists_a_tool_whose_calls_cannot_succeed_in_it() {
    for mode in ["READONLY", "TEST", "MINIMAL"] {
        let names = listed(mode, "all");
        assert!(!names.iter().any(|name| name == "router_call"), "{mode}: {names:?}");
    }
    assert!(listed("FULL", "all").iter().any(|name| name == "router_call"));
    let free = CATALOGUE.tools.iter().filter(|tool| tool.is_free()).map(|tool| tool.name);
    assert_eq!(listed("MINIMAL", "all"), free.collect::<Vec<_>>());
    // With any choice of the operator, MINIMAL answers how the server is.
    for toolsets in TOOLSETS {
        let names = listed("MINIMAL", toolsets);
        assert!(
            names.starts_with(&["server_ping".to_owned(), "server_health".to_owned()]),
            "{toolsets}: {names:?}"
        );
        let mut client = in_mode("MINIMAL", toolsets, ERAS[0]);
        assert_eq!(client.call("server_health", json!({}))["ok"], true);
    }
}

#[test]
fn minimal_says_what_a_refused_tool_lacks() {
    for (tool, arguments, expected) in [
        (
            "router_call",
            json!({ "prompt": "x" }),
            "Tool router_call asks other machines, and the server's mode is MINIMAL",
        ),
        ("task_list", json!({}), "Tool task_list needs a database, and the server's mode is MINIMAL"),
    ] {
        let error = in_mode("MINIMAL", "all", ERAS[0]).call(tool, arguments)["error"].clone();
        assert_eq!((&error["code"], &error["message"]), (&json!("TOOL_NOT_ADMITTED"), &json!(expected)));
    }
}
