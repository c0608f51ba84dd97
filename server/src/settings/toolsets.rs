//! The check of stage 1 that refuses calls of tools which the operator left out (chain#toolsets).

use colibri_runtime::chain::admission::{Admission, Denial};
use colibri_runtime::chain::selection::Selection;
use colibri_runtime::spec::{CatalogueSpec, ChainCode, ToolSpec, fill};
use serde_json::{Map, Value, json};

use super::keys;
use super::mode::Mode;

/// Returns what a server offers in that mode. MINIMAL is for the tools that answer while a server starts, so it offers those with any
/// choice of the operator.
pub(crate) fn offered(chosen: &Selection, mode: Mode, catalogue: &CatalogueSpec) -> Selection {
    match (mode, chosen) {
        (Mode::Minimal, Selection::Only { toolsets, tools }) => {
            let early = catalogue.tools.iter().filter(|tool| tool.early).map(|tool| tool.name);
            Selection::Only {
                toolsets: toolsets.clone(),
                tools: tools.iter().copied().chain(early).collect(),
            }
        }
        _ => chosen.clone(),
    }
}

/// Stage 1's check of a server that offers some of its tools.
#[derive(Debug)]
pub(crate) struct ToolsetGate {
    selection: Selection,
    mode: Mode,
    denied: ChainCode,
}

impl ToolsetGate {
    /// Makes the check for a selection; the words of its denials are the catalogue's.
    pub const fn new(selection: Selection, mode: Mode, catalogue: &CatalogueSpec) -> Self {
        Self { selection, mode, denied: catalogue.codes.not_in_toolset }
    }
}

impl Admission for ToolsetGate {
    fn admit(&self, tool: &ToolSpec) -> Result<(), Denial> {
        // Operations are the server's and the operator's; the setting is about what clients are offered.
        if tool.is_operation() || self.selection.holds(tool) {
            return Ok(());
        }
        let (name, toolset, setting) = (tool.name, tool.toolset, keys::TOOLS.name);
        let left_out = toolset.unwrap_or("of this tool");
        let message =
            fill(self.denied.message, &[("tool", name), ("toolset", left_out), ("setting", setting)]);
        let details: [(&str, Value); 7] = [
            ("tool", json!(name)),
            ("mode", json!(self.mode.as_str())),
            ("required_capability", Value::Null),
            ("reason", json!("toolset")),
            ("toolset", json!(toolset)),
            ("setting", json!(setting)),
            ("remedy", json!(self.denied.remedy)),
        ];
        let details: Map<String, Value> =
            details.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
        Err(Denial { code: self.denied.code, message, details })
    }

    fn lists(&self, tool: &ToolSpec) -> bool {
        self.selection.holds(tool)
    }
}
