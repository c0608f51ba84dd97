//! Names, types and schemas resolved once, for all emitters.
//!
//! [`Ir::build`] reads every schema of a linted catalogue into [`schema::Schema`], follows `$ref`s
//! ([`Shared::resolve`]), and names every Rust type ([`hoist`]). An emitter asks no further question
//! of the catalogue's text.

mod build;
pub mod hoist;
pub mod message;
pub mod names;
pub mod publish;
pub mod schema;

use crate::catalogue::{Catalogue, DomainFile, Finding, Head, Place, Runs, Tool, ToolErrorEntry};
use hoist::Definition;
use message::Piece;
use schema::{Kind, Property, Schema};
use serde_json::Value;

/// What cannot be compiled, and where.
#[derive(Debug, Clone)]
pub struct Problem {
    place: Place,
    message: String,
    help: String,
}

impl Problem {
    /// A problem at a place: what is wrong, and what to write instead.
    #[must_use]
    pub fn new(place: &Place, message: &str, help: &str) -> Self {
        Self { place: place.clone(), message: message.to_owned(), help: help.to_owned() }
    }

    /// The problem with file, line and column.
    #[must_use]
    pub fn locate(self, catalogue: &Catalogue) -> Finding {
        Finding { at: catalogue.locate(&self.place), rule: "ir", message: self.message, help: self.help }
    }
}

/// The shared types, by name.
#[derive(Debug, Default)]
pub struct Shared {
    /// In declared order.
    pub types: Vec<(String, Schema)>,
}

impl Shared {
    /// The schema of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Schema> {
        self.types.iter().find(|(known, _)| known == name).map(|(_, schema)| schema)
    }

    /// The schema with the reference at its root followed: what the use site says of description,
    /// default and message wins, and null is accepted if either says so.
    #[must_use]
    pub fn resolve(&self, schema: &Schema) -> Schema {
        let Kind::Ref(name) = &schema.kind else { return schema.clone() };
        let Some(target) = self.get(name) else { return schema.clone() };
        let target = self.resolve(target);
        Schema {
            nullable: schema.nullable || target.nullable,
            description: schema.description.clone().or(target.description),
            default: schema.default.clone().or(target.default),
            message: schema.message.clone().or(target.message),
            kind: target.kind,
        }
    }
}

/// A domain and its trait.
#[derive(Debug)]
pub struct Domain<'a> {
    /// What the catalogue says.
    pub entry: &'a DomainFile,
    /// The handler trait, `TasksTools`.
    pub trait_name: String,
    /// Its tools in listing order.
    pub tools: Vec<ToolIr<'a>>,
}

/// A tool with its names and schemas.
#[derive(Debug)]
pub struct ToolIr<'a> {
    /// What the catalogue says.
    pub entry: &'a Tool,
    /// Position in listing order, over all domains: among the clients' tools, or among the operator's.
    pub index: usize,
    /// `TaskCreate`.
    pub variant: String,
    /// Arguments.
    pub input: Schema,
    /// Arguments under the setting that relaxes them.
    pub relaxed: Option<Schema>,
    /// Payload.
    pub output: Schema,
    /// The shared type that the payload is, when it is nothing but a reference.
    pub output_alias: Option<String>,
    /// The declared errors.
    pub errors: Vec<ErrorIr<'a>>,
}

impl ToolIr<'_> {
    /// Whether only a command of the operator runs it.
    #[must_use]
    pub fn is_operation(&self) -> bool {
        self.entry.runs == Runs::Operator
    }

    /// What the Rust type of the arguments must be able to hold: under every setting.
    #[must_use]
    pub fn widest_input(&self) -> &Schema {
        self.relaxed.as_ref().unwrap_or(&self.input)
    }

    /// The schema of the arguments as clients see it: as written under `open`, in the published form otherwise. `input` is the
    /// tool's schema or the one that a setting relaxes.
    #[must_use]
    pub fn published_input(&self, input: &Schema, shared: &Shared) -> Value {
        let Some(listed) = &self.entry.listed else { return publish::publish(input, shared) };
        let mut written = listed.input.clone();
        if let (true, Some(relaxation)) = (self.relaxed.as_ref() == Some(input), &self.entry.relaxed)
            && let Some(Value::Array(required)) = written.get_mut("required")
        {
            required.retain(|name| !relaxation.optional.iter().any(|optional| name == optional));
        }
        written
    }

    /// The schema of the payload as clients see it.
    #[must_use]
    pub fn published_output(&self, shared: &Shared) -> Value {
        let written = self.entry.listed.as_ref().map(|listed| listed.output.clone());
        written.unwrap_or_else(|| publish::publish(&self.output, shared))
    }

    /// The Rust type of the arguments.
    #[must_use]
    pub fn input_type(&self) -> String {
        format!("{}Input", self.variant)
    }

    /// The Rust name of its handler.
    #[must_use]
    pub fn method(&self) -> String {
        let name = &self.entry.name;
        if names::is_plain(name) { name.clone() } else { names::snake(name) }
    }

    /// The Rust type of the payload.
    #[must_use]
    pub fn output_type(&self) -> String {
        format!("{}Output", self.variant)
    }

    /// The Rust type of the errors.
    #[must_use]
    pub fn error_type(&self) -> String {
        format!("{}Error", self.variant)
    }
}

/// A declared error.
#[derive(Debug, Clone)]
pub struct ErrorIr<'a> {
    /// What the catalogue says.
    pub entry: &'a ToolErrorEntry,
    /// `ErrNotFound`.
    pub variant: String,
    /// Its fields; the schemas refer to shared types only.
    pub fields: Vec<Property>,
    /// The fields with everything nested named, as the Rust types have them.
    pub typed_fields: Vec<Property>,
    /// The message form.
    pub message: Vec<Piece>,
    /// The remedy's form.
    pub remedy: Vec<Piece>,
}

/// A catalogue, resolved.
#[derive(Debug)]
pub struct Ir<'a> {
    /// The catalogue's head.
    pub head: &'a Head,
    /// Shared types.
    pub shared: Shared,
    /// Errors that tools share.
    pub errors: Vec<ErrorIr<'a>>,
    /// Domains in listing order.
    pub domains: Vec<Domain<'a>>,
    /// Every Rust type but the errors: shared ones first, then the tools' in listing order.
    pub definitions: Vec<Definition>,
}

impl<'a> Ir<'a> {
    /// All tools in listing order, the operator's among them.
    pub fn tools(&self) -> impl Iterator<Item = &ToolIr<'a>> {
        self.domains.iter().flat_map(|domain| &domain.tools)
    }

    /// The tools that clients see, in listing order.
    pub fn listed(&self) -> impl Iterator<Item = &ToolIr<'a>> {
        self.tools().filter(|tool| !tool.is_operation())
    }

    /// The operator's tools, in listing order.
    pub fn operations(&self) -> impl Iterator<Item = &ToolIr<'a>> {
        self.tools().filter(|tool| tool.is_operation())
    }

    /// The definition of a Rust type.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.name == name)
    }

    /// Whether null is accepted, by the schema itself or by the shared type it names.
    #[must_use]
    pub fn is_nullable(&self, schema: &Schema) -> bool {
        self.shared.resolve(schema).nullable
    }
}
