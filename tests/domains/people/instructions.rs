//! The instructions: what a model reads first is short, true, and enough to work by.

use std::collections::{BTreeMap, BTreeSet};

use colibri::catalogue::CATALOGUE;
use serde_json::{Map, Value, json};

use super::era::{Client, ERAS, launch};

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

/// A reader who does what the numbered steps say, and knows besides only what `tools/list` shows.
struct Reader {
    client: Client,
    tools: Value,
    /// What replies have shown and the text suggests, by name.
    memory: Map<String, Value>,
}

impl Reader {
    fn follow(&mut self, text: &str) {
        let quoted = text.split('"').nth(1).unwrap();
        self.memory.insert("agent_id".to_owned(), json!(quoted));
        let states = text.split(['.', ':']).find(|part| part.contains(" > ")).unwrap();
        let states: Vec<&str> = states.split(" > ").map(str::trim).collect();
        let steps = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        for step in steps {
            // Where a step offers two ways, the first one is taken.
            let (tool, mut arguments) = calls(step).next().unwrap();
            if arguments.get("status") == Some(&None) {
                // The last state has a step of its own.
                for state in &states[1..states.len() - 1] {
                    arguments.insert("status".to_owned(), Some(json!(state)));
                    self.call(&tool, &arguments);
                }
            } else {
                self.call(&tool, &arguments);
            }
        }
    }

    fn call(&mut self, tool: &str, named: &BTreeMap<String, Option<Value>>) {
        let input = input(&self.tools, tool);
        let required = input["required"].as_array().cloned().unwrap_or_default();
        let required = required.iter().map(|name| name.as_str().unwrap());
        let mut arguments = Map::new();
        for name in named.keys().map(String::as_str).chain(required.clone()) {
            let known = named.get(name).cloned().flatten().or_else(|| self.memory.get(name).cloned());
            // What is neither known nor required is left out; the rest is the reader's own words.
            let value = known
                .or_else(|| required.clone().any(|other| other == name).then(|| json!("In my own words")));
            arguments.extend(value.map(|value| (name.to_owned(), value)));
        }
        let reply = self.client.data(tool, Value::Object(arguments));
        let Value::Object(members) = reply else { panic!("{tool}: {reply}") };
        let ids = members
            .into_iter()
            .filter(|(name, _)| ["id", "task_id", "session_id", "claim"].contains(&name.as_str()));
        // The id of a thought is not that of a task.
        self.memory.extend(ids.filter(|(name, _)| name != "id" || tool.starts_with("task_")));
    }
}

#[test]
fn people_33_the_steps_alone_lead_to_a_sealed_session_with_a_finished_task() {
    for (era, words) in ERAS.into_iter().flat_map(|era| [(era, "all"), (era, "core")]) {
        let mut client = Client::of(launch().env("COLIBRI_TOOLS", words), era);
        let text = client.instructions();
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let mut reader = Reader { client, tools, memory: Map::new() };
        reader.follow(&text);

        let sealed = reader.client.data("audit_session_list", json!({ "state": "sealed" }));
        assert_eq!(sealed["sessions"].as_array().unwrap().len(), 1, "{sealed}");
        assert_eq!(sealed["sessions"][0]["last_agent_id"], "claude-1", "{sealed}");
        let done = reader.client.data("task_list", json!({ "status": "DONE" }));
        assert_eq!(done["total_count"], 1, "{done}");
    }
}
