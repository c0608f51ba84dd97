//! The lock: the resolved, canonical catalogue, which the drift gate compares from version to version.
//! It holds everything a client can notice, and nothing else: no examples, no reference texts.

use serde_json::{Map, Value, json};

use crate::catalogue::{ErrorPattern, Runs};
use crate::ir::publish::{envelope, publish};
use crate::ir::{Domain, ErrorIr, Ir, ToolIr};

/// Version of the lock's own form.
pub const FORM: u32 = 1;

/// The lock as pretty-printed JSON with a final newline; members and properties in declared order.
#[must_use]
pub fn text(ir: &Ir<'_>) -> String {
    format!("{:#}\n", value(ir))
}

fn value(ir: &Ir<'_>) -> Value {
    let head = ir.head;
    let chain = ir.head.chain.roles().map(|(role, error)| {
        let answered = answered(role);
        let mut entry = json!({"code": error.code, "message": error.message, "answered": answered});
        if let (Some(remedy), Some(entry)) = (&error.remedy, entry.as_object_mut()) {
            entry.insert("remedy".to_owned(), json!(remedy));
        }
        (role.to_owned(), entry)
    });
    let tools = ir
        .domains
        .iter()
        .flat_map(|domain| domain.tools.iter().map(move |tool| self::tool(tool, domain, ir)));
    let mut lock = json!({
        "lock": FORM,
        "name": head.name,
        "title": head.title,
        "version": head.version,
        "instructions": head.instructions,
        "budget": head.budget,
        "chain": chain.collect::<Map<_, _>>(),
        "tools": tools.collect::<Vec<_>>(),
    });
    // Only where there are any: the locks of other catalogues stay as they were.
    if let (false, Some(lock)) = (head.toolsets.is_empty(), lock.as_object_mut()) {
        lock.insert("toolsets".to_owned(), json!(head.toolsets));
    }
    if let (false, Some(lock)) = (head.announcements.is_empty(), lock.as_object_mut()) {
        lock.insert("announcements".to_owned(), json!(head.announcements));
    }
    if let (false, Some(lock)) = (head.notices.is_empty(), lock.as_object_mut()) {
        lock.insert("notices".to_owned(), json!(head.notices));
    }
    lock
}

/// How the chain's code of a role reaches a client.
fn answered(role: &str) -> &'static str {
    match role {
        "unknown_tool" => "JSON-RPC error -32602",
        "process_aborted" | "cancelled" => "audit record",
        "storage_failure" | "store_commit_failed" | "startup_failed" => "prefix of a result's message",
        "arguments_redacted" => "a text behind the result",
        _ => "result",
    }
}

fn tool(tool: &ToolIr<'_>, domain: &Domain<'_>, ir: &Ir<'_>) -> Value {
    let entry = tool.entry;
    let mut lock = json!({
        "name": entry.name,
        "domain": domain.entry.domain,
        "title": entry.hints.title.as_ref().filter(|_| entry.title.is_empty()).unwrap_or(&entry.title),
        "description": entry.description,
        "pattern": match entry.pattern {
            ErrorPattern::A => "A",
            ErrorPattern::B => "B",
            ErrorPattern::C => "C",
        },
        "mutates": entry.mutates(),
        "network": entry.runs == Runs::Network,
        "scan": entry.runs == Runs::Scan,
        "storeless": entry.runs == Runs::Free,
        "sensitive": entry.sensitive,
        "hints": entry.hints.all().into_iter().map(|(name, _, hint, absent)| (name.to_owned(), json!(hint.unwrap_or(absent)))).collect::<Map<_, _>>(),
        "input": tool.published_input(&tool.input, &ir.shared),
        "rules": entry.rules,
        "output": tool.published_output(&ir.shared),
        "envelope": envelope(tool.published_output(&ir.shared), entry),
        "errors": tool.errors.iter().map(|error| self::error(error, ir)).collect::<Vec<_>>(),
        "since": entry.since,
        "stability": entry.stability,
    });
    if let (Some(toolset), Some(lock)) = (&entry.toolset, lock.as_object_mut()) {
        lock.insert("toolset".to_owned(), json!(toolset));
    }
    if let (Some(sunset), Some(lock)) = (&entry.sunset, lock.as_object_mut()) {
        lock.insert("sunset".to_owned(), json!(sunset));
    }
    // Only where it is so: the entries of other tools stay as they were.
    if let (true, Some(lock)) = (entry.early, lock.as_object_mut()) {
        lock.insert("early".to_owned(), json!(true));
    }
    // The same: the entries of tools that clients see are as they were before there were others.
    if let (true, Some(lock)) = (tool.is_operation(), lock.as_object_mut()) {
        lock.insert("operator".to_owned(), json!(true));
    }
    if let (Some(relaxation), Some(relaxed), Some(lock)) =
        (&entry.relaxed, &tool.relaxed, lock.as_object_mut())
    {
        let relaxed = json!({
            "setting": relaxation.setting,
            "value": relaxation.value,
            "input": tool.published_input(relaxed, &ir.shared),
        });
        lock.insert("relaxed".to_owned(), relaxed);
    }
    lock
}

fn error(error: &ErrorIr<'_>, ir: &Ir<'_>) -> Value {
    let fields: Map<String, Value> =
        error.fields.iter().map(|field| (field.name.clone(), publish(&field.schema, &ir.shared))).collect();
    json!({
        "code": error.entry.code,
        "message": error.entry.message,
        "prefix": error.entry.prefix,
        "fields": fields,
        "remedy": error.entry.remedy,
        "next": error.entry.next,
    })
}
