//! Every schema of a catalogue, taken apart once for all rules.

use serde_json::Value;

use crate::catalogue::{Catalogue, Place, SchemaValue};

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A shared type.
    Type,
    /// A tool's arguments.
    Input,
    /// A tool's payload.
    Output,
    /// A member of an error object.
    ErrorField,
}

/// How a schema stands in the one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// It is a whole schema.
    Root,
    /// A property, required or not.
    Property {
        /// Whether `required` names it.
        required: bool,
    },
    /// The items of an array.
    Items,
    /// The values of a map.
    MapValues,
    /// The keys of a map (`propertyNames`).
    MapKeys,
    /// A branch of `anyOf` or `oneOf`.
    Branch,
}

/// A schema, whole or part of another.
#[derive(Debug)]
pub struct Node<'a> {
    /// Its keywords.
    pub schema: &'a SchemaValue,
    /// Where it stands.
    pub place: Place,
    /// What the whole schema describes.
    pub role: Role,
    /// How it stands in the one around it.
    pub position: Position,
}

/// All schemas of a catalogue.
#[derive(Debug, Default)]
pub struct Schemas<'a> {
    /// Schemas and their parts, outer ones first.
    pub nodes: Vec<Node<'a>>,
    /// Places that should hold a schema and do not.
    pub misshapen: Vec<Place>,
}

impl<'a> Schemas<'a> {
    /// Collects them in the order of types, then tools.
    #[must_use]
    pub fn collect(catalogue: &'a Catalogue) -> Self {
        let mut all = Self::default();
        for (name, schema) in &catalogue.types.types {
            all.value(schema, catalogue.type_place(name), Role::Type, Position::Root);
        }
        for entry in catalogue.tools() {
            all.map(&entry.tool.input, entry.place.child("input"), Role::Input, Position::Root);
            all.map(&entry.tool.output, entry.place.child("output"), Role::Output, Position::Root);
            for (position, error) in entry.tool.errors.iter().enumerate() {
                let fields = entry.place.child("errors").child(position).child("fields");
                for (name, schema) in &error.fields {
                    all.value(schema, fields.child(name), Role::ErrorField, Position::Root);
                }
            }
        }
        all
    }

    fn value(&mut self, schema: &'a Value, place: Place, role: Role, position: Position) {
        match schema {
            Value::Object(schema) => self.map(schema, place, role, position),
            _ => self.misshapen.push(place),
        }
    }

    // Recursion is bounded by the loader's limit on nesting.
    fn map(&mut self, schema: &'a SchemaValue, place: Place, role: Role, position: Position) {
        self.nodes.push(Node { schema, place: place.clone(), role, position });
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                let position = Position::Property { required: is_required(schema, name) };
                self.value(property, place.child("properties").child(name), role, position);
            }
        }
        for (keyword, position) in [("items", Position::Items), ("propertyNames", Position::MapKeys)] {
            if let Some(inner) = schema.get(keyword) {
                self.value(inner, place.child(keyword), role, position);
            }
        }
        match schema.get("additionalProperties") {
            None | Some(Value::Bool(_)) => {}
            Some(inner) => self.value(inner, place.child("additionalProperties"), role, Position::MapValues),
        }
        for keyword in ["anyOf", "oneOf"] {
            for (index, branch) in branches(schema, keyword).iter().enumerate() {
                self.value(branch, place.child(keyword).child(index), role, Position::Branch);
            }
        }
    }
}

/// Whether `required` names the property.
#[must_use]
pub(crate) fn is_required(schema: &SchemaValue, name: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|entry| entry.as_str() == Some(name)))
}

/// The branches of a union; none when the keyword is missing.
#[must_use]
pub fn branches<'a>(schema: &'a SchemaValue, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The schema's type beside `null`, and whether `null` is one of its types.
#[must_use]
pub(crate) fn type_of(schema: &SchemaValue) -> Option<(&str, bool)> {
    match schema.get("type")? {
        Value::String(name) => Some((name, name == "null")),
        Value::Array(names) => match names.as_slice() {
            [Value::String(name), Value::String(null)] if null == "null" && name != "null" => {
                Some((name, true))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Follows `$ref` to the schema that says something. `None` when a name is unknown or leads round.
#[must_use]
pub fn resolve<'a>(catalogue: &'a Catalogue, schema: &'a SchemaValue) -> Option<&'a SchemaValue> {
    let mut schema = schema;
    for _ in 0..=catalogue.types.types.len() {
        match schema.get("$ref") {
            None => return Some(schema),
            Some(name) => schema = catalogue.types.types.get(name.as_str()?)?.as_object()?,
        }
    }
    None
}

/// A property of an object schema, `$ref` of the object and of the property followed.
#[must_use]
pub fn property<'a>(
    catalogue: &'a Catalogue,
    object: &'a SchemaValue,
    name: &str,
) -> Option<&'a SchemaValue> {
    let object = resolve(catalogue, object)?;
    let property = object.get("properties")?.as_object()?.get(name)?.as_object()?;
    resolve(catalogue, property)
}

/// The names of an object schema's properties.
#[must_use]
pub(crate) fn property_names<'a>(catalogue: &'a Catalogue, object: &'a SchemaValue) -> Vec<&'a str> {
    let properties = resolve(catalogue, object).and_then(|object| object.get("properties")?.as_object());
    properties.map_or_else(Vec::new, |properties| properties.keys().map(String::as_str).collect())
}
