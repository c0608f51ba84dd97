//! The instructions: what a model reads first is short, true, and enough to work by.

use std::collections::{BTreeMap, BTreeSet};

use colibri::catalogue::CATALOGUE;
use serde_json::{Value, json};

use super::era::{Client, ERAS};

/// The first two paragraphs: the head's, and the beginning of the one of `core`.
const BEGINNING: &str = "Colibri keeps a checkable record of your work. Use one agent_id for yourself in every call, such as \"claude-1\".\n\n\
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
