//! A client that knows no tool and no rule of any domain. It reads the server's instructions and the schemas of its tools,
//! and does what replies tell it: `next`, `remedy`, `allowed`, and the problems of refused arguments.

use std::collections::{BTreeMap, BTreeSet};

use colibri_test_support::client::envelope;
use serde_json::{Map, Value, json};

use super::super::era::Client;
use super::memory::Memory;
use super::reply::{self, Reply};
use super::text::{self, Instructions, Step, Template};

/// How often the client follows advice on one and the same step before it gives up.
const PATIENCE: usize = 6;

/// The client.
pub struct Literal<'a> {
    server: &'a mut Client,
    name: &'static str,
    instructions: Instructions,
    tools: BTreeMap<String, Value>,
    /// The tools that change nothing, as their hints say.
    readers: BTreeSet<String>,
    memory: Memory,
    /// Whether it has worked here before and does not know where it stopped.
    lost: bool,
    /// Whether replies that refuse are read no further than that they refuse.
    deaf: bool,
    /// Why it gave up, if it did.
    pub stuck: Option<String>,
    /// Each call that it made, with the reply.
    pub calls: Vec<(String, Value, Reply)>,
}

impl<'a> Literal<'a> {
    /// Greets the server and reads what it says of itself.
    pub fn meet(server: &'a mut Client, name: &'static str) -> Self {
        let greeting = server.instructions();
        let listed = server.request("tools/list", json!({}));
        let tools: BTreeMap<String, Value> = listed["result"]["tools"]
            .as_array()
            .expect("a list of tools")
            .iter()
            .map(|tool| (tool["name"].as_str().expect("a name").to_owned(), tool["inputSchema"].clone()))
            .collect();
        let names: BTreeSet<String> = tools.keys().cloned().collect();
        let instructions = text::read(&greeting, &names);
        let reads = |tool: &&Value| tool["annotations"]["readOnlyHint"] == json!(true);
        let readers = listed["result"]["tools"].as_array().expect("a list of tools").iter().filter(reads);
        let readers = readers.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
        Self {
            server,
            name,
            instructions,
            tools,
            readers,
            memory: Memory::default(),
            lost: false,
            deaf: false,
            stuck: None,
            calls: Vec::new(),
        }
    }

    /// Makes the client blind to all advice, for comparison.
    pub fn ignore_advice(&mut self) {
        self.deaf = true;
    }

    /// Makes a call that succeeds, before the part that is counted.
    pub fn act(&mut self, tool: &str, arguments: Value) -> Value {
        assert_eq!(self.call(tool, arguments), Ok(()), "{:#?}", self.calls);
        match self.calls.pop() {
            Some((_, _, Reply::Done(data))) => data,
            other => panic!("no success: {other:?}"),
        }
    }

    /// Tells the client that it has worked here before, and what it did is forgotten.
    pub fn lose_context(&mut self) {
        self.lost = true;
    }

    /// Makes a wrong call, which is not counted, and follows the advice that the refusal gives.
    pub fn begin_with(&mut self, tool: &str, arguments: Value) {
        let reply = self.call(tool, arguments.clone());
        self.calls.clear();
        match reply {
            Err(refusal) => self.follow(tool, &arguments, &refusal),
            Ok(()) => panic!("{tool} was to be refused"),
        };
    }

    /// Goes through the numbered steps of the instructions.
    pub fn finish(&mut self) {
        let mut at = 0;
        let mut rounds = 0;
        while let Some(step) = self.instructions.steps.get(at).cloned() {
            rounds += 1;
            if rounds == 40 {
                self.stuck.get_or_insert_with(|| "it walks in circles".to_owned());
            }
            if self.stuck.is_some() {
                return;
            }
            // If the client goes on with another thing, the lines about it apply anew.
            let again = self.walk(&step).and_then(|name| self.first_line_about(&name));
            at = again.unwrap_or(at + 1);
        }
    }

    /// Does one line. Returns the name of something kept that is another one now.
    fn walk(&mut self, step: &Step) -> Option<String> {
        let first = step.calls.first().cloned()?;
        if let Some(name) = step.keeps.first() {
            if self.known(name, &first).is_some() {
                return None;
            }
            self.gain(step, name);
            return None;
        }
        if step.chain.is_empty() {
            let stands = |(name, value): &(String, Option<Value>)| {
                value.is_some() && self.standing(name).map(Value::String) == *value
            };
            // A call that only sets what is so already is not needed.
            return if first.arguments.iter().all(stands) { None } else { self.insist(&first, None) };
        }
        self.walk_chain(step, &first)
    }

    /// Makes the calls of a line that says what to keep, until the client has it.
    fn gain(&mut self, step: &Step, name: &str) {
        let first = step.calls[0].clone();
        if self.lost {
            if let Some(finder) = &step.finder {
                let _ = self.call(finder, json!({}));
            } else if let Some(other) = step.calls.last() {
                let arguments = self.arguments(other, None);
                let _ = self.call(&other.tool.clone(), arguments);
            }
        }
        if self.known(name, &first).is_none() {
            self.insist(&first, None);
        }
    }

    /// Walks the values of a chain that no later line names as its own step.
    fn walk_chain(&mut self, step: &Step, call: &Template) -> Option<String> {
        let later: Vec<Value> = self
            .instructions
            .steps
            .iter()
            .flat_map(|step| &step.calls)
            .filter(|other| other.tool == call.tool)
            .flat_map(|other| other.arguments.iter().filter_map(|(_, value)| value.clone()))
            .collect();
        let chain: Vec<String> =
            step.chain.iter().filter(|value| !later.contains(&json!(value))).cloned().collect();
        let name = self.name_in_chain(call, &step.chain)?;
        for _ in 0..4 * chain.len() {
            let at = self.standing(&name).and_then(|value| step.chain.iter().position(|one| one == &value));
            let value = chain.get(at.unwrap_or(0) + 1)?;
            if let Some(changed) = self.insist(call, Some((&name, json!(value)))) {
                return Some(changed);
            }
        }
        None
    }

    /// The argument whose values the chain lists.
    fn name_in_chain(&self, call: &Template, chain: &[String]) -> Option<String> {
        let schema = &self.tools[&call.tool];
        let fits = |name: &&String| {
            let values = self.values_of(schema, name);
            chain.iter().all(|value| values.contains(&json!(value)))
        };
        call.arguments.iter().map(|(name, _)| name).find(fits).cloned()
    }

    /// The values an argument may have, where the schema lists them.
    fn values_of(&self, schema: &Value, name: &str) -> Vec<Value> {
        let mut node = &schema["properties"][name];
        if let Some(target) = node["$ref"].as_str() {
            node = schema.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null);
        }
        node["enum"].as_array().cloned().unwrap_or_default()
    }

    /// Makes a call until it succeeds, doing what refusals say in between. Returns the name of an argument that is another
    /// one now, so that earlier lines apply anew.
    fn insist(&mut self, template: &Template, with: Option<(&str, Value)>) -> Option<String> {
        let before = self.kept_values();
        for _ in 0..PATIENCE {
            let arguments = self.arguments(template, with.clone());
            let Err(refusal) = self.call(&template.tool, arguments.clone()) else { return None };
            if self.follow(&template.tool, &arguments, &refusal) {
                return None;
            }
            if let Some(name) = self.changed_since(&before) {
                return Some(name);
            }
        }
        self.stuck = Some(format!("no advice helps with {}", template.tool));
        None
    }

    /// Does what a refusal says. Returns whether the refused call needs no repetition.
    fn follow(&mut self, tool: &str, arguments: &Value, refusal: &Value) -> bool {
        if self.deaf {
            return false;
        }
        let remedy = refusal["remedy"].as_str().unwrap_or_default().to_owned();
        if remedy.contains("Nothing is left to do") {
            return true;
        }
        if let Some(issues) = refusal["issues"].as_array() {
            return match self.correct(tool, arguments, issues, refusal) {
                Some(corrected) => self.call(tool, corrected).is_ok(),
                None => false,
            };
        }
        if let Some(meant) =
            text::after(&remedy, "did you mean ").filter(|name| self.tools.contains_key(name))
        {
            let template = Template { tool: meant.clone(), arguments: Vec::new() };
            let mut corrected = self.arguments(&template, None);
            merge(&mut corrected, arguments);
            return self.call(&meant, corrected).is_ok();
        }
        let next = refusal["next"].as_array().cloned().unwrap_or_default();
        for advice in next {
            let called = advice["tool"].as_str().expect("a tool").to_owned();
            let Some(filled) = self.fill(&called, &advice, refusal, &remedy) else { continue };
            let before = self.kept_values();
            match self.call(&called, filled) {
                // There is nothing of what is to be kept.
                Ok(()) if self.came_empty() => {}
                Ok(()) if called == tool => return true,
                // It did something, or it brought something.
                Ok(()) if !self.readers.contains(&called) || self.kept_values() != before => {
                    return false;
                }
                _ => {}
            }
        }
        // No advice brought anything: what the refused call named is given up, and the line that keeps it done anew.
        self.give_up(arguments);
        false
    }

    /// Whether the last reply says null of a thing that a line says to keep.
    fn came_empty(&self) -> bool {
        let Some((_, _, Reply::Done(data))) = self.calls.last() else { return false };
        let mut kept = self.instructions.steps.iter().flat_map(|step| &step.keeps);
        kept.any(|name| data.get(name).is_some_and(Value::is_null))
    }

    /// Fills in what an entry of `next` asks for. `None` if the refusal leaves nothing to choose from.
    fn fill(&mut self, tool: &str, advice: &Value, refusal: &Value, remedy: &str) -> Option<Value> {
        let mut arguments = advice["arguments"].as_object().cloned().unwrap_or_default();
        let choice = text::after(remedy, "Set ").zip(text::after(remedy, "to one of "));
        for (name, _) in advice["ask"].as_object().into_iter().flatten() {
            let chosen = match &choice {
                Some((argument, list)) if argument == name => Some(self.choose(&refusal[list])?),
                _ => self.value(tool, name).or_else(|| self.obtain(tool, name)),
            };
            arguments.insert(name.clone(), chosen?);
        }
        Some(Value::Object(arguments))
    }

    /// Does the line that says to keep `name`, if there is one.
    fn obtain(&mut self, tool: &str, name: &str) -> Option<Value> {
        let keeps =
            |step: &&Step| !step.calls.is_empty() && step.keeps.first().is_some_and(|one| one == name);
        let step = self.instructions.steps.iter().find(keeps)?.clone();
        self.gain(&step, name);
        self.value(tool, name)
    }

    /// The value of a list that stands first in a chain of the instructions, else its first.
    fn choose(&self, list: &Value) -> Option<Value> {
        let list = list.as_array()?;
        let chains = self.instructions.steps.iter().flat_map(|step| &step.chain);
        chains.map(|value| json!(value)).find(|value| list.contains(value)).or_else(|| list.first().cloned())
    }

    /// Corrects the arguments that the refusal names: a name that it suggests, else a value of its own, else none.
    /// `None` if it knows no value for an argument that is required.
    fn correct(&self, tool: &str, arguments: &Value, issues: &[Value], refusal: &Value) -> Option<Value> {
        let mut corrected = arguments.as_object().cloned().unwrap_or_default();
        let message = refusal["message"].as_str().unwrap_or_default();
        for issue in issues {
            for key in issue["keys"].as_array().into_iter().flatten() {
                let key = key.as_str().expect("a key");
                let value = corrected.remove(key);
                let hint = format!("there is no parameter \"{key}\", did you mean \"");
                if let (Some(name), Some(value)) = (text::after(message, &hint), value) {
                    corrected.insert(name, value);
                }
            }
            let Some(name) = issue["path"][0].as_str() else { continue };
            let hint = format!("\"{name}\" must be one of ");
            let meant = message.split_once(&hint).and_then(|(_, rest)| {
                text::after(rest.split(';').next().unwrap_or_default(), "did you mean ")
            });
            corrected.remove(name);
            if let Some(word) = meant {
                corrected.insert(name.to_owned(), json!(word));
            }
        }
        for name in self.tools[tool]["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !corrected.contains_key(name) {
                corrected.insert(name.to_owned(), self.value(tool, name)?);
            }
        }
        Some(Value::Object(corrected))
    }

    /// The arguments of a template: what it gives, what the client knows, and what the schema demands beside that.
    fn arguments(&self, template: &Template, with: Option<(&str, Value)>) -> Value {
        let required = self.tools[&template.tool]["required"].as_array().cloned().unwrap_or_default();
        let mut arguments = Map::new();
        for (name, given) in &template.arguments {
            if let Some(value) = given.clone().or_else(|| self.value(&template.tool, name)) {
                arguments.insert(name.clone(), value);
            }
        }
        for name in required.iter().filter_map(Value::as_str) {
            if !arguments.contains_key(name)
                && let Some(value) = self.value(&template.tool, name)
            {
                arguments.insert(name.to_owned(), value);
            }
        }
        if let Some((name, value)) = with {
            arguments.insert(name.to_owned(), value);
        }
        Value::Object(arguments)
    }

    /// The value of an argument: the client's own name, what the tools in its description returned last, else words.
    fn value(&self, tool: &str, name: &str) -> Option<Value> {
        if self.instructions.own_name.as_deref() == Some(name) {
            return Some(json!(self.name));
        }
        let schema = &self.tools[tool];
        let node = &schema["properties"][name];
        let sources = self.sources(node["description"].as_str().unwrap_or_default());
        if !sources.is_empty() {
            return self.memory.newest(&sources, name);
        }
        let required = schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        if let Some(first) = self.values_of(schema, name).first() {
            return required.then(|| first.clone());
        }
        match node["type"].as_str() {
            Some("string") if required => Some(json!(format!("Words of {} about {name}", self.name))),
            Some("integer") if required => Some(node.get("minimum").cloned().unwrap_or(json!(1))),
            _ => None,
        }
    }

    /// The tools that a description names.
    fn sources(&self, description: &str) -> BTreeSet<String> {
        let words = description.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| self.tools.contains_key(*word)).map(str::to_owned).collect()
    }

    /// What the client knows under a name that a line says to keep: the newest that any tool takes under this name, if it may
    /// come from the line's first call.
    fn known(&self, name: &str, giver: &Template) -> Option<Value> {
        let descriptions =
            self.tools.values().filter_map(|tool| tool["properties"][name]["description"].as_str());
        let sources: BTreeSet<String> = descriptions
            .map(|text| self.sources(text))
            .filter(|sources| sources.contains(&giver.tool))
            .flatten()
            .collect();
        self.memory.newest(&sources, name)
    }

    /// The values of all names that lines say to keep first.
    fn kept_values(&self) -> BTreeMap<String, Value> {
        let lines = self.instructions.steps.iter().filter(|step| !step.calls.is_empty());
        lines
            .filter_map(|step| {
                let name = step.keeps.first()?;
                Some((name.clone(), self.known(name, &step.calls[0])?))
            })
            .collect()
    }

    fn changed_since(&self, before: &BTreeMap<String, Value>) -> Option<String> {
        let now = self.kept_values();
        let lines = self.instructions.steps.iter().filter_map(|step| step.keeps.first());
        lines
            .into_iter()
            .find(|name| before.contains_key(*name) && now.get(*name) != before.get(*name))
            .cloned()
    }

    /// The line after the one that keeps `name`, or that line itself if the client has nothing of that name.
    fn first_line_about(&self, name: &str) -> Option<usize> {
        let keeps = |step: &Step| step.keeps.first().is_some_and(|one| one == name);
        let at = self.instructions.steps.iter().position(keeps)?;
        Some(if self.kept_values().contains_key(name) { at + 1 } else { at })
    }

    /// Forgets everything that holds the values which a call named.
    fn give_up(&mut self, arguments: &Value) {
        let named: Vec<&Value> = arguments
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| self.instructions.steps.iter().any(|step| step.keeps.contains(name)))
            .map(|(_, value)| value)
            .collect();
        self.memory.forget(&named);
    }

    /// The value of `name` in the newest reply about what the client works on.
    fn standing(&self, name: &str) -> Option<String> {
        let kept = self.kept_values();
        self.memory.latest(name, &kept)?.as_str().map(str::to_owned)
    }

    /// Calls a tool. The error is the refusal.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<(), Value> {
        let answer = self.server.answer(tool, arguments.clone());
        let reply = match answer.pointer("/error/data/error") {
            Some(error) => Reply::Refused(error.clone()),
            None => reply::read(&envelope(&answer)),
        };
        self.calls.push((tool.to_owned(), arguments, reply.clone()));
        match reply {
            Reply::Done(data) => {
                self.memory.learn(tool, &data);
                Ok(())
            }
            Reply::Refused(error) => Err(error),
        }
    }
}

fn merge(into: &mut Value, from: &Value) {
    for (name, value) in from.as_object().into_iter().flatten() {
        into[name] = value.clone();
    }
}
