//! Names of tools and of their arguments.

use serde_json::Value;

use super::Place;
use crate::snapshot::Snapshot;

/// The longest name that every provider takes.
const NAME_CHARACTERS: usize = 64;

fn named(state: &Snapshot, found: &mut Vec<Place>, detail: impl Fn(&str) -> Option<String>) {
    for tool in &state.tools {
        if let Some(detail) = detail(&tool.name) {
            found.push(Place { tool: Some(tool.name.clone()), pointer: "/name".to_owned(), detail });
        }
    }
}

pub fn characters(state: &Snapshot, found: &mut Vec<Place>) {
    let odd = |c: &char| !(c.is_ascii_alphanumeric() || "_-".contains(*c));
    named(state, found, |name| Some(format!("the name has {}", name.chars().find(odd).map(shown)?)));
}

pub fn first(state: &Snapshot, found: &mut Vec<Place>) {
    let odd = |c: &char| !(c.is_ascii_alphabetic() || *c == '_');
    named(state, found, |name| {
        Some(format!("the name begins with {}", name.chars().next().filter(odd).map(shown)?))
    });
}

fn shown(c: char) -> String {
    format!("`{}`", c.escape_debug())
}

pub fn length(state: &Snapshot, found: &mut Vec<Place>) {
    named(state, found, |name| match name.chars().count() {
        0 => Some("the name is empty".to_owned()),
        length => (length > NAME_CHARACTERS).then(|| format!("the name has {length} characters")),
    });
}

/// A server is known to hosts by the name that the user gives it, which often is its own.
pub fn with_server(state: &Snapshot, found: &mut Vec<Place>) {
    let Some(server) = &state.name else { return };
    named(state, found, |name| {
        let whole = format!("mcp__{server}__{name}").chars().count();
        // A name that is too long by itself is told by itself.
        let alone = name.chars().count() > NAME_CHARACTERS;
        (whole > NAME_CHARACTERS && !alone).then(|| format!("`mcp__{server}__{name}` has {whole} characters"))
    });
}

/// Providers look at the names of the arguments alone, not at those inside of them.
pub fn properties(state: &Snapshot, found: &mut Vec<Place>) {
    let is_odd = |name: &str| {
        let sound = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        name.is_empty() || name.chars().count() > NAME_CHARACTERS || !name.chars().all(sound)
    };
    for tool in &state.tools {
        let properties = tool.input.get("properties").and_then(Value::as_object);
        for name in properties.into_iter().flatten().map(|(name, _)| name).filter(|name| is_odd(name)) {
            found.push(Place {
                tool: Some(tool.name.clone()),
                pointer: format!("/input/properties/{}", name.replace('~', "~0").replace('/', "~1")),
                detail: format!("the argument is called `{name}`"),
            });
        }
    }
}
