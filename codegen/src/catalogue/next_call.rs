//! The calls that an error suggests, and where the values of their arguments come from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call that helps after an error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NextCall {
    /// The tool.
    pub tool: String,
    /// A field of the error. Without a value there (null, false, zero, an empty text or list), the call could not succeed and is left
    /// out.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub only_if: Option<String>,
    /// Its arguments. A string that is exactly `{field}` or `{argument.name}` stands for the value of the error's field or of
    /// the call's argument; if that is null or absent, the argument is left out.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Arguments that only the caller can fill in, each with a hint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ask: BTreeMap<String, String>,
}

/// Where the value of an argument of a [`NextCall`] comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// It is written in the catalogue.
    Literal(&'a Value),
    /// A field of the error.
    Field(&'a str),
    /// An argument of the call that failed.
    Argument(&'a str),
}

impl<'a> Source<'a> {
    /// Reads a value as the catalogue has it.
    #[must_use]
    pub fn of(value: &'a Value) -> Self {
        let name = value.as_str().and_then(|text| text.strip_prefix('{')?.strip_suffix('}'));
        match name.filter(|name| !name.contains(['{', '}', ' '])) {
            None => Self::Literal(value),
            Some(name) => name.strip_prefix("argument.").map_or(Self::Field(name), Self::Argument),
        }
    }
}
