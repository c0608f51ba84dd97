//! One error enum a tool: a variant for each declared code, its fields typed, its message and its
//! remedy filled in from the declared forms. A handler cannot answer a code that the catalogue does not know.
//!
//! An error that tools share is a type of its own, too, which becomes the variant of each of these tools: a function that several
//! handlers call can return it, and `?` does the rest.

use proc_macro2::TokenStream;
use quote::quote;

use super::rust_type::rust_type;
use super::{doc, internal, verbatim};
use crate::catalogue::{ErrorPattern, NextCall, Source};
use crate::ir::message::{Piece, With};
use crate::ir::names::ident;
use crate::ir::schema::{Kind, Property};
use crate::ir::{ErrorIr, Ir, Problem, ToolIr};

/// The error enums of all tools.
///
/// # Errors
/// Message forms that show a field which has no text.
pub fn emit(ir: &Ir<'_>) -> Result<TokenStream, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut out = TokenStream::new();
    out.extend(ir.errors.iter().map(|error| shared(error, ir)));
    for tool in ir.tools() {
        match enumeration(tool, ir) {
            Ok(tokens) => out.extend(tokens),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(out) } else { Err(problems) }
}

fn enumeration(tool: &ToolIr<'_>, ir: &Ir<'_>) -> Result<TokenStream, Problem> {
    let name = ident(&tool.error_type());
    let about = doc(&format!("The errors that `{}` declares.", tool.entry.name));
    let variants = tool.errors.iter().map(|error| variant(error, ir));
    let texts = |form: for<'e> fn(&'e ErrorIr<'e>) -> &'e [Piece]| {
        let texts = tool.errors.iter().map(|error| {
            text(error, form(error), ir)
                .map_err(|what| internal(&format!("{} of {}: {what}", error.entry.code, tool.entry.name)))
        });
        texts.collect::<Result<Vec<_>, Problem>>()
    };
    let messages = texts(|error| &error.message)?;
    let remedies = texts(|error| &error.remedy)?;
    let next = tool.errors.iter().map(|error| {
        let (variant, calls) =
            (ident(&error.variant), error.entry.next.iter().map(|call| next_call(call, ir)));
        quote!(Self::#variant { .. } => &[#(#calls),*])
    });
    let codes = tool.errors.iter().map(|error| {
        let (variant, code) = (ident(&error.variant), &error.entry.code);
        quote!(Self::#variant { .. } => #code)
    });
    let prefixed = tool.errors.iter().map(|error| {
        let variant = ident(&error.variant);
        let prefixed = tool.entry.pattern == ErrorPattern::A && error.entry.prefix;
        quote!(Self::#variant { .. } => #prefixed)
    });
    let fields = tool.errors.iter().map(fields);
    // A tool without errors has an enum without values.
    let of = if tool.errors.is_empty() { quote!(*self) } else { quote!(self) };
    Ok(quote! {
        #about
        #[derive(Debug, Clone, PartialEq)]
        pub enum #name { #(#variants),* }

        impl ::colibri_runtime::handler::ToolError for #name {
            fn code(&self) -> &'static str { match #of { #(#codes),* } }
            fn message(&self) -> ::std::string::String { match #of { #(#messages),* } }
            fn fields(&self) -> ::serde_json::Map<::std::string::String, ::serde_json::Value> {
                match #of { #(#fields),* }
            }
            fn prefixed(&self) -> bool { match #of { #(#prefixed),* } }
            fn remedy(&self) -> ::std::string::String { match #of { #(#remedies),* } }
            fn next(&self) -> &'static [::colibri_runtime::remedy::NextCall] { match #of { #(#next),* } }
        }

        impl ::std::fmt::Display for #name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&::colibri_runtime::handler::ToolError::message(self))
            }
        }

        impl ::std::error::Error for #name {}
    })
}

/// The type of a shared error, and its way into the enums of the tools that name it.
fn shared(error: &ErrorIr<'_>, ir: &Ir<'_>) -> TokenStream {
    let (name, text, fields) = (ident(&error.variant), about(error), members(error, &quote!(pub), ir));
    let names: Vec<_> = error.typed_fields.iter().map(|field| ident(&field.name)).collect();
    let named = |tool: &&ToolIr<'_>| {
        tool.errors.iter().any(|own| own.entry.shared && own.entry.code == error.entry.code)
    };
    let ways = ir.tools().filter(named).map(|tool| {
        let of = ident(&tool.error_type());
        quote! {
            impl ::std::convert::From<#name> for #of {
                fn from(#name { #(#names),* }: #name) -> Self { Self::#name { #(#names),* } }
            }

            impl ::std::convert::From<#name> for ::colibri_runtime::handler::Failure<#of> {
                fn from(error: #name) -> Self { Self::Domain(error.into()) }
            }
        }
    });
    quote! {
        #text
        #[derive(Debug, Clone, PartialEq)]
        #[allow(dead_code)]
        pub struct #name { #(#fields),* }

        #(#ways)*
    }
}

fn variant(error: &ErrorIr<'_>, ir: &Ir<'_>) -> TokenStream {
    let (name, text, fields) = (ident(&error.variant), about(error), members(error, &quote!(), ir));
    quote!(#text #name { #(#fields),* })
}

fn about(error: &ErrorIr<'_>) -> TokenStream {
    doc(&format!("`{}`: {}", error.entry.code, verbatim(&error.entry.when)))
}

/// The typed fields, for a type or a variant.
fn members(error: &ErrorIr<'_>, visible: &TokenStream, ir: &Ir<'_>) -> Vec<TokenStream> {
    let fields = error.typed_fields.iter().map(|field| {
        let described = ir.shared.resolve(&field.schema).description;
        let text = described.unwrap_or_else(|| format!("`{}`.", field.name));
        let text = doc(verbatim(&text).trim_start());
        let (name, of) = (ident(&field.name), rust_type(&field.schema, ir));
        quote!(#text #visible #name: #of)
    });
    fields.collect()
}

fn fields(error: &ErrorIr<'_>) -> TokenStream {
    let variant = ident(&error.variant);
    if error.typed_fields.is_empty() {
        return quote!(Self::#variant {} => ::serde_json::Map::new());
    }
    let names: Vec<_> = error.typed_fields.iter().map(|field| ident(&field.name)).collect();
    let keys = error.typed_fields.iter().map(|field| &field.name);
    quote! {
        Self::#variant { #(#names),* } => {
            let mut fields = ::serde_json::Map::new();
            #(fields.insert(
                #keys.to_owned(),
                ::serde_json::to_value(#names).unwrap_or(::serde_json::Value::Null),
            );)*
            fields
        }
    }
}

fn next_call(call: &NextCall, ir: &Ir<'_>) -> TokenStream {
    let tool = &call.tool;
    let target = ir.tools().find(|target| target.entry.name == *tool);
    let properties = match target.map(|target| &target.input.kind) {
        Some(Kind::Object { properties, .. }) => properties.as_slice(),
        _ => &[],
    };
    let arguments = call.arguments.iter().map(|(name, value)| {
        let required = properties.iter().any(|property| property.name == *name && property.required);
        let needed = required && !call.ask.contains_key(name);
        let value = match Source::of(value) {
            Source::Literal(value) => {
                let text = value.to_string();
                quote!(::colibri_runtime::remedy::Source::Literal(#text))
            }
            Source::Field(field) => quote!(::colibri_runtime::remedy::Source::Field(#field)),
            Source::Argument(own) => quote!(::colibri_runtime::remedy::Source::Argument(#own)),
        };
        quote!(::colibri_runtime::remedy::NextArgument { name: #name, value: #value, needed: #needed })
    });
    let ask = call.ask.iter().map(|(name, hint)| quote!((#name, #hint)));
    let only_if = call.only_if.as_ref().map_or_else(|| quote!(None), |field| quote!(Some(#field)));
    quote!(::colibri_runtime::remedy::NextCall {
        tool: #tool,
        only_if: #only_if,
        arguments: &[#(#arguments),*],
        ask: &[#(#ask),*],
    })
}

/// The arm that writes the text of a form.
fn text(error: &ErrorIr<'_>, form: &[Piece], ir: &Ir<'_>) -> Result<TokenStream, String> {
    let variant = ident(&error.variant);
    let pieces = form;
    let mut form = String::new();
    let mut shown = Vec::new();
    let mut arguments = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => form.push_str(&text.replace('{', "{{").replace('}', "}}")),
            Piece::Field { name, with } => {
                form.push_str("{}");
                let field = error.typed_fields.iter().find(|field| field.name == *name);
                let field = field.ok_or_else(|| format!("no field `{name}`"))?;
                let name = ident(&field.name);
                arguments.push(show(field, with, ir)?);
                if !shown.contains(&name) {
                    shown.push(name);
                }
            }
        }
    }
    if arguments.is_empty() {
        let text = form.replace("{{", "{").replace("}}", "}");
        return Ok(quote!(Self::#variant { .. } => #text.to_owned()));
    }
    Ok(quote!(Self::#variant { #(#shown,)* .. } => ::std::format!(#form, #(#arguments),*)))
}

/// The expression that shows a field.
fn show(field: &Property, with: &With, ir: &Ir<'_>) -> Result<TokenStream, String> {
    let name = ident(&field.name);
    let schema = ir.shared.resolve(&field.schema);
    let has_text = |kind: &Kind| match kind {
        Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::String(_) | Kind::Enum { .. } => true,
        Kind::Ref(hoisted) => {
            ir.definition(hoisted).is_some_and(|d| matches!(d.schema.kind, Kind::Enum { .. }))
        }
        _ => false,
    };
    match (with, &schema.kind) {
        (With::Plain, kind) if has_text(kind) && !schema.nullable => Ok(quote!(#name)),
        (With::Or(text), kind) if has_text(kind) && schema.nullable => Ok(quote! {
            #name.as_ref().map_or_else(|| #text.to_owned(), ::std::string::ToString::to_string)
        }),
        (With::Join(between), Kind::Array { items, .. })
            if !schema.nullable && has_text(&ir.shared.resolve(items).kind) && !ir.is_nullable(items) =>
        {
            Ok(quote! {
                #name.iter().map(::std::string::ToString::to_string).collect::<::std::vec::Vec<_>>().join(#between)
            })
        }
        _ => Err(format!(
            "`{}` cannot be shown like that: plain values as `{{x}}`, nullable ones with `or`, lists with `join`",
            field.name
        )),
    }
}
