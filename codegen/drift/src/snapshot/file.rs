//! Snapshot files: what a server told a client, in one form that a repository can hold.
//!
//! The same answers give the same bytes, and a change of one text is a change of one line. So members are sorted where their order
//! has no meaning. Lists keep their order, and so do the properties of a schema, since models read them in turn.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Unreadable;

/// The newest form of a snapshot file that this code reads, and the one that it writes.
const FORMAT: u64 = 1;
/// The member that makes a file a snapshot.
const HEAD: &str = "snapshot";
const HASH: &str = "sha256";
const VARIES: &str = "varies";
/// The lists of a snapshot, and the member by which clients know an entry.
const LISTS: [(&str, &str); 4] =
    [("tools", "name"), ("prompts", "name"), ("resources", "uri"), ("resourceTemplates", "uriTemplate")];
/// In the place of an entry's name: the order of the list.
const ORDER: &str = "*";
/// How often places are left out before the rest is compared again: values first, then orders.
const ROUNDS: usize = 4;

/// Returns a snapshot file with this content: the greeting and the lists as members. `varies` names the places that were left out,
/// since the server changes them from start to start.
#[must_use]
pub fn write(content: &Value, varies: &[String]) -> String {
    let mut head = json!({ "format": FORMAT });
    if let (Some(head), false) = (head.as_object_mut(), varies.is_empty()) {
        head.insert(VARIES.to_owned(), json!(varies));
    }
    let content = canonical(content);
    let digest = digest(&head, &content);
    if let Some(head) = head.as_object_mut() {
        head.insert(HASH.to_owned(), digest.into());
    }
    let members = content.as_object().cloned().unwrap_or_default();
    let file = Value::Object(std::iter::once((HEAD.to_owned(), head)).chain(members).collect());
    // A value without floats that are not numbers can always be written.
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    format!("{}\n", colibri_visible::json(&text))
}

/// Refuses a snapshot that was changed by hand or by a merge, or that has a newer form. Other values pass.
pub(super) fn check(file: &Value) -> Result<(), Unreadable> {
    let Some(head) = file.get(HEAD).filter(|head| head.get("format").is_some()) else { return Ok(()) };
    match head.get("format").and_then(Value::as_u64) {
        Some(FORMAT) => {}
        Some(form) if form > FORMAT => {
            return Err(Unreadable(format!(
                "the snapshot has format {form}, known is {FORMAT}; use a newer mcp-drift"
            )));
        }
        _ => return Err(Unreadable("the snapshot has an unknown `format`; capture it anew".to_owned())),
    }
    let mut content = file.clone();
    let mut bare = head.clone();
    let stated = bare.as_object_mut().and_then(|head| head.remove(HASH));
    if let Some(members) = content.as_object_mut() {
        members.remove(HEAD);
    }
    let found = digest(&bare, &canonical(&content));
    if stated.as_ref().and_then(Value::as_str) == Some(&found) {
        return Ok(());
    }
    Err(Unreadable(
        "the snapshot was changed after it was captured: its content does not have the hash that it states; take the committed \
         file again, or capture it anew with `mcp-drift snapshot -o FILE`"
            .to_owned(),
    ))
}

/// Returns the places that a snapshot leaves out; none for another kind of file.
#[must_use]
pub fn varying(text: &str) -> Vec<String> {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    let varies = file.get(HEAD).and_then(|head| head.get(VARIES)).and_then(Value::as_array);
    varies.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the text of a file with places left out, no longer as a snapshot file. What is not JSON stays as it is.
#[must_use]
pub fn without(text: &str, places: &[String]) -> String {
    let Ok(mut file) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if let Some(members) = file.as_object_mut() {
        members.shift_remove(HEAD);
    }
    leave_out(&file, places).to_string()
}

/// Returns where two contents of one server differ, as places for [`leave_out`]. Without them, both have the same bytes.
#[must_use]
pub fn differences(first: &Value, second: &Value) -> Vec<String> {
    let (mut first, mut second) = (canonical(first), canonical(second));
    let mut all = Vec::new();
    // Values may differ, and beside them the order of what is left.
    for _ in 0..ROUNDS {
        let mut found = Vec::new();
        differ(&first, &second, "", &mut found);
        if found.is_empty() {
            break;
        }
        (first, second) = (leave_out(&first, &found), leave_out(&second, &found));
        all.extend(found);
    }
    all
}

fn differ(first: &Value, second: &Value, at: &str, found: &mut Vec<String>) {
    // Values that differ in the order of members alone are equal, and their texts are not.
    let texts = (first.to_string(), second.to_string());
    if texts.0 == texts.1 {
        return;
    }
    match (first, second) {
        (Value::Object(_), Value::Object(_)) if first == second => {
            let before = found.len();
            for (name, a) in first.as_object().into_iter().flatten() {
                differ(a, second.get(name).unwrap_or(a), &format!("{at}/{}", escaped(name)), found);
            }
            if found.len() == before {
                found.push(format!("{at}/{ORDER}"));
            }
        }
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            for name in names {
                let at = format!("{at}/{}", escaped(name));
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => differ(a, b, &at, found),
                    _ => found.push(at),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if key_of(at).is_some() => {
            let key = key_of(at).unwrap_or_default();
            let (before, after) = (names_of(a, key), names_of(b, key));
            for (name, entry) in &before {
                let at = format!("{at}/{}", escaped(name));
                match after.iter().find(|(other, _)| other == name) {
                    Some((_, other)) => differ_in_entry(entry, other, &at, found),
                    None => found.push(at),
                }
            }
            let new = after.iter().filter(|(name, _)| !before.iter().any(|(other, _)| other == name));
            found.extend(new.map(|(name, _)| format!("{at}/{}", escaped(name))));
            let common = |some: &[(&str, &Value)], others: &[(&str, &Value)]| -> Vec<String> {
                let kept = some.iter().filter(|(name, _)| others.iter().any(|(other, _)| other == name));
                kept.map(|(name, _)| (*name).to_owned()).collect()
            };
            if common(&before, &after) != common(&after, &before) {
                found.push(format!("{at}/{ORDER}"));
            }
        }
        _ => found.push(at.to_owned()),
    }
}

/// An entry without an input schema is not a tool, so the whole entry differs with that.
fn differ_in_entry(first: &Value, second: &Value, at: &str, found: &mut Vec<String>) {
    let mut inside = Vec::new();
    differ(first, second, at, &mut inside);
    match inside.iter().any(|place| place == &format!("{at}/inputSchema")) {
        true => found.push(at.to_owned()),
        false => found.extend(inside),
    }
}

fn key_of(at: &str) -> Option<&'static str> {
    let list = at.strip_prefix('/')?;
    LISTS.iter().find(|(name, _)| *name == list).map(|(_, key)| *key)
}

fn names_of<'a>(entries: &'a [Value], key: &str) -> Vec<(&'a str, &'a Value)> {
    entries.iter().filter_map(|entry| Some((entry.get(key)?.as_str()?, entry))).collect()
}

/// Removes places from a snapshot's content. A place that is not there needs no removal.
#[must_use]
pub fn leave_out(content: &Value, places: &[String]) -> Value {
    let mut content = canonical(content);
    for place in places {
        if let Some(path) = place.strip_suffix(ORDER).and_then(|path| path.strip_suffix('/')) {
            sort(&mut content, &steps(path));
            continue;
        }
        match &steps(place)[..] {
            [list, name] if key_of(&format!("/{list}")).is_some() => {
                let key = key_of(&format!("/{list}")).unwrap_or_default();
                if let Some(Value::Array(entries)) = content.get_mut(list) {
                    entries.retain(|entry| entry.get(key).and_then(Value::as_str) != Some(name));
                }
            }
            [path @ .., last] => {
                if let Some(Value::Object(members)) = place_in(&mut content, path) {
                    // Not the removal that moves the last member: properties keep their order.
                    members.shift_remove(last);
                }
            }
            [] => {}
        }
    }
    content
}

/// Sorts a list by the names of its entries, or the properties of a schema by theirs.
fn sort(content: &mut Value, path: &[String]) {
    let key = path.first().and_then(|list| key_of(&format!("/{list}"))).unwrap_or_default();
    match place_in(content, path) {
        Some(Value::Array(entries)) => {
            entries.sort_by_cached_key(|entry| entry.get(key).and_then(Value::as_str).map(str::to_owned));
        }
        Some(Value::Object(members)) => members.sort_keys(),
        _ => {}
    }
}

fn place_in<'a>(content: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    let mut at = content;
    for (depth, step) in path.iter().enumerate() {
        at = match at {
            Value::Array(entries) if depth == 1 => {
                let key = key_of(&format!("/{}", path.first()?))?;
                entries.iter_mut().find(|entry| entry.get(key).and_then(Value::as_str) == Some(step))?
            }
            Value::Object(members) => members.get_mut(step)?,
            _ => return None,
        };
    }
    Some(at)
}

/// A step of a JSON pointer. A name that is an asterisk does not mean the order.
fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1").replace(ORDER, "~2")
}

fn steps(place: &str) -> Vec<String> {
    let unescaped = |step: &str| step.replace("~2", ORDER).replace("~1", "/").replace("~0", "~");
    place.split('/').skip(1).map(unescaped).collect()
}

fn digest(head: &Value, content: &Value) -> String {
    let text = format!("{}\n{content}", sorted(head));
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The content with sorted members; what a client is greeted with comes first, then the lists.
fn canonical(content: &Value) -> Value {
    let Value::Object(members) = content else { return sorted(content) };
    let mut names: Vec<&String> = members.keys().collect();
    let place = |name: &str| LISTS.iter().position(|(list, _)| *list == name);
    names.sort_by_key(|name| (place(name).map_or(0, |at| at + 1), *name));
    let entry = |name: &String| {
        let value = members.get(name).unwrap_or(&Value::Null);
        let value = match (name.as_str(), value) {
            ("tools", Value::Array(tools)) => tools.iter().map(tool).collect(),
            (_, other) => sorted(other),
        };
        (name.clone(), value)
    };
    Value::Object(names.into_iter().map(entry).collect())
}

fn tool(entry: &Value) -> Value {
    let Value::Object(members) = entry else { return sorted(entry) };
    let is_schema = |name: &str| matches!(name, "inputSchema" | "outputSchema");
    by_name(members, |name, value| if is_schema(name) { schema(value) } else { sorted(value) })
}

/// A schema with sorted keywords. Its properties keep their order; what a keyword holds as data is sorted.
fn schema(value: &Value) -> Value {
    match value {
        Value::Object(members) => by_name(members, |name, value| match (name, value) {
            ("properties", Value::Object(properties)) => {
                let kept = properties.iter().map(|(name, value)| (name.clone(), schema(value)));
                Value::Object(kept.collect())
            }
            ("$defs" | "definitions" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                by_name(named, |_, value| schema(value))
            }
            ("default" | "const" | "enum" | "examples", data) => sorted(data),
            (_, other) => schema(other),
        }),
        Value::Array(items) => items.iter().map(schema).collect(),
        scalar => scalar.clone(),
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => by_name(members, |_, value| sorted(value)),
        Value::Array(items) => items.iter().map(sorted).collect(),
        scalar => scalar.clone(),
    }
}

fn by_name(members: &Map<String, Value>, value: impl Fn(&str, &Value) -> Value) -> Value {
    let mut names: Vec<(&String, &Value)> = members.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    Value::Object(names.into_iter().map(|(name, inner)| (name.clone(), value(name, inner))).collect())
}
