//! Gives every nested object, string enum and union a name of its own, so that each becomes one Rust
//! type: the parent's name and the property's.

use super::names::pascal;
use super::schema::{Kind, Property, Schema};

/// A named schema without nested objects, enums or unions; one Rust type.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The Rust name.
    pub name: String,
    /// The schema; what was nested is a [`Kind::Ref`] now.
    pub schema: Schema,
    /// What the type is for, one sentence.
    pub doc: String,
}

/// Collects definitions.
#[derive(Debug, Default)]
pub struct Hoister {
    /// What was found so far, parents before children.
    pub definitions: Vec<Definition>,
}

impl Hoister {
    /// Defines `name` as `schema`, and everything nested in it.
    pub fn define(&mut self, name: &str, schema: &Schema, doc: &str) {
        let doc = schema.description.clone().unwrap_or_else(|| doc.to_owned());
        let slot = self.definitions.len();
        self.definitions.push(Definition { name: name.to_owned(), schema: Schema::of(Kind::Any), doc });
        let kind = match &schema.kind {
            Kind::Object { properties, closed } => {
                let properties = properties.iter().map(|property| Property {
                    name: property.name.clone(),
                    required: property.required,
                    schema: self.flatten(
                        &format!("{name}{}", pascal(&property.name)),
                        &property.schema,
                        &format!("`{}` of [`{name}`].", property.name),
                    ),
                });
                Kind::Object { properties: properties.collect(), closed: *closed }
            }
            Kind::Union { branches, exclusive } => {
                let branches = branches.iter().enumerate().map(|(index, branch)| {
                    self.flatten(&format!("{name}Variant{index}"), branch, &format!("A form of [`{name}`]."))
                });
                Kind::Union { branches: branches.collect(), exclusive: *exclusive }
            }
            Kind::Enum { .. } => schema.kind.clone(),
            _ => self.flatten(name, &Schema { nullable: false, ..schema.clone() }, "").kind,
        };
        if let Some(definition) = self.definitions.get_mut(slot) {
            definition.schema = Schema { kind, nullable: false, ..schema.clone() };
        }
    }

    /// The schema with everything nested turned into references; `name` is what a type found here
    /// is called.
    pub fn flatten(&mut self, name: &str, schema: &Schema, doc: &str) -> Schema {
        let kind = match &schema.kind {
            Kind::Object { .. } | Kind::Union { .. } => self.refer(name, schema, doc),
            Kind::Enum { .. } if schema.is_string_enum() => self.refer(name, schema, doc),
            Kind::Array { items, min, max, unique } => {
                let items = Box::new(self.flatten(&format!("{name}Item"), items, doc));
                Kind::Array { items, min: *min, max: *max, unique: *unique }
            }
            Kind::Record { keys, values, min, max } => {
                let values = Box::new(self.flatten(&format!("{name}Value"), values, doc));
                Kind::Record { keys: keys.clone(), values, min: *min, max: *max }
            }
            other => other.clone(),
        };
        Schema { kind, ..schema.clone() }
    }

    fn refer(&mut self, name: &str, schema: &Schema, doc: &str) -> Kind {
        self.define(name, schema, doc);
        Kind::Ref(name.to_owned())
    }
}
