//! From the catalogue's text to the [`Ir`]: every schema read, every type named, every problem told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::hoist::{Definition, Hoister};
use super::message::{self, Piece};
use super::names::pascal;
use super::schema::{Kind, Property, Schema};
use super::{Domain, ErrorIr, Ir, Problem, Shared, ToolIr};
use crate::catalogue::{Catalogue, Finding, Place, Runs, Tool, ToolErrorEntry};

impl<'a> Ir<'a> {
    /// Resolves a catalogue that has passed the lint.
    ///
    /// # Errors
    /// All problems found, with their places.
    pub fn build(catalogue: &'a Catalogue) -> Result<Self, Vec<Finding>> {
        let mut builder = Builder {
            catalogue,
            problems: Vec::new(),
            hoister: Hoister::default(),
            errors: Vec::new(),
            next: [0; 2],
        };
        let shared = builder.shared();
        builder.errors = builder.shared_errors();
        let domains: Vec<Domain<'a>> =
            (0..catalogue.domains.len()).map(|domain| builder.domain(domain)).collect();
        let Builder { hoister, mut problems, errors, .. } = builder;
        problems.extend(repeated_names(catalogue, &hoister.definitions, &errors, &domains));
        if !problems.is_empty() {
            return Err(problems.into_iter().map(|problem| problem.locate(catalogue)).collect());
        }
        Ok(Self { head: &catalogue.head, shared, errors, domains, definitions: hoister.definitions })
    }
}

struct Builder<'a> {
    catalogue: &'a Catalogue,
    problems: Vec<Problem>,
    hoister: Hoister,
    /// Errors that tools share.
    errors: Vec<ErrorIr<'a>>,
    /// The next index of a client's tool and of an operator's.
    next: [usize; 2],
}

impl<'a> Builder<'a> {
    fn shared(&mut self) -> Shared {
        let mut types = Vec::new();
        for (name, written) in &self.catalogue.types.types {
            let place = self.catalogue.type_place(name);
            let schema = self.schema(written, &place);
            if refers_to(name, &schema, &self.catalogue.types.types, &mut BTreeSet::new()) {
                let what = format!("type `{name}` refers to itself");
                self.problems.push(Problem::new(
                    &place,
                    &what,
                    "published schemas are written out; break the circle",
                ));
            }
            self.hoister.define(name, &schema, "A shared type.");
            types.push((name.clone(), schema));
        }
        Shared { types }
    }

    fn shared_errors(&mut self) -> Vec<ErrorIr<'a>> {
        let errors = self.catalogue.types.errors.iter().enumerate();
        errors
            .map(|(index, error)| self.error("", error, &self.catalogue.shared_error_place(index)))
            .collect()
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
        let relaxed = entry.relaxed.as_ref().map(|relaxation| relax(&input, &relaxation.optional));
        let widest = relaxed.as_ref().unwrap_or(&input);
        self.hoister.define(&format!("{variant}Input"), widest, &format!("Arguments of `{}`.", entry.name));
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
            let shared = self.errors.iter().find(|shared| error.shared && shared.entry.code == error.code);
            shared.cloned().map_or_else(
                || self.error(&variant, error, &place),
                |shared| ErrorIr { entry: error, ..shared },
            )
        });
        let errors = errors.collect();
        let next = &mut self.next[usize::from(entry.runs == Runs::Operator)];
        let index = *next;
        *next += 1;
        ToolIr { entry, index, variant, input, relaxed, output, output_alias, errors }
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
        let message = self.form(&entry.message, &fields, &place.child("message"));
        let remedy = self.form(&entry.remedy, &fields, &place.child("remedy"));
        ErrorIr { entry, variant, fields, typed_fields, message, remedy }
    }

    fn form(&mut self, text: &str, fields: &[Property], place: &Place) -> Vec<Piece> {
        let pieces = message::parse(text).unwrap_or_else(|what| {
            self.problems.push(Problem::new(place, &what, MESSAGE_HELP));
            Vec::new()
        });
        for piece in &pieces {
            if let Piece::Field { name, .. } = piece
                && !fields.iter().any(|field| field.name == *name)
            {
                let what = format!("`{{{name}}}` is not among the error's fields");
                self.problems.push(Problem::new(place, &what, MESSAGE_HELP));
            }
        }
        pieces
    }

    fn schema(&mut self, written: &Value, place: &Place) -> Schema {
        let schema = Schema::parse(written, place).unwrap_or_else(|problem| {
            self.problems.push(problem);
            Schema::of(Kind::Any)
        });
        for name in references(&schema) {
            if !self.catalogue.types.types.contains_key(name) {
                let what = format!("there is no type `{name}`");
                self.problems.push(Problem::new(
                    place,
                    &what,
                    "declare it in types.yaml, or write the schema here",
                ));
            }
        }
        schema
    }
}

const MESSAGE_HELP: &str = "write text with `{field}`, `{field or \"text\"}` or `{field join \", \"}`, each field declared under `fields`";

/// The schema with these of its properties optional.
fn relax(input: &Schema, optional: &[String]) -> Schema {
    let mut relaxed = input.clone();
    if let Kind::Object { properties, .. } = &mut relaxed.kind {
        for property in properties.iter_mut().filter(|property| optional.contains(&property.name)) {
            property.required = false;
        }
    }
    relaxed
}

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
fn repeated_names(
    catalogue: &Catalogue,
    definitions: &[Definition],
    errors: &[ErrorIr<'_>],
    domains: &[Domain<'_>],
) -> Vec<Problem> {
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
    let errors = errors.iter().map(|error| error.variant.clone());
    for name in fixed.into_iter().chain(own).chain(named).chain(errors) {
        *seen.entry(name).or_default() += 1;
    }
    let place = catalogue.head_place();
    let repeated = seen.into_iter().filter(|(_, count)| *count > 1);
    repeated
        .map(|(name, _)| {
            let what = format!("two types would have the Rust name `{name}`");
            Problem::new(
                &place,
                &what,
                "rename the type, the shared error, the tool or the property that leads to it",
            )
        })
        .collect()
}
