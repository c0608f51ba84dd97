//! The schemas of the tools that the tests call, and the chain's codes.

use crate::schema::{Additional, NumberRule, ObjectRule, Property, Schema, Shape, StringRule};
use crate::spec::{ChainCode, ChainCodes};

pub(super) static ANYTHING: Schema = Schema {
    shape: Shape::Object(&ObjectRule { properties: &[], additional: Additional::Open }),
    nullable: false,
    message: None,
};

pub(super) static STRICT: Schema = Schema {
    shape: Shape::Object(&ObjectRule { properties: &[], additional: Additional::Closed }),
    nullable: false,
    message: None,
};

/// An object with a text.
pub(super) static KEYED: Schema = Schema {
    shape: Shape::Object(&ObjectRule {
        properties: &[Property { name: "key", schema: TEXT, required: true, default: None }],
        additional: Additional::Open,
    }),
    nullable: false,
    message: None,
};

const TEXT: Schema = Schema {
    shape: Shape::String(StringRule { min: None, max: None, pattern: None }),
    nullable: false,
    message: None,
};

/// An object with a number, a map of numbers and a choice between them.
pub(super) static NUMBER: Schema = Schema {
    shape: Shape::Object(&ObjectRule {
        properties: &[Property { name: "n", schema: ANY_NUMBER, required: true, default: None }],
        additional: Additional::Open,
    }),
    nullable: false,
    message: None,
};

pub(super) const ANY_NUMBER: Schema =
    Schema { shape: Shape::Number(NumberRule { min: None, max: None }), nullable: false, message: None };

const fn code(code: &'static str, message: &'static str, remedy: &'static str) -> ChainCode {
    ChainCode { code, message, remedy }
}

pub(super) const CODES: ChainCodes = ChainCodes {
    invalid_params: code("INVALID", "Invalid parameters for {tool}: {problems}", "correct it"),
    handler_error: code("FAILED", "FAILED", ""),
    audit_enter_failed: code(
        "NOT_ENTERED",
        "the call could not be entered in the audit log, so it was not run: {reason}",
        "call again",
    ),
    not_admitted: code("DENIED", "{tool} is not admitted", "ask"),
    not_in_toolset: code("DENIED", "{tool} is left out", "ask"),
    unknown_tool: code(
        "UNKNOWN",
        "Unknown tool: {tool}; did you mean {name}?",
        "list the tools; did you mean {name}?",
    ),
    process_aborted: code("DIED", "the process died", ""),
    cancelled: code("WITHDRAWN", "cancelled by the client", ""),
    storage_failure: code("STORAGE", "STORAGE: {reason}", "call again"),
    store_commit_failed: code("UNCOMMITTED", "UNCOMMITTED: {reason}", "read first"),
    startup_failed: code("STARTUP", "STARTUP: {reason}", "ask"),
    arguments_redacted: Some(code("REDACTED", "A secret was taken out of {arguments}.", "")),
};
