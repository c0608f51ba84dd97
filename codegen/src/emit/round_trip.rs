//! Generated tests: for every optional-nullable field of every input, absent, null and a value must
//! survive decoding and encoding as three different things (catalogue#types: null clears, absent keeps).

use colibri_pattern::{Regex, Steps};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Map, Value, json};

use super::internal;
use super::rust_type::Presence;
use crate::ir::names::ident;
use crate::ir::schema::{Kind, Schema, StringBounds};
use crate::ir::{Ir, Problem, ToolIr};

/// The test module; empty when no input has such a field.
///
/// # Errors
/// No value is known that fits a named string's pattern.
pub fn emit(ir: &Ir<'_>) -> Result<TokenStream, Problem> {
    let samples = Samples { ir, strings: example_strings(ir) };
    let mut tests = Vec::new();
    for tool in ir.tools() {
        tests.extend(samples.test(tool)?);
    }
    if tests.is_empty() {
        return Ok(TokenStream::new());
    }
    Ok(quote! {
        #[cfg(test)]
        mod round_trip {
            #![allow(clippy::unwrap_used, clippy::panic)]
            use ::serde_json::Value;

            /// Every case: arguments, pointer to the object, key, a value.
            fn absent_null_and_value_stay_apart<T>(cases: &[(&str, &str, &str, &str)])
            where
                T: ::serde::de::DeserializeOwned + ::serde::Serialize,
            {
                for (arguments, parent, key, value) in cases {
                    let value: Value = ::serde_json::from_str(value).unwrap();
                    for given in [None, Some(Value::Null), Some(value)] {
                        let mut arguments: Value = ::serde_json::from_str(arguments).unwrap();
                        let object = arguments.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
                        object.remove(*key);
                        object.extend(given.clone().map(|given| ((*key).to_owned(), given)));
                        let typed: T = ::colibri_runtime::handler::decode(&arguments).unwrap();
                        let encoded = ::serde_json::to_value(&typed).unwrap();
                        let found = encoded.pointer(parent).and_then(|object| object.get(key));
                        assert_eq!(found, given.as_ref(), "{parent}/{key}");
                    }
                }
            }

            #(#tests)*
        }
    })
}

/// Makes values that fit a schema's types.
struct Samples<'a> {
    ir: &'a Ir<'a>,
    strings: Vec<String>,
}

/// One field: the arguments around it, where its object stands, its key, a value.
struct Case {
    arguments: Value,
    parent: String,
    key: String,
    value: Value,
}

impl Samples<'_> {
    fn test(&self, tool: &ToolIr<'_>) -> Result<Option<TokenStream>, Problem> {
        let cases = self.cases(tool.widest_input())?;
        if cases.is_empty() {
            return Ok(None);
        }
        let (name, input) = (ident(&tool.method()), ident(&tool.input_type()));
        let cases = cases.iter().map(|case| {
            let (arguments, value) = (case.arguments.to_string(), case.value.to_string());
            let (parent, key) = (&case.parent, &case.key);
            quote!((#arguments, #parent, #key, #value))
        });
        Ok(Some(quote! {
            #[test]
            fn #name() {
                absent_null_and_value_stay_apart::<super::#input>(&[#(#cases),*]);
            }
        }))
    }

    /// The optional-nullable fields below a schema.
    fn cases(&self, schema: &Schema) -> Result<Vec<Case>, Problem> {
        let schema = self.ir.shared.resolve(schema);
        match &schema.kind {
            Kind::Object { properties, .. } => {
                let base = self.sample(&schema)?;
                let mut cases = Vec::new();
                for property in properties {
                    if Presence::of(property, self.ir) == Presence::OptionalNullable {
                        cases.push(Case {
                            arguments: base.clone(),
                            parent: String::new(),
                            key: property.name.clone(),
                            value: self.sample(&property.schema)?,
                        });
                    }
                    let token = property.name.replace('~', "~0").replace('/', "~1");
                    for inner in self.cases(&property.schema)? {
                        let mut arguments = base.clone();
                        arguments[&property.name] = inner.arguments;
                        cases.push(Case { arguments, parent: format!("/{token}{}", inner.parent), ..inner });
                    }
                }
                Ok(cases)
            }
            Kind::Array { items, .. } => {
                let wrap = |case: Case| Case {
                    arguments: json!([case.arguments]),
                    parent: format!("/0{}", case.parent),
                    ..case
                };
                Ok(self.cases(items)?.into_iter().map(wrap).collect())
            }
            Kind::Record { values, .. } => {
                let wrap = |case: Case| Case {
                    arguments: json!({"key": case.arguments}),
                    parent: format!("/key{}", case.parent),
                    ..case
                };
                Ok(self.cases(values)?.into_iter().map(wrap).collect())
            }
            Kind::Union { branches, .. } => {
                let found: Result<Vec<_>, Problem> =
                    branches.iter().map(|branch| self.cases(branch)).collect();
                Ok(found?.into_iter().flatten().collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// A value that is not null, with required members only.
    fn sample(&self, schema: &Schema) -> Result<Value, Problem> {
        let named = matches!(schema.kind, Kind::Ref(_));
        let schema = self.ir.shared.resolve(schema);
        Ok(match &schema.kind {
            Kind::Any => json!({"any": 1}),
            Kind::Null | Kind::Ref(_) => Value::Null,
            Kind::Boolean => json!(true),
            Kind::Integer(bounds) => json!(bounds.min.or(bounds.max).unwrap_or(1)),
            Kind::Number(bounds) => {
                json!(bounds.min.as_ref().and_then(|(value, _)| value.as_f64()).unwrap_or(0.5))
            }
            Kind::String(bounds) if named => json!(self.fitting(bounds)?),
            Kind::String(_) => json!("text"),
            Kind::Enum { values, .. } => values.first().cloned().unwrap_or(Value::Null),
            Kind::Array { .. } => json!([]),
            Kind::Record { .. } => json!({}),
            Kind::Union { branches, .. } => match branches.first() {
                Some(branch) => self.sample(branch)?,
                None => Value::Null,
            },
            Kind::Object { properties, .. } => {
                let mut object = Map::new();
                for property in properties.iter().filter(|property| property.required) {
                    object.insert(property.name.clone(), self.sample(&property.schema)?);
                }
                Value::Object(object)
            }
        })
    }

    /// A string that fits: one of the catalogue's examples, or a plain one.
    fn fitting(&self, bounds: &StringBounds) -> Result<String, Problem> {
        let regex = bounds.pattern.as_deref().and_then(|source| Regex::new(source).ok());
        let min = bounds.min.unwrap_or(0) as usize;
        let plain = ["a", "0", "A"].map(|unit| unit.repeat(min.max(1)));
        let lengths = [32, 36, 40, 64, 128].map(|length| "0".repeat(length));
        let fits = |text: &&String| {
            let count = text.chars().count();
            count >= min
                && bounds.max.is_none_or(|max| count <= max as usize)
                && regex.as_ref().is_none_or(|regex| regex.is_match(text, &Steps::default()) == Ok(true))
        };
        let found = plain.iter().chain(&lengths).chain(&self.strings).find(fits).cloned();
        found.ok_or_else(|| {
            let pattern = bounds.pattern.as_deref().unwrap_or_default();
            internal(&format!(
                "no example shows a string that fits the shared type's pattern `{pattern}`; add one"
            ))
        })
    }
}

/// Every string that stands in an example of the catalogue.
fn example_strings(ir: &Ir<'_>) -> Vec<String> {
    fn collect(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::String(text) => into.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
            Value::Object(members) => members.values().for_each(|member| collect(member, into)),
            _ => {}
        }
    }
    let mut strings = Vec::new();
    for example in ir.tools().flat_map(|tool| &tool.entry.examples) {
        collect(&example.arguments, &mut strings);
        collect(&example.reply, &mut strings);
    }
    strings
}
