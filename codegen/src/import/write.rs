//! The files of a catalogue from a surface.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::note::Note;
use super::surface::Surface;
use super::yaml;
use crate::ir::names::snake;
use crate::lint::pattern::version;

/// The chain's own codes, which every catalogue states.
const CHAIN: &str = include_str!("chain.yaml");
/// The hints by their names in the protocol and in the catalogue.
const HINTS: [(&str, &str); 4] = [
    ("readOnlyHint", "read_only"),
    ("destructiveHint", "destructive"),
    ("idempotentHint", "idempotent"),
    ("openWorldHint", "open_world"),
];
/// Members of a tool's entry that the catalogue has a place for.
const KNOWN: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// Returns what the surface says and the catalogue has no place for.
pub(super) fn notes(surface: &mut Surface) -> Vec<Note> {
    let mut notes = Vec::new();
    let known = ["name", "title", "version"];
    for (member, value) in surface.server.iter().filter(|(member, _)| !known.contains(&member.as_str())) {
        notes.push(Note { tool: None, text: format!("serverInfo.{member}: {value}") });
    }
    if surface.identity("version").is_some_and(|text| version(text).is_none()) {
        let text =
            format!("serverInfo.version: {}, which is not a semantic version", surface.server["version"]);
        notes.push(Note { tool: None, text });
    }
    for tool in &mut surface.tools {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut note = |text: String| notes.push(Note { tool: Some(name.clone()), text });
        let plain = json!({"taskSupport": "forbidden"});
        for (member, value) in tool.iter().filter(|(member, _)| !KNOWN.contains(&member.as_str())) {
            // Without it a tool runs as a plain call, too.
            if !(value.is_null() || member == "execution" && *value == plain) {
                note(format!("{member}: {value}"));
            }
        }
        // The protocol has a name of their own for these, and another type.
        if let Some(Value::Object(annotations)) = tool.get_mut("annotations") {
            let odd = |name: &str, value: &Value| match name {
                "title" => !value.is_string(),
                _ => HINTS.iter().any(|(known, _)| *known == name) && !value.is_boolean(),
            };
            annotations.retain(|name, value| {
                let odd = odd(name, value);
                if odd && !value.is_null() {
                    note(format!("annotations.{name}: {value}"));
                }
                !odd
            });
        }
    }
    notes
}

/// The files: path below the catalogue's folder, text.
pub(super) fn files(surface: &Surface, notes: &[Note]) -> Vec<(PathBuf, String)> {
    let domain = domain(surface);
    vec![
        (PathBuf::from("catalogue.yaml"), head(surface, &domain, notes)),
        (PathBuf::from(format!("tools/{domain}.yaml")), tools(surface, &domain, notes)),
    ]
}

/// The server's name as a file's.
fn domain(surface: &Surface) -> String {
    let name = snake(surface.identity("name").unwrap_or("tools"));
    if name.starts_with(|first: char| first.is_ascii_lowercase()) { name } else { format!("tools_{name}") }
}

fn head(surface: &Surface, domain: &str, notes: &[Note]) -> String {
    let name = surface.identity("name").unwrap_or("tools");
    let version = surface.identity("version").filter(|text| version(text).is_some()).unwrap_or("0.1.0");
    // Room to grow by half.
    let bytes = json!({ "tools": surface.tools }).to_string().len() * 3 / 2 + 1000;
    let mut text = String::from("# Written from what the server lists.\n");
    comments(&mut text, 0, notes, None);
    let members = json!({
        "profile": "open",
        "name": name,
        "title": surface.identity("title").unwrap_or(name),
        "version": version,
        "instructions": surface.instructions,
        "budget": {"tools_list_bytes": bytes},
        "domains": [domain],
    });
    yaml::members(&mut text, 0, members.as_object().unwrap_or(&Map::new()));
    text.push_str("\n# What the server answers by itself, for every tool.\n");
    text.push_str(CHAIN);
    text
}

fn tools(surface: &Surface, domain: &str, notes: &[Note]) -> String {
    let name = surface.identity("name").unwrap_or("tools");
    let mut text = format!(
        "domain: {domain}\ntitle: {}\ndescription: {}\ntools:\n",
        yaml::scalar(surface.identity("title").unwrap_or(name)),
        yaml::scalar(&format!("The tools of {name}."))
    );
    for (index, entry) in surface.tools.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        tool(&mut text, entry, surface, notes);
    }
    text
}

fn tool(out: &mut String, entry: &Map<String, Value>, surface: &Surface, notes: &[Note]) {
    let member = |name: &str| entry.get(name).filter(|value| !value.is_null()).cloned();
    let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
    comments(out, 1, notes, Some(name));
    let hints = hints(entry);
    let said = |hint: &str, absent: bool| hints.get(hint).and_then(Value::as_bool).unwrap_or(absent);
    // A tool that only reads what the process has needs no lock of its own; of any other, nothing is known but that it acts outside.
    let runs = if said("read_only", false) && !said("open_world", true) { "free" } else { "network" };
    let version = surface.identity("version").filter(|text| version(text).is_some()).unwrap_or("0.1.0");
    let members = [
        ("name", Some(json!(name))),
        ("title", member("title")),
        ("description", member("description")),
        ("pattern", Some(json!("C"))),
        ("envelope", Some(json!("none"))),
        ("runs", Some(json!(runs))),
        ("hints", (!hints.is_empty()).then_some(Value::Object(hints))),
        ("input", member("inputSchema")),
        ("output", member("outputSchema")),
        ("since", Some(json!(version))),
        ("stability", Some(json!("stable"))),
    ];
    let start = out.len();
    for (name, value) in members.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        yaml::member(out, 2, name, &value);
    }
    out.replace_range(start..start + 4, "  - ");
}

/// The annotations as the catalogue has them.
fn hints(entry: &Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(annotations)) = entry.get("annotations") else { return Map::new() };
    let mut hints: Map<String, Value> =
        annotations.get("title").map(|title| ("title".to_owned(), title.clone())).into_iter().collect();
    for (protocol, own) in HINTS {
        hints.extend(annotations.get(protocol).map(|hint| (own.to_owned(), hint.clone())));
    }
    let known = |name: &str| name == "title" || HINTS.iter().any(|(protocol, _)| *protocol == name);
    let other = annotations.iter().filter(|(name, _)| !known(name));
    let other: Map<String, Value> = other.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !other.is_empty() {
        hints.insert("other".to_owned(), Value::Object(other));
    }
    hints
}

/// Writes what could not be expressed, at the tool or at the head.
fn comments(out: &mut String, depth: usize, notes: &[Note], tool: Option<&str>) {
    for note in notes.iter().filter(|note| note.tool.as_deref() == tool) {
        let text = colibri_visible::printable(&note.text);
        out.push_str(&format!("{}# Not expressed here: {text}\n", "  ".repeat(depth)));
    }
}
