//! Reads a live server's answers: `tools/list`, and, if present, `initialize` or `server/discover` and the lists of prompts and
//! resources.
//!
//! Accepts a bare result, a JSON-RPC response around it, a bare array of tools, or an array of results or responses: the pages, or
//! all answers of a session. An object may also carry the greeting in a member `initialize` or `server/discover`; so snapshots
//! are read, too.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Hints, Snapshot, TaskSupport, Tool, Unreadable, lines};

/// Where `server/discover` puts the server's identity.
pub const IDENTITY: &str = "io.modelcontextprotocol/serverInfo";
/// Members that hold a greeting beside the lists.
const GREETINGS: [&str; 2] = ["initialize", "server/discover"];

/// Reads the answers of a server.
///
/// # Errors
/// The text is not JSON, no answer in it lists tools, or a tool has no name or input schema.
pub fn parse(text: &str) -> Result<Snapshot, Unreadable> {
    read(&answers(text)?)
}

/// Returns a server's answers, from a text of any kind but a lock: each a result or a response around it.
///
/// # Errors
/// The text is not JSON, or a snapshot file that was changed after it was captured.
pub fn answers(text: &str) -> Result<Vec<Value>, Unreadable> {
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            return lines::answers(text).unwrap_or_else(|| Err(Unreadable(format!("not JSON: {error}"))));
        }
    };
    super::file::check(&value)?;
    Ok(match value {
        Value::Array(entries) if entries.iter().any(is_tool) => vec![json!({ "tools": entries })],
        Value::Array(answers) => answers,
        single if is_tool(&single) => vec![json!({ "tools": [single] })],
        single => vec![single],
    })
}

/// Whether a value is a tool as a list has it, and not an answer.
fn is_tool(value: &Value) -> bool {
    value.get("name").is_some_and(Value::is_string) && value.get("inputSchema").is_some()
}

/// Reads answers one after another.
fn read(answers: &[Value]) -> Result<Snapshot, Unreadable> {
    let mut snapshot = Snapshot::default();
    let mut listed = false;
    for answer in answers {
        let result = answer.get("result").unwrap_or(answer);
        for greeting in GREETINGS.iter().filter_map(|name| result.get(*name)) {
            greet(greeting.get("result").unwrap_or(greeting), &mut snapshot);
        }
        offers(result, &mut snapshot);
        if let Some(tools) = result.get("tools").and_then(Value::as_array) {
            listed = true;
            page(result, tools, &mut snapshot)?;
        } else {
            greet(result, &mut snapshot);
        }
    }
    if let Some(list) = cut_off(answers) {
        return Err(Unreadable(format!(
            "the last page of `{list}` has a `nextCursor`, so the list goes on; put the answers with its other pages into the same \
             file, as an array or one a line"
        )));
    }
    if !listed {
        return Err(Unreadable("no answer to `tools/list`: no `tools` array in it".to_owned()));
    }
    let mut names = BTreeSet::new();
    match snapshot.tools.iter().find(|tool| !names.insert(&tool.name)) {
        Some(tool) => Err(Unreadable(format!("the tool `{}` is listed twice", tool.name))),
        None => Ok(snapshot),
    }
}

/// Returns the list whose last page here is not its last.
fn cut_off(answers: &[Value]) -> Option<&'static str> {
    lines::LISTS.into_iter().find(|list| {
        let mut pages = answers.iter().rev().map(|answer| answer.get("result").unwrap_or(answer));
        let last = pages.find(|result| result.get(*list).is_some_and(Value::is_array));
        last.is_some_and(lines::goes_on)
    })
}

/// Reads the answer to `initialize` or `server/discover`.
fn greet(result: &Value, snapshot: &mut Snapshot) {
    let identity = result.get("serverInfo").or_else(|| result.get("_meta")?.get(IDENTITY));
    let Some(identity) = identity.map(given) else { return };
    let identity = &identity;
    snapshot.name = text(identity, "name");
    let mut about = identity.as_object().cloned().unwrap_or_default();
    about.retain(|key, _| key != "name" && key != "version");
    about.extend(result.get("capabilities").map(|all| ("capabilities".to_owned(), all.clone())));
    snapshot.identity = Some(Value::Object(about));
    snapshot.version = text(identity, "version");
    snapshot.instructions = Some(text(result, "instructions").unwrap_or_default());
    snapshot.revisions = match (result.get("supportedVersions"), result.get("protocolVersion")) {
        (Some(Value::Array(all)), _) => {
            Some(all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        (_, Some(Value::String(one))) => Some(vec![one.clone()]),
        _ => None,
    };
    snapshot.capabilities = result.get("capabilities").and_then(Value::as_object).map(capabilities);
}

/// Returns the capabilities by name, with what a client may ask for by them; extensions and experiments by their own names.
fn capabilities(all: &Map<String, Value>) -> Vec<String> {
    const GROUPS: [&str; 2] = ["extensions", "experimental"];
    let mut names = Vec::new();
    for (name, capability) in all.iter().filter(|(name, _)| !GROUPS.contains(&name.as_str())) {
        names.push(name.clone());
        let parts = capability.as_object().into_iter().flatten();
        // A client that is told of no change reads the list again when it needs it.
        let asked = parts.filter(|(part, value)| {
            *part != "listChanged" && (**value == Value::Bool(true) || value.is_object())
        });
        names.extend(asked.map(|(part, _)| format!("{name}.{part}")));
    }
    let grouped = GROUPS.iter().filter_map(|group| all.get(*group)?.as_object()).flatten();
    names.into_iter().chain(grouped.map(|(name, _)| name.clone())).collect()
}

/// Reads pages of `prompts/list`, `resources/list` and `resources/templates/list`.
fn offers(result: &Value, snapshot: &mut Snapshot) {
    for (list, entries) in [
        ("prompts", &mut snapshot.prompts),
        ("resources", &mut snapshot.resources),
        ("resourceTemplates", &mut snapshot.templates),
    ] {
        if let Some(page) = result.get(list).and_then(Value::as_array) {
            entries.get_or_insert_default().extend(page.iter().map(given));
        }
    }
}

fn page(result: &Value, tools: &[Value], snapshot: &mut Snapshot) -> Result<(), Unreadable> {
    if let Some(scope) = text(result, "cacheScope") {
        snapshot.cache_scope = Some(scope);
    }
    if let Some(ttl) = result.get("ttlMs").and_then(Value::as_u64) {
        snapshot.ttl_ms = Some(ttl);
    }
    for entry in tools {
        snapshot.tools.push(tool(&given(entry))?);
    }
    Ok(())
}

/// An entry as it counts: libraries write null for members that are not given, also inside annotations, and in the arguments of a
/// prompt. In a schema null is a value, and stays.
pub fn given(entry: &Value) -> Value {
    let Value::Object(members) = entry else { return entry.clone() };
    let kept = members.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("annotations" | "execution", Value::Object(_)) => given(value),
            ("arguments" | "icons", Value::Array(items)) => items.iter().map(given).collect(),
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    // What held nothing but null says as much as if it were not there.
    let empty = |name: &str, value: &Value| {
        name == "annotations"
            && value.as_object().is_some_and(Map::is_empty)
            && members.get(name).and_then(Value::as_object).is_some_and(|given| !given.is_empty())
    };
    Value::Object(kept.filter(|(name, value)| !empty(name, value)).collect())
}

fn tool(entry: &Value) -> Result<Tool, Unreadable> {
    let name = text(entry, "name").ok_or_else(|| Unreadable("a tool has no name".to_owned()))?;
    let schema =
        |key: &str| entry.get(key).filter(|schema| schema.is_object() || schema.is_boolean()).cloned();
    let input =
        schema("inputSchema").ok_or_else(|| Unreadable(format!("the tool `{name}` has no `inputSchema`")))?;
    let of_object = input.get("type").is_some_and(|kind| kind == "object");
    let input = of_objects(input);
    let annotations = entry.get("annotations").cloned().unwrap_or_default();
    let hint = |key: &str, absent: bool| annotations.get(key).and_then(Value::as_bool).unwrap_or(absent);
    let hint_title = text(&annotations, "title");
    let title = text(entry, "title").or_else(|| hint_title.clone());
    Ok(Tool {
        hint_title: hint_title.filter(|hint| title.as_ref() != Some(hint)),
        title,
        description: text(entry, "description").unwrap_or_default(),
        icons: entry.get("icons").cloned().unwrap_or_default(),
        hints: Hints {
            read_only: hint("readOnlyHint", false),
            destructive: hint("destructiveHint", true),
            idempotent: hint("idempotentHint", false),
            open_world: hint("openWorldHint", true),
        },
        task_support: task_support(entry, &name)?,
        input,
        of_object,
        output: schema("outputSchema"),
        contract: None,
        malformed: malformed(entry),
        rest: rest(entry, &annotations),
        name,
    })
}

/// Returns the members that have another form than the protocol gives them, each with its place and what it should be.
fn malformed(entry: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let mut check = |pointer: String, should: &'static str, is: &dyn Fn(&Value) -> bool| {
        if entry.pointer(&pointer).is_some_and(|value| !is(value)) {
            found.push((pointer, should));
        }
    };
    for name in ["title", "description", "annotations/title"] {
        check(format!("/{name}"), "text", &Value::is_string);
    }
    check("/icons".to_owned(), "a list", &Value::is_array);
    check("/annotations".to_owned(), "an object", &Value::is_object);
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
        check(format!("/annotations/{hint}"), "true or false", &Value::is_boolean);
    }
    for schema in ["inputSchema", "outputSchema"] {
        let texts = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        check(format!("/{schema}/required"), "a list of texts", &texts);
        let schemas = |value: &Value| {
            value.as_object().is_some_and(|members| {
                members.values().all(|schema| schema.is_object() || schema.is_boolean())
            })
        };
        check(format!("/{schema}/properties"), "an object of schemas", &schemas);
    }
    found
}

/// Adds `type: object` where the schema omits it: in every call the arguments are an object.
fn of_objects(schema: Value) -> Value {
    match schema {
        Value::Object(members) if !members.contains_key("type") => {
            let kind = [("type".to_owned(), Value::from("object"))];
            Value::Object(kind.into_iter().chain(members).collect())
        }
        Value::Bool(true) => json!({"type": "object"}),
        other => other,
    }
}

fn task_support(entry: &Value, name: &str) -> Result<TaskSupport, Unreadable> {
    match entry.get("execution").and_then(|execution| execution.get("taskSupport")) {
        None => Ok(TaskSupport::Forbidden),
        Some(support) => serde_json::from_value(support.clone())
            .map_err(|_| Unreadable(format!("the tool `{name}` has the unknown `taskSupport` {support}"))),
    }
}

/// Returns members that [`tool`] does not read, those of the annotations among them.
fn rest(entry: &Value, annotations: &Value) -> Map<String, Value> {
    const ENTRY: [&str; 8] =
        ["name", "title", "description", "icons", "annotations", "execution", "inputSchema", "outputSchema"];
    const HINTS: [&str; 5] = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let unknown = |value: &Value, known: &[&str], prefix: &str| -> Vec<(String, Value)> {
        let members = value.as_object().into_iter().flatten();
        members
            .filter(|(key, _)| !known.contains(&key.as_str()))
            .map(|(key, value)| (format!("{prefix}{key}"), value.clone()))
            .collect()
    };
    let mut rest = unknown(entry, &ENTRY, "");
    rest.extend(unknown(annotations, &HINTS, "annotations/"));
    let execution = entry.get("execution").cloned().unwrap_or_default();
    rest.extend(unknown(&execution, &["taskSupport"], "execution/"));
    rest.into_iter().collect()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn list(name: &str) -> Value {
        json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}]})
    }

    #[test]
    fn bare_result_response_and_pages_are_the_same() {
        let bare = parse(&list("a").to_string()).unwrap();
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": list("a")});
        assert_eq!(parse(&response.to_string()).unwrap(), bare);
        let pages = parse(&json!([response, list("b")]).to_string()).unwrap();
        let names: Vec<_> = pages.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn greeting_of_either_era_is_read() {
        let initialize = json!({
            "serverInfo": {"name": "s", "version": "1.0.0"}, "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
        });
        let discover = json!({"result": {
            "supportedVersions": ["2026-07-28", "2025-11-25"], "instructions": "Hi.",
            "capabilities": {"tools": {}, "extensions": {"io.x/tasks": {}}}, "_meta": {IDENTITY: {"name": "s"}},
        }});
        let old = parse(&json!([initialize, list("a")]).to_string()).unwrap();
        assert_eq!((old.name.as_deref(), old.version.as_deref()), (Some("s"), Some("1.0.0")));
        assert_eq!(old.instructions.as_deref(), Some(""));
        let new = parse(&json!([discover, list("a")]).to_string()).unwrap();
        assert_eq!(new.revisions.unwrap().len(), 2);
        assert_eq!(new.capabilities.unwrap(), ["tools", "io.x/tasks"]);
    }

    #[test]
    fn what_is_no_answer_is_told() {
        for (value, reason) in [
            (json!({"a": 1}), "no answer to `tools/list`: no `tools` array in it"),
            (json!([list("a"), list("a")]), "the tool `a` is listed twice"),
            (json!({"tools": [{}]}), "a tool has no name"),
            (json!({"tools": [{"name": "a"}]}), "the tool `a` has no `inputSchema`"),
        ] {
            assert_eq!(parse(&value.to_string()).map_err(|error| error.to_string()), Err(reason.to_owned()));
        }
    }
}
