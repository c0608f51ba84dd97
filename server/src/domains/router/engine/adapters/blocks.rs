//! The content of an answer that requests tools: JSON text of blocks in Anthropic's form, for every provider
//! (router#answers). Pure.

use serde_json::{Map, Value, json};

/// Text and tool calls of an answer, in the order received.
#[derive(Default)]
pub struct Blocks {
    text: String,
    calls: Vec<Value>,
}

impl Blocks {
    /// Appends text.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a tool call. A call without an id gets `call_<n>`, counted from 0.
    pub fn call(&mut self, id: Option<&str>, name: &str, input: Map<String, Value>) {
        let id = id
            .filter(|id| !id.is_empty())
            .map_or_else(|| format!("call_{}", self.calls.len()), str::to_owned);
        self.calls.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
    }

    /// Returns whether the answer requests a tool.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Returns the text alone, or the array of blocks, text first.
    pub fn into_content(self) -> String {
        if self.calls.is_empty() {
            return self.text;
        }
        let mut blocks = Vec::with_capacity(self.calls.len() + 1);
        if !self.text.is_empty() {
            blocks.push(json!({ "type": "text", "text": self.text }));
        }
        blocks.extend(self.calls);
        Value::Array(blocks).to_string()
    }
}

/// Returns the arguments of a tool call as an object. Any other value is kept as text under `_raw`.
pub fn input(arguments: Option<&Value>) -> Map<String, Value> {
    let raw = match arguments {
        None | Some(Value::Null) => return Map::new(),
        Some(Value::Object(members)) => return members.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(members)) => return members,
            _ => text.clone(),
        },
        Some(other) => other.to_string(),
    };
    Map::from_iter([("_raw".to_owned(), Value::String(raw))])
}
