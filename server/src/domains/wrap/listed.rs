//! A list of tools: as it is stored, and as pins compare it.

use std::collections::BTreeMap;

use colibri_canonical::{HexDigest, NumberRule, canonical_json};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::wrap::hash::{list_hash, tool_hash};

/// A server's tools and instructions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolList {
    /// The server's instructions, if it gave any.
    pub instructions: Option<String>,
    /// The whole entry of each tool, in the order of the list.
    pub tools: Vec<Value>,
}

/// What of a list is compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Listed {
    /// The server's instructions.
    pub instructions: Option<String>,
    /// The hash of each tool, by its name.
    pub tools: BTreeMap<String, HexDigest>,
}

impl ToolList {
    /// Reads a stored list; `None` unless it is one in the form of [`ToolList::text`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let list: Self = serde_json::from_str(text).ok()?;
        (list.text().ok()? == text).then_some(list)
    }

    /// Returns the list as it is stored: canonical JSON of instructions and tools.
    ///
    /// # Errors
    /// What is wrong with a tool's entry, for the operator.
    pub(crate) fn text(&self) -> Result<String, String> {
        let value = json!({ "instructions": self.instructions, "tools": self.tools });
        canonical_json(&value, NumberRule::Wire).map_err(|error| error.to_string())
    }

    /// Returns what of the list is compared.
    ///
    /// # Errors
    /// What is wrong with a tool's entry, for the operator.
    pub(crate) fn listed(&self) -> Result<Listed, String> {
        let mut tools = BTreeMap::new();
        for (index, tool) in self.tools.iter().enumerate() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else {
                return Err(format!("the list's entry {index} has no name"));
            };
            let canonical = canonical_json(tool, NumberRule::Wire).map_err(|error| error.to_string())?;
            if tools.insert(name.to_owned(), tool_hash(&canonical)).is_some() {
                return Err(format!("the list names the tool {name} twice"));
            }
        }
        Ok(Listed { instructions: self.instructions.clone(), tools })
    }
}

impl Listed {
    /// Returns the hash of the list.
    pub(crate) fn hash(&self) -> HexDigest {
        list_hash(self.instructions.as_deref(), &self.tools)
    }

    /// Lays a later list over a pin. A tool that the list lacks stays, since servers list by what the client can do, and so do
    /// instructions.
    pub(crate) fn lay(&mut self, list: Self) {
        self.instructions = list.instructions.or_else(|| self.instructions.take());
        self.tools.extend(list.tools);
    }

    /// Returns whether nothing in the list is new to the pin or differs from it.
    pub(crate) fn holds(&self, list: &Self) -> bool {
        (list.instructions.is_none() || self.instructions == list.instructions)
            && list.tools.iter().all(|(name, hash)| self.tools.get(name) == Some(hash))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn list(instructions: Option<&str>, tools: &[(&str, &str)]) -> ToolList {
        let tool = |(name, text): &(&str, &str)| json!({ "name": name, "description": text });
        let instructions = instructions.map(str::to_owned);
        ToolList { instructions, tools: tools.iter().map(tool).collect() }
    }

    fn listed(instructions: Option<&str>, tools: &[(&str, &str)]) -> Listed {
        list(instructions, tools).listed().unwrap()
    }

    #[test]
    fn a_pin_holds_what_was_laid_over_it() {
        let mut pin = listed(Some("Ask."), &[("a", "1"), ("b", "1")]);
        let fewer = listed(None, &[("a", "1")]);
        assert!(pin.holds(&fewer), "neither a missing tool nor missing instructions are a difference");
        pin.lay(fewer);
        assert!(pin.holds(&listed(Some("Ask."), &[("b", "1"), ("a", "1")])), "both stay");
        for other in [
            listed(Some("Ask twice."), &[("a", "1")]),
            listed(Some("Ask."), &[("a", "2")]),
            listed(Some("Ask."), &[("c", "1")]),
        ] {
            assert!(!pin.holds(&other), "{other:?}");
            pin.lay(other.clone());
            assert!(pin.holds(&other), "{other:?}");
        }
    }

    #[test]
    fn only_the_canonical_text_of_a_list_is_one() {
        let stored = list(Some("\u{202e}"), &[("a", "1")]).text().unwrap();
        assert_eq!(ToolList::parse(&stored), Some(list(Some("\u{202e}"), &[("a", "1")])));
        let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let deep = stored.replace("\"1\"", &nested);
        for other in [format!(" {stored}"), stored.replace("tools", "tool"), stored.replace('}', ",}"), deep]
        {
            assert_eq!(ToolList::parse(&other), None, "{other}");
        }
    }

    #[test]
    fn a_list_that_no_pin_can_be_made_of_says_why() {
        let twice = list(None, &[("a", "1"), ("a", "2")]).listed();
        assert_eq!(twice, Err("the list names the tool a twice".to_owned()));
        let nameless = ToolList { instructions: None, tools: vec![json!({ "title": "a" })] };
        assert_eq!(nameless.listed(), Err("the list's entry 0 has no name".to_owned()));
    }
}
