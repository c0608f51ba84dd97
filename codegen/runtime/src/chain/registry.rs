//! The tools by name, and what is checked when they are registered (chain#registry).

use std::collections::HashMap;

use crate::schema::{Schema, Shape};
use crate::spec::{Announcement, CatalogueSpec, Profile, ToolSpec};

/// The longest tool name (MCP 2025-11-25, server/tools#tool-names).
pub(crate) const TOOL_NAME_CHARACTERS: usize = 128;
/// The longest under [`Profile::House`]: some clients cut longer ones.
const HOUSE_NAME_CHARACTERS: usize = 64;

/// Why a tool was not registered. The registry is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// The name is not one that the catalogue's profile allows.
    #[error("invalid tool name: {0}")]
    InvalidName(String),
    /// The input's root is not an object.
    #[error("inputSchema must be an object schema")]
    NotAnObject,
    /// The name is taken.
    #[error("tool already registered: {0}")]
    AlreadyRegistered(String),
    /// The server has started.
    #[error("cannot register tool after start: {0}")]
    AfterStart(String),
}

/// Whether a name is one that a tool of a catalogue with that profile may have.
pub(crate) fn is_valid_tool_name(profile: Profile, name: &str) -> bool {
    match profile {
        // What clients of every kind take: the lint's rule for the profile (catalogue#profiles).
        Profile::House => {
            name.len() <= HOUSE_NAME_CHARACTERS
                && name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        }
        Profile::Open => {
            (1..=TOOL_NAME_CHARACTERS).contains(&name.len())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./".contains(&b))
                && name.bytes().any(|b| b.is_ascii_alphanumeric())
        }
    }
}

/// The registered tools, in registration order.
#[derive(Debug)]
pub struct Registry {
    catalogue: &'static CatalogueSpec,
    names: HashMap<&'static str, usize>,
    tools: Vec<&'static ToolSpec>,
    /// Names of the tools whose results hold fractional numbers.
    fractional: Vec<&'static str>,
    announcement: Option<&'static Announcement>,
    started: bool,
}

impl Registry {
    /// A registry without tools.
    pub fn empty(catalogue: &'static CatalogueSpec) -> Self {
        Self {
            catalogue,
            names: HashMap::new(),
            tools: Vec::new(),
            fractional: Vec::new(),
            announcement: None,
            started: false,
        }
    }

    /// A registry with all of a catalogue's tools.
    ///
    /// # Errors
    /// The first tool that breaks a rule.
    pub fn of(catalogue: &'static CatalogueSpec) -> Result<Self, RegistrationError> {
        Self::under(catalogue, &|_| None)
    }

    /// A registry with all of a catalogue's tools as the server's settings make them.
    ///
    /// # Errors
    /// The first tool that breaks a rule.
    pub fn under(
        catalogue: &'static CatalogueSpec,
        setting: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, RegistrationError> {
        let mut registry = Self::empty(catalogue);
        let holds = |announcement: &&Announcement| setting(announcement.setting) == Some(announcement.value);
        registry.announcement = catalogue.announcements.iter().find(holds);
        for tool in catalogue.tools {
            registry.register(tool.under(setting))?;
        }
        Ok(registry)
    }

    /// Adds one tool.
    ///
    /// # Errors
    /// The rule it breaks.
    pub fn register(&mut self, tool: &'static ToolSpec) -> Result<(), RegistrationError> {
        if self.started {
            return Err(RegistrationError::AfterStart(tool.name.to_owned()));
        }
        if !is_valid_tool_name(self.catalogue.profile, tool.name) {
            return Err(RegistrationError::InvalidName(tool.name.to_owned()));
        }
        if !matches!(tool.input.shape, Shape::Object(_)) {
            return Err(RegistrationError::NotAnObject);
        }
        if self.names.contains_key(tool.name) {
            return Err(RegistrationError::AlreadyRegistered(tool.name.to_owned()));
        }
        if holds_number(tool.output) {
            self.fractional.push(tool.name);
        }
        self.names.insert(tool.name, self.tools.len());
        self.tools.push(tool);
        Ok(())
    }

    /// Adds a group of tools, all or none.
    ///
    /// # Errors
    /// The first tool that breaks a rule; none of the group is registered then.
    pub fn register_all(&mut self, tools: &'static [ToolSpec]) -> Result<(), RegistrationError> {
        let before = self.tools.len();
        for tool in tools {
            if let Err(error) = self.register(tool) {
                for gone in self.tools.drain(before..) {
                    self.names.remove(gone.name);
                    self.fractional.retain(|name| *name != gone.name);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// No tool can be registered from now on.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// A tool's index by name.
    pub fn lookup(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// A tool by index.
    pub fn get(&self, index: usize) -> Option<&'static ToolSpec> {
        self.tools.get(index).copied()
    }

    /// Whether a tool's result may hold a fractional number, and so one that JSON cannot write.
    pub(crate) fn returns_numbers(&self, name: &str) -> bool {
        self.fractional.contains(&name)
    }

    /// All tools in registration order.
    pub fn tools(&self) -> &[&'static ToolSpec] {
        &self.tools
    }

    /// What clients are told first, as the server's settings are.
    pub fn announcement(&self) -> Option<&'static Announcement> {
        self.announcement
    }

    /// The catalogue the tools come from.
    pub fn catalogue(&self) -> &'static CatalogueSpec {
        self.catalogue
    }
}

fn holds_number(schema: &Schema) -> bool {
    match &schema.shape {
        Shape::Number(_) => true,
        Shape::Array(array) => holds_number(&array.items),
        Shape::Object(object) => object.properties.iter().any(|property| holds_number(&property.schema)),
        Shape::Record(record) => holds_number(&record.values),
        Shape::Union(union) => union.branches.iter().any(holds_number),
        Shape::Any | Shape::Null | Shape::Boolean | Shape::Integer(_) | Shape::String(_) | Shape::Enum(_) => {
            false
        }
    }
}
