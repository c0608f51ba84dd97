//! The JSON Schema of the file, for editors.

use serde_json::{Value, json};

use crate::rules::RULES;

/// Returns the JSON Schema of `mcp-drift.yaml`.
#[must_use]
pub fn schema() -> Value {
    let named = |key: fn(&crate::Rule) -> &'static str| RULES.iter().map(key).collect::<Vec<_>>();
    let rules = [named(|rule| rule.name), named(|rule| rule.id)].concat();
    let text = |about: &str| json!({ "type": "string", "minLength": 1, "description": about });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-drift.yaml",
        "description": "Settings of the drift gate for MCP servers.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "fail-on": {
                "description": "The least severity that fails: break (and ack where it bears on security), ack, or never.",
                "enum": ["break", "ack", "never"],
                "default": "ack",
            },
            "profile": {
                "description": "How strict the gate is where a rule is not set by name.",
                "enum": ["strict", "default", "lenient"],
                "default": "default",
            },
            "rules": {
                "description": "Rules by name or id, each with what its findings are.",
                "type": "object",
                "propertyNames": { "enum": rules },
                "additionalProperties": { "enum": ["off", "info", "ack", "break"] },
            },
            "waivers": {
                "description": "Findings that were looked at and accepted.",
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["rule", "reason"],
                    "properties": {
                        "rule": { "description": "The rule's name or id.", "enum": rules },
                        "tool": text("The tool; without it, and without a fingerprint, the server as a whole."),
                        "pointer": text("The place in the tool's entry, as the report has it, or in its input."),
                        "fingerprint": {
                            "description": "The finding's fingerprint; it covers the change itself.",
                            "type": "string",
                            "pattern": "^[0-9a-f]{16}$",
                        },
                        "reason": text("Why clients can live with the change."),
                        "until": text("The version from which it is accepted no longer."),
                        "expires": {
                            "description": "The day from which it is accepted no longer, as 2027-03-01.",
                            "type": "string",
                            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                        },
                    },
                },
            },
        },
    })
}
