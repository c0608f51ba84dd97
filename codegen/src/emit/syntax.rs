//! Small tools over Rust syntax trees: reading names back from typify's output, rewriting paths.

use proc_macro2::TokenStream;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, Field, Ident, Lit, LitStr, parse_quote};

use super::internal;
use crate::ir::Problem;

/// Puts the runtime's patterns, which match in linear time, in place of the engine that typify writes into generated code.
#[derive(Default)]
pub struct RuntimePatterns {
    /// The pattern of the static that is visited.
    source: Option<LitStr>,
}

impl VisitMut for RuntimePatterns {
    fn visit_item_static_mut(&mut self, item: &mut syn::ItemStatic) {
        self.source = None;
        syn::visit_mut::visit_item_static_mut(self, item);
        if let Some(source) = self.source.take() {
            *item.ty = parse_quote!(::colibri_runtime::schema::Pattern);
            *item.expr = parse_quote!(::colibri_runtime::schema::Pattern::new(#source));
        }
    }

    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        if let Expr::Path(function) = &*call.func
            && function.path.segments.first().is_some_and(|first| first.ident == "regress")
            && let Some(Expr::Lit(literal)) = call.args.first()
            && let Lit::Str(source) = &literal.lit
        {
            self.source = Some(source.clone());
        }
        syn::visit_mut::visit_expr_call_mut(self, call);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // `PATTERN.find(value).is_none()`.
        if let Expr::MethodCall(outer) = &*expr
            && outer.method == "is_none"
            && let Expr::MethodCall(inner) = &*outer.receiver
            && inner.method == "find"
        {
            let (pattern, arguments) = (&inner.receiver, &inner.args);
            *expr = parse_quote!(!#pattern.matches(#arguments));
        }
        syn::visit_mut::visit_expr_mut(self, expr);
    }
}

/// Puts `super::` before the catalogue's own types, for use inside a module.
pub struct Inside;

impl Inside {
    /// The type of these tokens, as a child module names it.
    pub fn of(mut self, tokens: TokenStream) -> Result<syn::Type, Problem> {
        let mut parsed: syn::Type = syn::parse2(tokens).map_err(|error| internal(&error.to_string()))?;
        self.visit_type_mut(&mut parsed);
        Ok(parsed)
    }
}

impl VisitMut for Inside {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        syn::visit_mut::visit_path_mut(self, path);
        let builtin =
            path.get_ident().is_some_and(|name| ["bool", "i64", "f64"].iter().any(|known| name == known));
        if path.leading_colon.is_none() && !builtin {
            let segments = path.segments.iter();
            *path = parse_quote!(super::#(#segments)::*);
        }
    }
}

/// `#[doc = " line"]`.
pub fn doc_attribute(line: &str) -> Attribute {
    let line = format!(" {}", line.trim_end());
    parse_quote!(#[doc = #line])
}

/// The JSON name of a field.
pub fn json_name(field: &Field) -> String {
    field.ident.as_ref().map(|name| wire_name(&field.attrs, name)).unwrap_or_default()
}

/// The name after `#[serde(rename = …)]`, or the identifier.
pub fn wire_name(attributes: &[Attribute], name: &Ident) -> String {
    let mut renamed = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // Unknown members are stepped over; only a malformed attribute ends the walk early.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                renamed = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if let Ok(value) = meta.value() {
                value.parse::<syn::Expr>()?;
            }
            Ok(())
        });
    }
    let plain = name.to_string();
    renamed.unwrap_or_else(|| plain.strip_prefix("r#").unwrap_or(&plain).to_owned())
}

/// The last name of a type's path.
pub fn last_ident(of: &syn::Type) -> Option<String> {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

/// Whether a generic argument is a reference.
pub fn by_reference(segment: &syn::PathSegment) -> bool {
    match &segment.arguments {
        syn::PathArguments::AngleBracketed(arguments) => arguments
            .args
            .iter()
            .any(|argument| matches!(argument, syn::GenericArgument::Type(syn::Type::Reference(_)))),
        _ => false,
    }
}
