//! A lock file, as the catalogue compiler writes it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ChainCode, Contract, Hints, Snapshot, TaskSupport, Tool, Unreadable};

/// The newest form of a lock that this code reads.
const FORM: u32 = 1;

#[derive(Deserialize)]
struct Lock {
    lock: u32,
    name: String,
    title: String,
    version: String,
    instructions: String,
    #[serde(default)]
    budget: Option<Budget>,
    #[serde(default)]
    chain: Map<String, Value>,
    #[serde(default)]
    toolsets: Vec<Toolset>,
    #[serde(default)]
    announcements: Vec<Announcement>,
    #[serde(default)]
    notices: Vec<Notice>,
    tools: Vec<Entry>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Budget {
    tools_list_bytes: usize,
}

/// Names, titles and descriptions of toolsets are for operators; rule T14 looks at the tools themselves.
#[derive(Deserialize)]
struct Toolset {
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    reading: Option<String>,
}

/// Instructions under a setting of the server.
#[derive(Deserialize)]
struct Announcement {
    setting: String,
    value: String,
    instructions: String,
    /// What of the other instructions holds then.
    #[serde(default)]
    teaches: Option<String>,
}

/// What a reply may say beside its result.
#[derive(Deserialize)]
struct Notice {
    code: String,
    message: String,
}

#[derive(Deserialize)]
struct Role {
    code: String,
    message: String,
    #[serde(default)]
    answered: Option<String>,
    #[serde(default)]
    remedy: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    title: String,
    description: String,
    hints: Hints,
    input: Value,
    output: Value,
    #[serde(default)]
    operator: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Members of a tool that [`Contract`] reads; `since`, `scan` and `early` change nothing for clients.
const CONTRACT: [&str; 16] = [
    "domain",
    "toolset",
    "pattern",
    "mutates",
    "network",
    "scan",
    "storeless",
    "early",
    "sensitive",
    "rules",
    "envelope",
    "errors",
    "since",
    "stability",
    "sunset",
    "relaxed",
];

/// Reads a lock.
///
/// # Errors
/// The text is not a lock, or has a newer form.
pub fn parse(text: &str) -> Result<Snapshot, Unreadable> {
    let value: Value = serde_json::from_str(text).map_err(Unreadable::new)?;
    if let Some(form) = value.get("lock").and_then(Value::as_u64)
        && form > u64::from(FORM)
    {
        let reason = format!("the lock has form {form}, known is {FORM}; use a newer colibri-codegen");
        return Err(Unreadable(reason));
    }
    let lock: Lock =
        serde_json::from_value(value).map_err(|error| Unreadable(format!("not a lock file: {error}")))?;
    debug_assert!(lock.lock <= FORM);
    let parts = lock.toolsets.into_iter().flat_map(|set| [set.instructions, set.reading]).flatten();
    let parts = std::iter::once(lock.instructions).chain(parts);
    let announced: Vec<_> = lock.announcements.into_iter().map(announced).collect();
    let chain = lock.chain.into_iter().map(|(role, entry)| chain_code(role, entry));
    let chain = chain.chain(lock.notices.into_iter().map(|notice| Ok(noticed(notice))));
    Ok(Snapshot {
        name: Some(lock.name),
        identity: Some(json!({ "title": lock.title })),
        version: Some(lock.version),
        instructions: Some(parts.collect::<Vec<_>>().join("\n\n")),
        announcements: Some(announced.join("\n\n")),
        budget: lock.budget.map(|budget| budget.tools_list_bytes),
        chain: Some(chain.collect::<Result<_, _>>()?),
        // A snapshot is what clients see. A tool that becomes the operator's is gone for them, and the reverse.
        tools: lock.tools.into_iter().filter(|entry| !entry.operator).map(tool).collect::<Result<_, _>>()?,
        rest: lock.rest,
        ..Snapshot::default()
    })
}

fn announced(Announcement { setting, value, instructions, teaches }: Announcement) -> String {
    let teaches = teaches.map(|teaches| format!(", teaches {teaches}")).unwrap_or_default();
    format!("[{setting}={value}{teaches}] {instructions}")
}

fn noticed(Notice { code, message }: Notice) -> ChainCode {
    ChainCode { role: format!("notice {code}"), code, message, answered: None, remedy: None }
}

fn chain_code(role: String, entry: Value) -> Result<ChainCode, Unreadable> {
    let found: Role = serde_json::from_value(entry)
        .map_err(|error| Unreadable(format!("not a lock file: chain, role `{role}`: {error}")))?;
    Ok(ChainCode {
        role,
        code: found.code,
        message: found.message,
        answered: found.answered,
        remedy: found.remedy,
    })
}

fn tool(entry: Entry) -> Result<Tool, Unreadable> {
    let (known, rest): (Map<_, _>, Map<_, _>) =
        entry.rest.into_iter().partition(|(key, _)| CONTRACT.contains(&key.as_str()));
    let mut contract: Contract = serde_json::from_value(Value::Object(known))
        .map_err(|error| Unreadable(format!("not a lock file: tool `{}`: {error}", entry.name)))?;
    contract.frame = bare(&contract.frame, false);
    cut_payload(&mut contract.frame, &bare(&entry.output, false));
    Ok(Tool {
        name: entry.name,
        title: Some(entry.title),
        hint_title: None,
        description: entry.description,
        icons: Value::Null,
        hints: entry.hints,
        task_support: TaskSupport::Forbidden,
        of_object: entry.input.get("type").is_some_and(|kind| kind == "object"),
        input: entry.input,
        output: Some(entry.output),
        contract: Some(contract),
        malformed: Vec::new(),
        rest,
    })
}

/// Returns a schema without descriptions: an envelope may have been published with those of its payload or without. `named`
/// says that the members are properties, whose names mean nothing here.
fn bare(schema: &Value, named: bool) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| named || *key != "description");
            let inner = kept.map(|(key, value)| (key.clone(), bare(value, !named && key == "properties")));
            Value::Object(inner.collect())
        }
        Value::Array(items) => items.iter().map(|item| bare(item, false)).collect(),
        scalar => scalar.clone(),
    }
}

/// Removes the payload from the envelope, because it is compared on its own.
fn cut_payload(envelope: &mut Value, payload: &Value) {
    if envelope == payload {
        *envelope = json!({});
        return;
    }
    match envelope {
        Value::Array(items) => items.iter_mut().for_each(|item| cut_payload(item, payload)),
        Value::Object(members) => members.values_mut().for_each(|member| cut_payload(member, payload)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn frame_is_the_envelope_without_the_payload() {
        let payload = json!({"type": "object", "properties": {"id": {"type": "string"}}});
        let mut envelope = json!({"properties": {"ok": {}, "data": {"anyOf": [payload, {"const": 1}]}}});
        cut_payload(&mut envelope, &payload);
        assert_eq!(envelope, json!({"properties": {"ok": {}, "data": {"anyOf": [{}, {"const": 1}]}}}));
    }

    #[test]
    fn an_envelope_may_leave_out_the_descriptions_of_its_payload() {
        let payload = json!({"properties": {"description": {"type": "string", "description": "Any text."}}});
        assert_eq!(bare(&payload, false), json!({"properties": {"description": {"type": "string"}}}));
        for envelope in [json!({"data": payload}), json!({"data": bare(&payload, false)})] {
            let mut frame = bare(&envelope, false);
            cut_payload(&mut frame, &bare(&payload, false));
            assert_eq!(frame, json!({"data": {}}));
        }
    }

    #[test]
    fn announcements_are_instructions_and_notices_are_codes() {
        let lock = json!({
            "lock": 1, "name": "n", "title": "N", "version": "0.1.0", "instructions": "Head.", "tools": [],
            "toolsets": [{"name": "core", "instructions": "Work.", "reading": "Read."}],
            "announcements": [{"setting": "MODE", "value": "R", "instructions": "No writing.", "teaches": "reading"}],
            "notices": [{"code": "NOT_KEPT", "message": "Not kept: {what}", "when": "Never."}],
        });
        let read = parse(&lock.to_string()).unwrap();
        assert_eq!(read.instructions.as_deref(), Some("Head.\n\nWork.\n\nRead."));
        assert_eq!(read.announcements.as_deref(), Some("[MODE=R, teaches reading] No writing."));
        let codes: Vec<_> = read.chain.iter().flatten().map(|code| (&*code.code, &*code.message)).collect();
        assert_eq!(codes, [("NOT_KEPT", "Not kept: {what}")]);
        assert!(read.rest.is_empty(), "{:?}", read.rest);
    }

    #[test]
    fn what_is_no_lock_is_told() {
        for (text, reason) in [
            ("[", "EOF while parsing a list at line 1 column 1"),
            ("{}", "not a lock file: missing field `lock`"),
            (r#"{"lock": 99}"#, "the lock has form 99, known is 1; use a newer colibri-codegen"),
        ] {
            assert_eq!(parse(text).map_err(|error| error.to_string()), Err(reason.to_owned()), "{text}");
        }
    }
}
