//! Names, types and schemas resolved once, for all emitters.
//!
//! [`Ir::build`] reads every schema of a linted catalogue into [`schema::Schema`], follows `$ref`s
//! ([`Shared::resolve`]), and names every Rust type ([`hoist`]). An emitter asks no further question
//! of the catalogue's text.

pub mod hoist;
pub mod message;
pub mod names;
pub mod publish;
pub mod schema;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalogue::{Catalogue, DomainFile, Finding, Head, Place, Tool, ToolErrorEntry};
use hoist::{Definition, Hoister};
use message::Piece;
use names::pascal;
use schema::{Kind, Property, Schema};

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
    /// Position in listing order, over all domains.
    pub index: usize,
    /// `TaskCreate`.
    pub variant: String,
    /// Arguments.
    pub input: Schema,
    /// Payload.
    pub output: Schema,
    /// The shared type that the payload is, when it is nothing but a reference.
    pub output_alias: Option<String>,
    /// The declared errors.
    pub errors: Vec<ErrorIr<'a>>,
}

impl ToolIr<'_> {
    /// The Rust type of the arguments.
    #[must_use]
    pub fn input_type(&self) -> String {
        format!("{}Input", self.variant)
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
#[derive(Debug)]
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
}

/// A catalogue, resolved.
#[derive(Debug)]
pub struct Ir<'a> {
    /// The catalogue's head.
    pub head: &'a Head,
    /// Shared types.
    pub shared: Shared,
    /// Domains in listing order.
    pub domains: Vec<Domain<'a>>,
    /// Every Rust type but the errors: shared ones first, then the tools' in listing order.
    pub definitions: Vec<Definition>,
}

impl<'a> Ir<'a> {
    /// Resolves a catalogue that has passed the lint.
    ///
    /// # Errors
    /// All problems found, with their places.
    pub fn build(catalogue: &'a Catalogue) -> Result<Self, Vec<Finding>> {
        let mut builder = Builder { catalogue, problems: Vec::new(), hoister: Hoister::default(), next: 0 };
        let shared = builder.shared();
        let domains: Vec<Domain<'a>> =
            (0..catalogue.domains.len()).map(|domain| builder.domain(domain)).collect();
        let Builder { hoister, mut problems, .. } = builder;
        problems.extend(repeated_names(catalogue, &hoister.definitions, &domains));
        if !problems.is_empty() {
            return Err(problems.into_iter().map(|problem| problem.locate(catalogue)).collect());
        }
        Ok(Self { head: &catalogue.head, shared, domains, definitions: hoister.definitions })
    }

    /// All tools in listing order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolIr<'a>> {
        self.domains.iter().flat_map(|domain| &domain.tools)
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

struct Builder<'a> {
    catalogue: &'a Catalogue,
    problems: Vec<Problem>,
    hoister: Hoister,
    next: usize,
}

impl<'a> Builder<'a> {
    fn shared(&mut self) -> Shared {
        let mut types = Vec::new();
        for (name, written) in &self.catalogue.types.types {
            let place = self.catalogue.type_place(name);
            let schema = self.schema(written, &place);
            if refers_to(name, &schema, &self.catalogue.types.types, &mut BTreeSet::new()) {
                let what = format!("type `{name}` refers to itself");
                self.problems.push(Problem::new(&place, &what, "published schemas are written out; break the circle"));
            }
            self.hoister.define(name, &schema, "A shared type.");
            types.push((name.clone(), schema));
        }
        Shared { types }
    }

    fn domain(&mut self, index: usize) -> Domain<'a> {
        let entry = &self.catalogue.domains[index].data;
        let tools = entry.tools.iter().enumerate().map(|(position, tool)| {
            let place = self.catalogue.tool_place(index, position);
            self.tool(tool, &place)
        });
        let tools = tools.collect();
        Domain { entry, trait_name: format!("{}Tools", pascal(&entry.domain)), tools }
    }

    fn tool(&mut self, entry: &'a Tool, place: &Place) -> ToolIr<'a> {
        let variant = pascal(&entry.name);
        let input = self.schema(&Value::Object(entry.input.clone()), &place.child("input"));
        let output = self.schema(&Value::Object(entry.output.clone()), &place.child("output"));
        self.hoister.define(&format!("{variant}Input"), &input, &format!("Arguments of `{}`.", entry.name));
        let output_alias = match &output.kind {
            Kind::Ref(name) if !output.nullable => Some(name.clone()),
            _ => {
                let doc = format!("Payload of `{}`.", entry.name);
                self.hoister.define(&format!("{variant}Output"), &output, &doc);
                None
            }
        };
        let errors = entry.errors.iter().enumerate().map(|(index, error)| {
            let place = place.child("errors").child(index);
            self.error(&variant, error, &place)
        });
        let errors = errors.collect();
        let index = self.next;
        self.next += 1;
        ToolIr { entry, index, variant, input, output, output_alias, errors }
    }

    fn error(&mut self, tool: &str, entry: &'a ToolErrorEntry, place: &Place) -> ErrorIr<'a> {
        let variant = pascal(&entry.code);
        let (mut fields, mut typed_fields) = (Vec::new(), Vec::new());
        for (name, written) in &entry.fields {
            let schema = self.schema(written, &place.child("fields").child(name));
            let typed = self.hoister.flatten(
                &format!("{tool}{variant}{}", pascal(name)),
                &schema,
                &format!("`{name}` of `{}`.", entry.code),
            );
            fields.push(Property { name: name.clone(), schema, required: true });
            typed_fields.push(Property { name: name.clone(), schema: typed, required: true });
        }
        let place = place.child("message");
        let message = message::parse(&entry.message).unwrap_or_else(|what| {
            self.problems.push(Problem::new(&place, &what, MESSAGE_HELP));
            Vec::new()
        });
        for piece in &message {
            if let Piece::Field { name, .. } = piece
                && !fields.iter().any(|field| field.name == *name)
            {
                let what = format!("`{{{name}}}` is not among the error's fields");
                self.problems.push(Problem::new(&place, &what, MESSAGE_HELP));
            }
        }
        ErrorIr { entry, variant, fields, typed_fields, message }
    }

    fn schema(&mut self, written: &Value, place: &Place) -> Schema {
        let schema = Schema::parse(written, place).unwrap_or_else(|problem| {
            self.problems.push(problem);
            Schema::of(Kind::Any)
        });
        for name in references(&schema) {
            if !self.catalogue.types.types.contains_key(name) {
                let what = format!("there is no type `{name}`");
                self.problems.push(Problem::new(place, &what, "declare it in types.yaml, or write the schema here"));
            }
        }
        schema
    }
}

const MESSAGE_HELP: &str =
    "write text with `{field}`, `{field or \"text\"}` or `{field join \", \"}`, each field declared under `fields`";

/// The names a schema refers to, at any depth.
fn references(schema: &Schema) -> Vec<&str> {
    match &schema.kind {
        Kind::Ref(name) => vec![name],
        Kind::Array { items: inner, .. } | Kind::Record { values: inner, .. } => references(inner),
        Kind::Object { properties, .. } => {
            properties.iter().flat_map(|property| references(&property.schema)).collect()
        }
        Kind::Union { branches, .. } => branches.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Whether `schema` leads to the type `name` over any number of references.
fn refers_to(
    name: &str,
    schema: &Schema,
    types: &serde_json::Map<String, Value>,
    seen: &mut BTreeSet<String>,
) -> bool {
    references(schema).into_iter().any(|target| {
        if target == name {
            return true;
        }
        let place = Place { file: 0, pointer: String::new() };
        let next = types.get(target).and_then(|written| Schema::parse(written, &place).ok());
        seen.insert(target.to_owned()) && next.is_some_and(|next| refers_to(name, &next, types, seen))
    })
}

/// Rust names that two types would share.
fn repeated_names(catalogue: &Catalogue, definitions: &[Definition], domains: &[Domain<'_>]) -> Vec<Problem> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let fixed = ["ToolId", "Handlers", "Dispatcher", "CATALOGUE"].map(str::to_owned);
    let own = domains.iter().flat_map(|domain| {
        let per_tool = domain.tools.iter().flat_map(|tool| {
            let alias = tool.output_alias.as_ref().map(|_| tool.output_type());
            alias.into_iter().chain([tool.error_type()])
        });
        per_tool.chain([domain.trait_name.clone()])
    });
    let named = definitions.iter().map(|definition| definition.name.clone());
    for name in fixed.into_iter().chain(own).chain(named) {
        *seen.entry(name).or_default() += 1;
    }
    let place = catalogue.head_place();
    let repeated = seen.into_iter().filter(|(_, count)| *count > 1);
    repeated
        .map(|(name, _)| {
            let what = format!("two types would have the Rust name `{name}`");
            Problem::new(&place, &what, "rename the type, the tool or the property that leads to it")
        })
        .collect()
}
