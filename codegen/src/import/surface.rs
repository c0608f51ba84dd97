//! What a server said of itself and of its tools.

use colibri_drift::snapshot;
use serde_json::{Map, Value};

/// A server's identity and tools, as it listed them.
#[derive(Debug, Clone, Default)]
pub struct Surface {
    /// `serverInfo`.
    pub(super) server: Map<String, Value>,
    /// The instructions; empty without.
    pub(super) instructions: String,
    /// The entries of `tools/list`.
    pub(super) tools: Vec<Map<String, Value>>,
}

impl Surface {
    /// Reads a server's answers to `tools/list` and `initialize`, in any form that the drift gate takes but a lock.
    ///
    /// ```
    /// use colibri_codegen::import::Surface;
    ///
    /// assert!(Surface::read(r#"{"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}"#).is_ok());
    /// assert!(Surface::read("{}").is_err());
    /// ```
    ///
    /// # Errors
    /// What is wrong with the text, in a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let answers = snapshot::answers(text).map_err(|error| error.to_string())?;
        if answers.iter().any(|answer| answer.get("lock").is_some()) {
            return Err("this is the lock of a catalogue, and its YAML files are there already".to_owned());
        }
        // Names and input schemas are there, and no name twice.
        colibri_drift::from_tools_list(text).map_err(|error| error.to_string())?;
        let mut surface = Self::default();
        for answer in &answers {
            let result = answer.get("result").unwrap_or(answer);
            surface.greet(result);
            for greeting in ["initialize", "server/discover"].into_iter().filter_map(|name| result.get(name))
            {
                surface.greet(greeting.get("result").unwrap_or(greeting));
            }
            let entries = result.get("tools").and_then(Value::as_array).into_iter().flatten();
            surface.tools.extend(entries.filter_map(Value::as_object).cloned());
        }
        Ok(surface)
    }

    fn greet(&mut self, result: &Value) {
        const IDENTITY: &str = "io.modelcontextprotocol/serverInfo";
        let identity = result.get("serverInfo").or_else(|| result.get("_meta")?.get(IDENTITY));
        if let Some(Value::Object(identity)) = identity {
            self.server = identity.clone();
        }
        if let Some(Value::String(text)) = result.get("instructions") {
            self.instructions.clone_from(text);
        }
    }

    /// A text of the server's identity, if it is there and says something.
    pub(super) fn identity(&self, member: &str) -> Option<&str> {
        self.server.get(member).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}
