//! Where `$ref`s lead.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Place;
use super::schemas::inside;
use crate::snapshot::{Snapshot, Tool};

/// The references in a schema to places of the same document, with the pointers of those that refer.
fn references<'a>(schema: &'a Value, at: &str) -> Vec<(String, &'a str)> {
    let mut schemas = Vec::new();
    inside(schema, at, &mut schemas);
    let to = |schema: &'a Value| schema.get("$ref").and_then(Value::as_str);
    let local = |to: &&str| *to == "#" || to.starts_with("#/");
    schemas.into_iter().filter_map(|(pointer, schema)| Some((pointer, to(schema).filter(local)?))).collect()
}

/// What a reference leads to.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&percent_decoded(reference.strip_prefix('#')?))
}

/// A pointer in a URI: `%XX` is a byte.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = others.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the first reference on a way from the root that leads back to a place on its own way.
fn cycle(root: &Value) -> Option<(String, &str)> {
    let mut sound: BTreeSet<&str> = BTreeSet::new();
    references(root, "/input").into_iter().find(|(_, to)| leads_back(root, to, &mut Vec::new(), &mut sound))
}

fn leads_back<'a>(
    root: &'a Value,
    to: &'a str,
    way: &mut Vec<&'a str>,
    sound: &mut BTreeSet<&'a str>,
) -> bool {
    if way.contains(&to) {
        return true;
    }
    // A chain of this many references is treated like an endless one.
    if sound.contains(to) {
        return false;
    }
    let Some(schema) = target(root, to) else { return false };
    way.push(to);
    let back = way.len() > MAX_WAY
        || references(schema, "").into_iter().any(|(_, next)| leads_back(root, next, way, sound));
    way.pop();
    if !back {
        sound.insert(to);
    }
    back
}

/// The most references one after another that are followed; more count as a circle.
const MAX_WAY: usize = 100;

pub fn cycles(state: &Snapshot, found: &mut Vec<Place>) {
    for tool in &state.tools {
        if let Some((pointer, to)) = cycle(&tool.input) {
            let detail = format!("`$ref: {to}` leads back to itself");
            found.push(Place { tool: Some(tool.name.clone()), pointer, detail });
        }
    }
}

pub fn nowhere(state: &Snapshot, found: &mut Vec<Place>) {
    let mut look = |tool: &Tool, schema: &Value, at: &str| {
        for (pointer, to) in references(schema, at).into_iter().filter(|(_, to)| target(schema, to).is_none())
        {
            let detail = format!("`$ref: {to}` leads nowhere");
            found.push(Place { tool: Some(tool.name.clone()), pointer, detail });
        }
    };
    for tool in &state.tools {
        look(tool, &tool.input, "/input");
        if let Some(output) = &tool.output {
            look(tool, output, "/output");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn circles_are_told_from_repetitions() {
        let tree = json!({"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "properties": {"a": {"$ref": "#/$defs/n"}}});
        let root = json!({"properties": {"a": {"items": {"$ref": "#"}}}});
        let pair = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "allOf": [{"$ref": "#/$defs/a"}]});
        for circle in [tree, root, pair] {
            assert!(cycle(&circle).is_some(), "{circle}");
        }
        let twice = json!({"$defs": {"a": {"type": "string"}, "b/c": {"items": {"$ref": "#/$defs/a"}}},
            "properties": {"x": {"$ref": "#/$defs/b~1c"}, "y": {"$ref": "#/$defs/b%7E1c"}, "z": {"$ref": "#/$defs/none"}}});
        assert_eq!(cycle(&twice), None);
        let lost: Vec<_> =
            references(&twice, "").into_iter().filter(|(_, to)| target(&twice, to).is_none()).collect();
        assert_eq!(lost, [("/properties/z".to_owned(), "#/$defs/none")]);
    }
}
