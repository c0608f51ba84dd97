//! Rust types: typify makes them. [`Shaper`] mends what typify does not keep (order of fields,
//! null beside absent, empty lists) and leaves out unused parts.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use serde_json::{Map, Value, json};
use syn::visit_mut::VisitMut;
use syn::{Attribute, Field, Fields, Ident, Item, ItemEnum, ItemImpl, ItemStruct, parse_quote};
use typify::{TypeSpace, TypeSpaceSettings};

use super::rust_type::{Presence, default_value, rust_type};
use super::syntax::{Inside, RuntimePatterns, by_reference, doc_attribute, json_name, last_ident, wire_name};
use super::{doc, internal, verbatim};
use crate::ir::hoist::Definition;
use crate::ir::names::{ident, snake};
use crate::ir::schema::{Kind, Property, Schema};
use crate::ir::{Ir, Problem};

/// Emits all types of the catalogue, in the order of their definitions.
///
/// # Errors
/// typify's refusal, or a default that has no Rust expression.
pub fn emit(ir: &Ir<'_>) -> Result<TokenStream, Problem> {
    let mut file = typified(ir)?;
    RuntimePatterns::default().visit_file_mut(&mut file);
    let mut shaper = Shaper { ir, parts: BTreeMap::new(), error_module: None };
    for item in file.items {
        shaper.sort_in(item);
    }
    let mut defaults = Vec::new();
    let mut out = TokenStream::new();
    for definition in &ir.definitions {
        out.extend(shaper.definition(definition, &mut defaults)?);
    }
    for tool in ir.tools() {
        if let Some(target) = &tool.output_alias {
            let (name, target) = (ident(&tool.output_type()), ident(target));
            let text = doc(&format!("Payload of `{}`.", tool.entry.name));
            out.extend(quote! { #text pub type #name = #target; });
        }
    }
    if !defaults.is_empty() {
        out.extend(quote! {
            /// Values taken for absent properties.
            mod defaults { #(#defaults)* }
        });
    }
    // A catalogue without named strings and enums has no conversions that fail.
    if out.to_string().contains("ConversionError") {
        out.extend(shaper.error_module.map(ToTokens::into_token_stream));
    }
    Ok(out)
}

/// Returns what typify makes of the definitions, in its own order and form.
fn typified(ir: &Ir<'_>) -> Result<syn::File, Problem> {
    let mut settings = TypeSpaceSettings::default();
    settings.with_map_type("::colibri_runtime::members::Members");
    let mut space = TypeSpace::new(&settings);
    let mut definitions = Vec::new();
    for definition in &ir.definitions {
        let written = draft7(&definition.schema, true, ir);
        let schema: schemars08::schema::Schema = serde_json::from_value(written)
            .map_err(|error| internal(&format!("schema of `{}`: {error}", definition.name)))?;
        definitions.push((definition.name.clone(), schema));
    }
    space.add_ref_types(definitions).map_err(|error| internal(&format!("typify: {error}")))?;
    syn::parse2(space.to_stream()).map_err(|error| internal(&format!("typify's output: {error}")))
}

/// Returns the schema as typify reads it: draft 7, without what stage 2 of the chain has checked. Only named
/// strings keep length and pattern; they become types of their own.
fn draft7(schema: &Schema, named: bool, ir: &Ir<'_>) -> Value {
    let plain = match &schema.kind {
        Kind::Any => json!({}),
        Kind::Null => json!({"type": "null"}),
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Integer(_) => json!({"type": "integer"}),
        Kind::Number(_) => json!({"type": "number"}),
        Kind::String(bounds) => {
            let mut out = Map::from_iter([("type".to_owned(), json!("string"))]);
            if named {
                out.extend(bounds.pattern.as_ref().map(|pattern| ("pattern".to_owned(), json!(pattern))));
                out.extend(bounds.min.map(|min| ("minLength".to_owned(), json!(min))));
                out.extend(bounds.max.map(|max| ("maxLength".to_owned(), json!(max))));
            }
            Value::Object(out)
        }
        Kind::Enum { values, .. } if schema.is_string_enum() => json!({"type": "string", "enum": values}),
        Kind::Enum { values, .. } if values.iter().all(Value::is_i64) => json!({"type": "integer"}),
        Kind::Enum { values, .. } if values.iter().all(Value::is_boolean) => json!({"type": "boolean"}),
        Kind::Enum { values, .. } if values.iter().all(Value::is_string) => json!({"type": "string"}),
        Kind::Enum { .. } => json!({}),
        Kind::Array { items, .. } => json!({"type": "array", "items": draft7(items, false, ir)}),
        Kind::Record { values, .. } => {
            json!({"type": "object", "additionalProperties": draft7(values, false, ir)})
        }
        Kind::Ref(name) => json!({"$ref": format!("#/definitions/{name}")}),
        Kind::Union { branches, exclusive } => {
            let branches: Vec<_> = branches.iter().map(|branch| draft7(branch, false, ir)).collect();
            if *exclusive { json!({"oneOf": branches}) } else { json!({"anyOf": branches}) }
        }
        Kind::Object { properties, closed } => {
            let members: Map<String, Value> = properties
                .iter()
                .map(|property| (property.name.clone(), draft7(&property.schema, false, ir)))
                .collect();
            let required: Vec<_> = properties.iter().filter(|p| p.required).map(|p| &p.name).collect();
            let mut out = json!({"type": "object", "properties": members, "required": required});
            // Of an open object without properties typify would make a map.
            if *closed || properties.is_empty() {
                out["additionalProperties"] = json!(false);
            }
            out
        }
    };
    if ir.is_nullable(schema) && !named { json!({"oneOf": [plain, {"type": "null"}]}) } else { plain }
}

/// What typify made for one type.
#[derive(Default)]
struct Part {
    item: Option<Item>,
    impls: Vec<ItemImpl>,
}

struct Shaper<'a> {
    ir: &'a Ir<'a>,
    parts: BTreeMap<String, Part>,
    error_module: Option<Item>,
}

impl Shaper<'_> {
    fn sort_in(&mut self, item: Item) {
        match item {
            Item::Struct(ItemStruct { ref ident, .. }) | Item::Enum(ItemEnum { ref ident, .. }) => {
                let name = ident.clone();
                self.part(&name).item = Some(item);
            }
            Item::Impl(item) => {
                if let Some(owner) = self.owner(&item) {
                    self.parts.entry(owner).or_default().impls.push(item);
                }
            }
            Item::Mod(item) if item.ident == "error" => self.error_module = Some(Item::Mod(item)),
            _ => {}
        }
    }

    fn part(&mut self, name: &Ident) -> &mut Part {
        self.parts.entry(name.to_string()).or_default()
    }

    /// Returns the type an impl belongs to, if that is kept: text forms of enums and newtypes,
    /// and conversions from and to newtypes.
    fn owner(&self, item: &ItemImpl) -> Option<String> {
        let (path, _) = item.trait_.as_ref()?;
        let last = path.segments.last()?;
        let self_type = last_ident(&item.self_ty)?;
        let definition = self.ir.definition(&self_type);
        let is_enum = definition.is_some_and(|d| matches!(d.schema.kind, Kind::Enum { .. }));
        let is_newtype = definition.is_some_and(|d| is_newtype(&d.schema));
        let from_string = match &last.arguments {
            syn::PathArguments::AngleBracketed(arguments) => arguments.args.iter().any(|argument| {
                matches!(argument, syn::GenericArgument::Type(inner) if last_ident(inner).as_deref() == Some("String"))
            }),
            _ => false,
        };
        let keep = match last.ident.to_string().as_str() {
            "Display" | "FromStr" => is_enum || is_newtype,
            "Deref" | "Deserialize" => is_newtype,
            "TryFrom" => is_newtype && from_string && !matches!(&*item.self_ty, syn::Type::Reference(_)),
            "From" => is_newtype && !by_reference(last),
            _ => false,
        };
        keep.then_some(self_type)
    }

    fn definition(
        &mut self,
        definition: &Definition,
        defaults: &mut Vec<TokenStream>,
    ) -> Result<TokenStream, Problem> {
        let part = self.parts.remove(&definition.name).unwrap_or_default();
        let text = doc(verbatim(&definition.doc).trim_start());
        let mut impls = part.impls;
        impls.iter_mut().for_each(quiet);
        match part.item {
            Some(Item::Struct(mut item)) => {
                let (item, extra) = match &definition.schema.kind {
                    Kind::Object { properties, closed } => {
                        if !closed {
                            // Other members are passed over.
                            item.attrs.retain(|attribute| !attribute.path().is_ident("serde"));
                        }
                        (self.object(item, definition, properties, defaults)?, TokenStream::new())
                    }
                    _ => newtype(item, &definition.schema, &impls),
                };
                Ok(quote! { #text #item #extra #(#impls)* })
            }
            Some(Item::Enum(item)) if definition.schema.is_string_enum() => {
                let item = string_enum(item);
                // Later defaults look the variants up.
                self.part(&ident(&definition.name)).item = Some(Item::Enum(item.clone()));
                let names = string_methods(&item);
                Ok(quote! { #text #item #names #(#impls)* })
            }
            Some(Item::Enum(mut item)) => {
                item.attrs.retain(|attribute| attribute.path().is_ident("serde"));
                item.attrs.insert(0, derives(&[]));
                for (index, variant) in item.variants.iter_mut().enumerate() {
                    variant.attrs.push(doc_attribute(&format!("Form {}.", index + 1)));
                }
                Ok(quote! { #text #item })
            }
            _ => Err(internal(&format!(
                "typify made no type `{}`; a shared type's name must be PascalCase, acronyms too (`HttpUrl`)",
                definition.name
            ))),
        }
    }

    fn object(
        &self,
        mut item: ItemStruct,
        definition: &Definition,
        properties: &[Property],
        defaults: &mut Vec<TokenStream>,
    ) -> Result<ItemStruct, Problem> {
        item.attrs.retain(|attribute| attribute.path().is_ident("serde"));
        item.attrs.insert(0, derives(&[]));
        let Fields::Named(fields) = &mut item.fields else {
            return Err(internal(&format!("typify made `{}` something else than a struct", definition.name)));
        };
        let mut made: BTreeMap<String, Field> =
            std::mem::take(&mut fields.named).into_iter().map(|field| (json_name(&field), field)).collect();
        for property in properties {
            let Some(mut field) = made.remove(&property.name) else {
                return Err(internal(&format!(
                    "typify left `{}` out of `{}`",
                    property.name, definition.name
                )));
            };
            self.field(&mut field, definition, property, defaults)?;
            fields.named.push(field);
        }
        Ok(item)
    }

    fn field(
        &self,
        field: &mut Field,
        definition: &Definition,
        property: &Property,
        defaults: &mut Vec<TokenStream>,
    ) -> Result<(), Problem> {
        let value = rust_type(&property.schema, self.ir);
        let mut serde = Vec::new();
        if field.ident.as_ref().is_some_and(|ident| *ident != property.name) {
            let name = &property.name;
            serde.push(quote!(rename = #name));
        }
        let skip = quote!(skip_serializing_if = "::std::option::Option::is_none");
        field.ty = match Presence::of(property, self.ir) {
            Presence::Always => parse_quote!(#value),
            Presence::Defaulted => {
                let function = format!("{}_{}", snake(&definition.name), snake(&property.name));
                let path = format!("defaults::{function}");
                serde.push(quote!(default = #path));
                defaults.push(self.default_function(&function, property)?);
                parse_quote!(#value)
            }
            Presence::Optional => {
                serde.extend([quote!(default), skip]);
                parse_quote!(::std::option::Option<#value>)
            }
            Presence::OptionalNullable => {
                let with = "::colibri_runtime::handler::nullable::deserialize";
                serde.extend([quote!(default), skip, quote!(deserialize_with = #with)]);
                let nullable = self.ir.is_nullable(&property.schema);
                let inner = if nullable { value } else { quote!(::std::option::Option<#value>) };
                parse_quote!(::std::option::Option<#inner>)
            }
        };
        let described = self.ir.shared.resolve(&property.schema).description;
        let text = described.unwrap_or_else(|| format!("`{}`.", property.name));
        field.attrs = verbatim(&text).trim_start().lines().map(doc_attribute).collect();
        if !serde.is_empty() {
            field.attrs.push(parse_quote!(#[serde(#(#serde),*)]));
        }
        Ok(())
    }

    fn default_function(&self, name: &str, property: &Property) -> Result<TokenStream, Problem> {
        let function = ident(name);
        let inside = Inside.of(rust_type(&property.schema, self.ir))?;
        let variants = |type_name: &str, text: &str| {
            let Some(Item::Enum(item)) = &self.parts.get(type_name)?.item else { return None };
            item.variants
                .iter()
                .find(|variant| wire_name(&variant.attrs, &variant.ident) == text)
                .map(|v| v.ident.clone())
        };
        let default = self.ir.shared.resolve(&property.schema).default.unwrap_or(Value::Null);
        let value = default_value(&default, &property.schema, self.ir, &variants).ok_or_else(|| {
            internal(&format!("the default of `{}` has no Rust value; leave the default out", property.name))
        })?;
        Ok(quote! { pub(super) fn #function() -> #inside { #value } })
    }
}

fn is_newtype(schema: &Schema) -> bool {
    !matches!(schema.kind, Kind::Object { .. } | Kind::Union { .. }) && !schema.is_string_enum()
}

fn derives(more: &[&str]) -> Attribute {
    let more = more.iter().map(|name| ident(name));
    parse_quote!(#[derive(Debug, Clone, PartialEq, #(#more,)* ::serde::Serialize, ::serde::Deserialize)])
}

fn string_enum(mut item: ItemEnum) -> ItemEnum {
    item.attrs.retain(|attribute| attribute.path().is_ident("serde"));
    item.attrs.insert(0, derives(&["Copy", "Eq", "Hash", "PartialOrd", "Ord"]));
    for variant in &mut item.variants {
        let text = wire_name(&variant.attrs, &variant.ident);
        variant.attrs.retain(|attribute| attribute.path().is_ident("serde"));
        variant.attrs.insert(0, doc_attribute(&format!("`{text}`.")));
    }
    item
}

fn string_methods(item: &ItemEnum) -> TokenStream {
    let name = &item.ident;
    let count = item.variants.len();
    let variants: Vec<_> = item.variants.iter().map(|variant| &variant.ident).collect();
    let texts = item.variants.iter().map(|variant| wire_name(&variant.attrs, &variant.ident));
    quote! {
        #[allow(dead_code)]
        impl #name {
            /// All values in declared order.
            pub const ALL: [Self; #count] = [#(Self::#variants),*];

            /// The value as it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { #(Self::#variants => #texts),* }
            }
        }
    }
}

/// A newtype with the project's derives. One with an own `Deserialize` checks what it is given.
fn newtype(mut item: ItemStruct, schema: &Schema, impls: &[ItemImpl]) -> (ItemStruct, TokenStream) {
    item.attrs.retain(|attribute| attribute.path().is_ident("serde"));
    let implements = |name: &str| {
        impls.iter().any(|item| {
            let path = item.trait_.as_ref().map(|(path, _)| path);
            path.and_then(|path| path.segments.last()).is_some_and(|last| last.ident == name)
        })
    };
    let text = matches!(schema.kind, Kind::String(_));
    let more = if text { vec!["Eq", "Hash", "PartialOrd", "Ord"] } else { Vec::new() };
    let more = more.iter().map(|name| ident(name));
    let deserialize = (!implements("Deserialize")).then(|| quote!(::serde::Deserialize));
    item.attrs.insert(
        0,
        parse_quote!(#[derive(Debug, Clone, PartialEq, #(#more,)* ::serde::Serialize, #deserialize)]),
    );
    let name = &item.ident;
    let display = (text && !implements("Display")).then(|| {
        quote! {
            impl ::std::fmt::Display for #name {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    f.write_str(&self.0)
                }
            }
        }
    });
    (item, quote!(#display))
}

/// typify unwraps its compiled patterns; the lint has compiled each of them before.
fn quiet(item: &mut ItemImpl) {
    item.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
    item.attrs.push(parse_quote!(#[allow(clippy::unwrap_used)]));
}
