//! The tables that generated code holds as static data, made in memory. They are never freed: the process serves until it ends.

use colibri_runtime::schema as table;
use colibri_runtime::spec::{
    CatalogueSpec, ChainCode, ChainCodes, Pattern, Profile, Runs, ToolSpec, ToolsetSpec,
};
use serde_json::Value;

use crate::catalogue::{ChainError, Envelope, ErrorPattern, Rule};
use crate::emit::listing;
use crate::ir::schema::{Kind, NumberBounds, Property, Schema, StringBounds};
use crate::ir::{Ir, Shared, ToolIr};

/// Returns a text that stays.
pub fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn stays<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn all_stay<T>(values: impl IntoIterator<Item = T>) -> &'static [T] {
    values.into_iter().collect::<Vec<_>>().leak()
}

/// Returns the catalogue's table. Every tool runs in the loop and needs no store, since its answer is known.
pub fn catalogue(ir: &Ir<'_>) -> &'static CatalogueSpec {
    let head = ir.head;
    let toolsets = head.toolsets.iter().map(|set| ToolsetSpec {
        name: kept(&set.name),
        title: kept(&set.title),
        description: kept(&set.description),
        instructions: set.instructions.as_deref().map(kept),
        reading: set.reading.as_deref().map(kept),
    });
    let tools = ir.domains.iter().flat_map(|domain| {
        let listed = domain.tools.iter().filter(|tool| !tool.is_operation());
        listed.map(|tool| self::tool(tool, &domain.entry.domain, ir))
    });
    stays(CatalogueSpec {
        name: kept(&head.name),
        title: kept(&head.title),
        version: kept(&head.version),
        instructions: kept(&head.instructions),
        profile: Profile::Open,
        toolsets: all_stay(toolsets),
        announcements: &[],
        tools: all_stay(tools),
        operations: &[],
        codes: codes(ir),
        foreign: None,
    })
}

fn tool(tool: &ToolIr<'_>, domain: &str, ir: &Ir<'_>) -> ToolSpec {
    let entry = tool.entry;
    ToolSpec {
        name: kept(&entry.name),
        domain: kept(domain),
        toolset: entry.toolset.as_deref().map(kept),
        pattern: match (entry.envelope, entry.pattern) {
            (Envelope::None, _) => Pattern::Plain,
            (Envelope::Ok, ErrorPattern::A) => Pattern::A,
            (Envelope::Ok, ErrorPattern::B) => Pattern::B,
            (Envelope::Ok, ErrorPattern::C) => Pattern::C,
        },
        runs: Runs::Free { changes: false },
        early: false,
        sensitive: all_stay(entry.sensitive.iter().map(|name| kept(name))),
        input: stays(schema(&tool.input, &ir.shared)),
        rules: all_stay(entry.rules.iter().map(rule)),
        output: stays(schema(&tool.output, &ir.shared)),
        codes: all_stay(entry.errors.iter().map(|error| kept(&error.code))),
        listing: kept(&listing(tool, &tool.input, ir).to_string()),
        relaxed: None,
    }
}

fn codes(ir: &Ir<'_>) -> ChainCodes {
    let chain = &ir.head.chain;
    let role = |error: &ChainError| ChainCode {
        code: kept(&error.code),
        message: kept(&error.message),
        remedy: error.remedy.as_deref().map_or("", kept),
    };
    ChainCodes {
        invalid_params: role(&chain.invalid_params),
        handler_error: role(&chain.handler_error),
        audit_enter_failed: role(&chain.audit_enter_failed),
        not_admitted: role(&chain.not_admitted),
        not_in_toolset: role(chain.not_in_toolset.as_ref().unwrap_or(&chain.not_admitted)),
        unknown_tool: role(&chain.unknown_tool),
        process_aborted: role(&chain.process_aborted),
        cancelled: role(&chain.cancelled),
        storage_failure: role(&chain.storage_failure),
        store_commit_failed: role(&chain.store_commit_failed),
        startup_failed: role(&chain.startup_failed),
        arguments_redacted: chain.arguments_redacted.as_ref().map(role),
    }
}

fn schema(written: &Schema, shared: &Shared) -> table::Schema {
    let written = shared.resolve(written);
    table::Schema {
        shape: shape(&written.kind, shared),
        nullable: written.nullable,
        message: written.message.as_deref().map(kept),
    }
}

fn shape(kind: &Kind, shared: &Shared) -> table::Shape {
    match kind {
        Kind::Any | Kind::Ref(_) => table::Shape::Any,
        Kind::Null => table::Shape::Null,
        Kind::Boolean => table::Shape::Boolean,
        Kind::Integer(bounds) => table::Shape::Integer(table::IntegerRule {
            min: bounds.min,
            max: bounds.max,
            multiple_of: bounds.multiple_of,
        }),
        Kind::Number(bounds) => table::Shape::Number(number(bounds)),
        Kind::String(bounds) => table::Shape::String(string(bounds)),
        Kind::Enum { values, .. } => table::Shape::Enum(all_stay(values.iter().map(literal))),
        Kind::Array { items, min, max, unique } => table::Shape::Array(stays(table::ArrayRule {
            items: schema(items, shared),
            min: *min,
            max: *max,
            unique: *unique,
        })),
        Kind::Object { properties, closed } => table::Shape::Object(stays(table::ObjectRule {
            properties: all_stay(properties.iter().map(|property| self::property(property, shared))),
            additional: if *closed { table::Additional::Closed } else { table::Additional::Open },
        })),
        Kind::Record { keys, values, min, max } => table::Shape::Record(stays(table::RecordRule {
            keys: keys.as_ref().map(string),
            values: schema(values, shared),
            min: *min,
            max: *max,
        })),
        Kind::Union { branches, exclusive } => table::Shape::Union(stays(table::UnionRule {
            branches: all_stay(branches.iter().map(|branch| schema(branch, shared))),
            exclusive: *exclusive,
        })),
    }
}

fn property(property: &Property, shared: &Shared) -> table::Property {
    table::Property {
        name: kept(&property.name),
        schema: schema(&property.schema, shared),
        required: property.required,
        default: shared.resolve(&property.schema).default.map(|value| kept(&value.to_string())),
    }
}

fn number(bounds: &NumberBounds) -> table::NumberRule {
    let bound = |bound: &Option<(serde_json::Number, bool)>| {
        let (value, inclusive) = bound.as_ref()?;
        Some(table::Bound { value: value.as_f64()?, inclusive: *inclusive })
    };
    table::NumberRule { min: bound(&bounds.min), max: bound(&bounds.max) }
}

fn string(bounds: &StringBounds) -> table::StringRule {
    table::StringRule {
        min: bounds.min,
        max: bounds.max,
        pattern: bounds.pattern.as_deref().map(|source| stays(table::Pattern::new(kept(source)))),
    }
}

fn literal(value: &Value) -> table::Literal {
    match value {
        Value::String(text) => table::Literal::String(kept(text)),
        Value::Bool(flag) => table::Literal::Boolean(*flag),
        Value::Number(number) => table::Literal::Integer(number.as_i64().unwrap_or_default()),
        _ => table::Literal::Null,
    }
}

fn rule(rule: &Rule) -> table::CrossRule {
    match rule {
        Rule::AliasEqual { field, alias, message } => {
            table::CrossRule::AliasEqual { field: kept(field), alias: kept(alias), message: kept(message) }
        }
        Rule::Either { field, others, message } => table::CrossRule::Either {
            field: kept(field),
            others: all_stay(others.iter().map(|other| kept(other))),
            message: kept(message),
        },
        Rule::Needs { field, other, message } => {
            table::CrossRule::Needs { field: kept(field), other: kept(other), message: kept(message) }
        }
        Rule::MaxBytes { field, limit, message } => {
            table::CrossRule::MaxBytes { field: kept(field), limit: *limit, message: kept(message) }
        }
        Rule::NoNul { message } => table::CrossRule::NoNul { message: kept(message) },
    }
}
