//! The Rust type of a flattened schema, and Rust expressions for its defaults.

use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;

use crate::ir::Ir;
use crate::ir::names::ident;
use crate::ir::schema::{Kind, Property, Schema};

/// Returns the type of a value of this schema; `Option` when null is accepted.
pub fn rust_type(schema: &Schema, ir: &Ir<'_>) -> TokenStream {
    let plain = plain_type(schema, ir);
    if ir.is_nullable(schema) { quote!(::std::option::Option<#plain>) } else { plain }
}

/// Returns the type of a value that is not null.
fn plain_type(schema: &Schema, ir: &Ir<'_>) -> TokenStream {
    match &schema.kind {
        Kind::Null => quote!(()),
        Kind::Boolean => quote!(bool),
        Kind::Integer(_) => quote!(i64),
        Kind::Number(_) => quote!(f64),
        Kind::String(_) => quote!(::std::string::String),
        Kind::Enum { values, .. } if values.iter().all(Value::is_i64) => quote!(i64),
        Kind::Enum { values, .. } if values.iter().all(Value::is_boolean) => quote!(bool),
        // Its values have no names in Rust, or it would have been named.
        Kind::Enum { values, .. } if values.iter().all(Value::is_string) => quote!(::std::string::String),
        Kind::Array { items, .. } => {
            let item = rust_type(items, ir);
            quote!(::std::vec::Vec<#item>)
        }
        Kind::Record { values, .. } => {
            let value = rust_type(values, ir);
            quote!(::colibri_runtime::members::Members<::std::string::String, #value>)
        }
        Kind::Ref(name) => {
            let name = ident(name);
            quote!(#name)
        }
        // Nested objects and unions have been named; a mixed enum has no closer type.
        Kind::Any | Kind::Enum { .. } | Kind::Object { .. } | Kind::Union { .. } => {
            quote!(::serde_json::Value)
        }
    }
}

/// How a property's presence and null are distinguished (catalogue#types: null clears, absent keeps).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Always there; `Option` only when null is a value.
    Always,
    /// Absent is replaced by the default.
    Defaulted,
    /// `Option`: absent is `None`, null is refused.
    Optional,
    /// `Option<Option>`: absent is `None`, null is `Some(None)`.
    OptionalNullable,
}

impl Presence {
    /// Returns the presence of a property.
    pub fn of(property: &Property, ir: &Ir<'_>) -> Self {
        let schema = ir.shared.resolve(&property.schema);
        match (property.required, schema.default.is_some()) {
            (true, _) => Self::Always,
            (false, true) => Self::Defaulted,
            (false, false) if schema.nullable || matches!(schema.kind, Kind::Any | Kind::Null) => {
                Self::OptionalNullable
            }
            (false, false) => Self::Optional,
        }
    }
}

/// Returns the Rust expression of a default; `None` when it has none. `variants` finds the variant of a string enum by
/// its text.
pub fn default_value(
    value: &Value,
    schema: &Schema,
    ir: &Ir<'_>,
    variants: &impl Fn(&str, &str) -> Option<syn::Ident>,
) -> Option<TokenStream> {
    if ir.is_nullable(schema) {
        if value.is_null() {
            return Some(quote!(::std::option::Option::None));
        }
        let bare = Schema { nullable: false, ..schema.clone() };
        let inner = plain_default(value, &bare, ir, variants)?;
        return Some(quote!(::std::option::Option::Some(#inner)));
    }
    plain_default(value, schema, ir, variants)
}

fn plain_default(
    value: &Value,
    schema: &Schema,
    ir: &Ir<'_>,
    variants: &impl Fn(&str, &str) -> Option<syn::Ident>,
) -> Option<TokenStream> {
    match (&schema.kind, value) {
        (Kind::Number(_), Value::Number(number)) => {
            let number = number.as_f64()?;
            Some(quote!(#number))
        }
        (Kind::Array { items, .. }, Value::Array(values)) => {
            let values: Option<Vec<_>> =
                values.iter().map(|value| default_value(value, items, ir, variants)).collect();
            let values = values?;
            Some(quote!(::std::vec![#(#values),*]))
        }
        (Kind::Ref(name), value) => {
            let type_name = ident(name);
            if let Some(variant) = value.as_str().and_then(|text| variants(name, text)) {
                return Some(quote!(super::#type_name::#variant));
            }
            let target = &ir.definition(name)?.schema;
            let newtype =
                !matches!(target.kind, Kind::Object { .. } | Kind::Union { .. } | Kind::Enum { .. });
            let inner = if newtype { plain_default(value, target, ir, variants)? } else { return None };
            Some(quote!(super::#type_name(#inner)))
        }
        (Kind::Any, value) => {
            let text = value.to_string();
            Some(quote!(::serde_json::from_str(#text).unwrap_or_default()))
        }
        (_, Value::Bool(flag)) => Some(quote!(#flag)),
        (_, Value::Number(number)) => {
            let whole = number.as_i64()?;
            Some(quote!(#whole))
        }
        (_, Value::String(text)) => Some(quote!(#text.to_owned())),
        (Kind::Record { .. }, Value::Object(map)) if map.is_empty() => {
            Some(quote!(::colibri_runtime::members::Members::new()))
        }
        _ => None,
    }
}
