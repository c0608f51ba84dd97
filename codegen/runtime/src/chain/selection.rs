//! Which tools of its catalogue a server offers (chain#toolsets).

use crate::spec::{Announcement, CatalogueSpec, Teaches, ToolSpec};

/// The tools that the operator of a server chose to offer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selection {
    /// Every tool of the catalogue.
    #[default]
    All,
    /// The tools of some toolsets, and single tools.
    Only {
        /// The sets' names.
        toolsets: Vec<&'static str>,
        /// The tools' names.
        tools: Vec<&'static str>,
    },
}

impl Selection {
    /// Returns whether the tool is offered.
    pub fn holds(&self, tool: &ToolSpec) -> bool {
        match self {
            Self::All => true,
            Self::Only { toolsets, tools } => {
                tool.toolset.is_some_and(|set| toolsets.contains(&set)) || tools.contains(&tool.name)
            }
        }
    }

    /// Returns what clients are told: the announcement, the head's instructions, and those of each set that is offered whole. The
    /// announcement says which of them hold.
    pub fn instructions(&self, catalogue: &CatalogueSpec, announcement: Option<&Announcement>) -> String {
        let teaches = announcement.map_or(Teaches::All, |announcement| announcement.teaches);
        let first = announcement.map(|announcement| announcement.instructions);
        let head = (teaches != Teaches::Nothing).then_some(catalogue.instructions);
        let offered = catalogue.toolsets.iter().filter(|set| match self {
            Self::All => true,
            Self::Only { toolsets, .. } => toolsets.contains(&set.name),
        });
        let parts = offered.flat_map(|set| match teaches {
            Teaches::All => [set.instructions, set.reading],
            Teaches::Reading => [None, set.reading],
            Teaches::Nothing => [None, None],
        });
        first.into_iter().chain(head).chain(parts.flatten()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns a tool's entry of `tools/list`. Under a choice it has no `outputSchema`: the operator narrowed the list to spare
    /// the model's context, and most of an entry is its output.
    pub fn listing(&self, tool: &ToolSpec) -> String {
        let Self::Only { .. } = self else { return tool.listing.to_owned() };
        let entry = serde_json::from_str(tool.listing).map(|mut entry: serde_json::Map<String, _>| {
            entry.shift_remove("outputSchema");
            serde_json::Value::Object(entry).to_string()
        });
        // The compiler wrote the entry as a JSON object.
        entry.unwrap_or_else(|_| tool.listing.to_owned())
    }
}
