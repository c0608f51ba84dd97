//! The check of stage 1 that refuses calls of tools which the operator left out (chain#toolsets).

use colibri_runtime::chain::admission::{Admission, Denial};
use colibri_runtime::chain::selection::Selection;
use colibri_runtime::spec::{CatalogueSpec, ToolSpec};
use serde_json::{Map, Value, json};

use super::keys;
use super::mode::Mode;

/// Stage 1's check of a server that offers some of its tools.
#[derive(Debug)]
pub(crate) struct ToolsetGate {
    selection: Selection,
    mode: Mode,
    code: &'static str,
    remedy: &'static str,
}

impl ToolsetGate {
    /// Makes the check for a selection; the code and the remedy of its denials are the catalogue's.
    pub const fn new(selection: Selection, mode: Mode, catalogue: &CatalogueSpec) -> Self {
        let (code, remedy) = (catalogue.codes.not_in_toolset, catalogue.remedies.not_in_toolset);
        Self { selection, mode, code, remedy }
    }
}

impl Admission for ToolsetGate {
    fn admit(&self, tool: &ToolSpec) -> Result<(), Denial> {
        // Operations are the server's and the operator's; the setting is about what clients are offered.
        if tool.is_operation() || self.selection.holds(tool) {
            return Ok(());
        }
        let (name, toolset, setting) = (tool.name, tool.toolset, keys::TOOLS.name);
        let message = format!(
            "Tool {name} is switched off: {setting} leaves out the toolset {}",
            toolset.unwrap_or("of this tool")
        );
        let details: [(&str, Value); 7] = [
            ("tool", json!(name)),
            ("mode", json!(self.mode.as_str())),
            ("required_capability", Value::Null),
            ("reason", json!("toolset")),
            ("toolset", json!(toolset)),
            ("setting", json!(setting)),
            ("remedy", json!(self.remedy)),
        ];
        let details: Map<String, Value> =
            details.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
        Err(Denial { code: self.code, message, details })
    }

    fn lists(&self, tool: &ToolSpec) -> bool {
        self.selection.holds(tool)
    }
}
