//! The schemas of the tools that the tests call, and the forms of the chain's messages.

use crate::schema::{Additional, NumberRule, ObjectRule, Property, Schema, Shape, StringRule};
use crate::spec::ChainMessages;

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

pub(super) const MESSAGES: ChainMessages = ChainMessages {
    invalid_params: "Invalid parameters for {tool}: {problems}",
    audit_enter_failed: "the call could not be entered in the audit log, so it was not run: {reason}",
    not_admitted: "{tool} is not admitted",
    not_in_toolset: "{tool} is left out",
    unknown_tool: "Unknown tool: {tool}; did you mean {name}?",
    process_aborted: "the process died",
    cancelled: "cancelled by the client",
    storage_failure: "STORAGE: {reason}",
    store_commit_failed: "UNCOMMITTED: {reason}",
    startup_failed: "STARTUP: {reason}",
    arguments_redacted: "A secret was taken out of {arguments}.",
};
