//! From an example's reply back to the result of a handler that answers so.

use colibri_runtime::handler::{Dispatched, Fault};
use colibri_runtime::remedy::Suggestion;
use serde_json::{Map, Value};

use super::tables::kept;
use crate::catalogue::{Envelope, ErrorPattern};
use crate::ir::{Ir, ToolIr};

/// Returns what a handler returns for that reply.
pub fn dispatched(tool: &ToolIr<'_>, reply: &Value, ir: &Ir<'_>) -> Dispatched {
    let (entry, failure) = (tool.entry, &reply["error"]);
    let error = match entry.pattern {
        ErrorPattern::A => &failure["details"],
        ErrorPattern::B => &reply["data"]["error"],
        ErrorPattern::C => failure,
    };
    if let Some(declared) = tool.errors.iter().find(|declared| error["code"] == declared.entry.code) {
        let prefixed = entry.pattern == ErrorPattern::A && declared.entry.prefix;
        let stated = if entry.pattern == ErrorPattern::B { error } else { failure };
        let message = stated["message"].as_str().unwrap_or_default();
        let prefix = format!("{}: ", declared.entry.code);
        let bare = if prefixed { message.strip_prefix(&prefix) } else { None };
        let fields = declared
            .fields
            .iter()
            .filter_map(|field| Some((field.name.clone(), error.get(&field.name)?.clone())));
        return Dispatched::Domain {
            code: kept(&declared.entry.code),
            message: bare.unwrap_or(message).to_owned(),
            prefixed,
            fields: fields.collect(),
            remedy: error["remedy"].as_str().unwrap_or_default().to_owned(),
            next: error["next"].as_array().into_iter().flatten().map(suggestion).collect(),
        };
    }
    if entry.is_failure(reply) {
        let message = failure["message"].as_str().unwrap_or_default();
        let storage = format!("{}: ", ir.head.chain.storage_failure.code);
        return Dispatched::Fault(match message.strip_prefix(&storage) {
            Some(reason) => Fault::Storage(reason.to_owned()),
            None => Fault::Other(message.to_owned()),
        });
    }
    match entry.envelope {
        Envelope::Ok => Dispatched::Text(reply["data"].to_string()),
        Envelope::None => Dispatched::Text(reply.to_string()),
    }
}

fn suggestion(call: &Value) -> Suggestion {
    let members = |name: &str| call[name].as_object().cloned().unwrap_or_else(Map::new);
    Suggestion {
        tool: kept(call["tool"].as_str().unwrap_or_default()),
        arguments: members("arguments"),
        ask: members("ask"),
    }
}
