//! Static schema tables: what the runtime's validation walks. Written inside a module that imports
//! `colibri_runtime::schema`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use crate::catalogue::Rule;
use crate::ir::Shared;
use crate::ir::schema::{Kind, Property, Schema, StringBounds};

/// Builds tables and collects their patterns, each distinct one once.
pub struct Tables<'a> {
    shared: &'a Shared,
    patterns: Vec<String>,
}

impl<'a> Tables<'a> {
    /// A builder without patterns.
    pub fn new(shared: &'a Shared) -> Self {
        Self { shared, patterns: Vec::new() }
    }

    /// The expression of a schema's table.
    pub fn schema(&mut self, schema: &Schema) -> TokenStream {
        let schema = self.shared.resolve(schema);
        let (shape, nullable, message) =
            (self.shape(&schema.kind), schema.nullable, option(schema.message.as_ref()));
        quote!(Schema { shape: #shape, nullable: #nullable, message: #message })
    }

    /// The statics of the patterns that were met.
    pub fn patterns(&self) -> TokenStream {
        let statics = self.patterns.iter().enumerate().map(|(index, source)| {
            let name = pattern_name(index);
            quote!(static #name: Pattern = Pattern::new(#source);)
        });
        quote!(#(#statics)*)
    }

    fn shape(&mut self, kind: &Kind) -> TokenStream {
        match kind {
            Kind::Any | Kind::Ref(_) => quote!(Shape::Any),
            Kind::Null => quote!(Shape::Null),
            Kind::Boolean => quote!(Shape::Boolean),
            Kind::Integer(bounds) => {
                let (min, max, multiple) = (
                    option(bounds.min.as_ref()),
                    option(bounds.max.as_ref()),
                    option(bounds.multiple_of.as_ref()),
                );
                quote!(Shape::Integer(IntegerRule { min: #min, max: #max, multiple_of: #multiple }))
            }
            Kind::Number(bounds) => {
                let bound = |bound: &Option<(serde_json::Number, bool)>| {
                    let bound =
                        bound.as_ref().and_then(|(value, inclusive)| Some((value.as_f64()?, *inclusive)));
                    match bound {
                        Some((value, inclusive)) => {
                            quote!(Some(Bound { value: #value, inclusive: #inclusive }))
                        }
                        None => quote!(None),
                    }
                };
                let (min, max) = (bound(&bounds.min), bound(&bounds.max));
                quote!(Shape::Number(NumberRule { min: #min, max: #max }))
            }
            Kind::String(bounds) => {
                let rule = self.string(bounds);
                quote!(Shape::String(#rule))
            }
            Kind::Enum { values, .. } => {
                let literals = values.iter().map(literal);
                quote!(Shape::Enum(&[#(#literals),*]))
            }
            Kind::Array { items, min, max, unique } => {
                let items = self.schema(items);
                let (min, max) = (option(min.as_ref()), option(max.as_ref()));
                quote!(Shape::Array(&ArrayRule { items: #items, min: #min, max: #max, unique: #unique }))
            }
            Kind::Object { properties, closed } => {
                let properties: Vec<_> = properties.iter().map(|property| self.property(property)).collect();
                let additional = if *closed { quote!(Additional::Closed) } else { quote!(Additional::Open) };
                quote!(Shape::Object(&ObjectRule { properties: &[#(#properties),*], additional: #additional }))
            }
            Kind::Record { keys, values, min, max } => {
                let keys = keys.as_ref().map(|keys| self.string(keys));
                let (keys, values) = (option(keys.as_ref()), self.schema(values));
                let (min, max) = (option(min.as_ref()), option(max.as_ref()));
                quote!(Shape::Record(&RecordRule { keys: #keys, values: #values, min: #min, max: #max }))
            }
            Kind::Union { branches, exclusive } => {
                let branches: Vec<_> = branches.iter().map(|branch| self.schema(branch)).collect();
                quote!(Shape::Union(&UnionRule { branches: &[#(#branches),*], exclusive: #exclusive }))
            }
        }
    }

    fn property(&mut self, property: &Property) -> TokenStream {
        let default = self.shared.resolve(&property.schema).default.map(|value| value.to_string());
        let (name, schema, required, default) =
            (&property.name, self.schema(&property.schema), property.required, option(default.as_ref()));
        quote!(Property { name: #name, schema: #schema, required: #required, default: #default })
    }

    fn string(&mut self, bounds: &StringBounds) -> TokenStream {
        let (min, max) = (option(bounds.min.as_ref()), option(bounds.max.as_ref()));
        let pattern = bounds.pattern.as_ref().map(|source| {
            let known = self.patterns.iter().position(|known| known == source);
            let index = known.unwrap_or_else(|| {
                self.patterns.push(source.clone());
                self.patterns.len() - 1
            });
            let name = pattern_name(index);
            quote!(&#name)
        });
        let pattern = option(pattern.as_ref());
        quote!(StringRule { min: #min, max: #max, pattern: #pattern })
    }
}

/// The expression of a cross-field rule.
pub fn rule(rule: &Rule) -> TokenStream {
    match rule {
        Rule::AliasEqual { field, alias, message } => {
            quote!(CrossRule::AliasEqual { field: #field, alias: #alias, message: #message })
        }
        Rule::Either { field, others, message } => {
            quote!(CrossRule::Either { field: #field, others: &[#(#others),*], message: #message })
        }
        Rule::Needs { field, other, message } => {
            quote!(CrossRule::Needs { field: #field, other: #other, message: #message })
        }
        Rule::MaxBytes { field, limit, message } => {
            quote!(CrossRule::MaxBytes { field: #field, limit: #limit, message: #message })
        }
        Rule::NoNul { message } => quote!(CrossRule::NoNul { message: #message }),
    }
}

fn literal(value: &Value) -> TokenStream {
    match value {
        Value::String(text) => quote!(Literal::String(#text)),
        Value::Bool(flag) => quote!(Literal::Boolean(#flag)),
        Value::Number(number) => {
            let whole = number.as_i64().unwrap_or_default();
            quote!(Literal::Integer(#whole))
        }
        _ => quote!(Literal::Null),
    }
}

fn option<T: quote::ToTokens>(value: Option<&T>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}

fn pattern_name(index: usize) -> Ident {
    format_ident!("PATTERN_{index}")
}
