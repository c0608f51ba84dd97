//! Which skills declare which capability (epsilon §9.5). Pure.

use std::collections::{BTreeMap, BTreeSet};

/// Capability to the names of the skills that declare it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapabilityIndex(BTreeMap<String, BTreeSet<String>>);

/// Builds the index of skills, given by name and capabilities. A capability that a skill names twice counts
/// once; capabilities are taken as they are written.
pub fn build_capability_index<'a>(
    skills: impl IntoIterator<Item = (&'a str, &'a [String])>,
) -> CapabilityIndex {
    let mut index: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, capabilities) in skills {
        for capability in capabilities {
            index.entry(capability.clone()).or_default().insert(name.to_owned());
        }
    }
    CapabilityIndex(index)
}

/// The names of the skills that declare it, sorted bytewise; none for a capability nobody declares.
pub fn find_skills_by_capability<'a>(index: &'a CapabilityIndex, capability: &str) -> Vec<&'a str> {
    index.0.get(capability).map(|names| names.iter().map(String::as_str).collect()).unwrap_or_default()
}
