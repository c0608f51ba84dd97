//! The static registry: one `ToolSpec` a tool, the catalogue's head, and `ToolId`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::{Value, json};

use super::doc;
use super::tables::{self, Tables};
use crate::catalogue::ErrorPattern;
use crate::ir::names::{ident, screaming};
use crate::ir::publish::{envelope, publish};
use crate::ir::schema::Schema;
use crate::ir::{Ir, ToolIr};

/// `CATALOGUE`, `ToolId` and the tables behind them.
pub fn emit(ir: &Ir<'_>) -> TokenStream {
    let mut tables = Tables::new(&ir.shared);
    let (mut statics, mut specs) = (Vec::new(), Vec::new());
    for domain in &ir.domains {
        for tool in &domain.tools {
            let (input, output) = (tables.schema(&tool.input), tables.schema(&tool.output));
            let (input_name, output_name) = table_names(tool);
            statics.push(quote! {
                static #input_name: Schema = #input;
                static #output_name: Schema = #output;
            });
            if let (Some(relaxed), Some(name)) = (&tool.relaxed, relaxed_name(tool)) {
                let relaxed = tables.schema(relaxed);
                statics.push(quote!(static #name: Schema = #relaxed;));
            }
            specs.push(tool_spec(tool, &domain.entry.domain, ir));
        }
    }
    let patterns = tables.patterns();
    let head = ir.head;
    let (name, title, version, instructions) = (&head.name, &head.title, &head.version, &head.instructions);
    let codes = chain_codes(ir);
    let ids = tool_ids(ir);
    quote! {
        pub use registry::CATALOGUE;

        /// Static data: nothing of it is parsed or built at run time.
        #[allow(unused_imports)]
        mod registry {
            use ::colibri_runtime::schema::*;
            use ::colibri_runtime::spec::{
                CatalogueSpec, ChainCodes, Kind, Pattern as ErrorPattern, Relaxation, ToolSpec,
            };
            use ::std::sync::LazyLock;

            #patterns
            #(#statics)*

            /// The catalogue this server was compiled from.
            pub static CATALOGUE: CatalogueSpec = CatalogueSpec {
                name: #name,
                title: #title,
                version: #version,
                instructions: #instructions,
                tools: &[#(#specs),*],
                codes: #codes,
            };
        }

        #ids
    }
}

/// A tool's entry of `tools/list` (alpha §1.6).
pub fn listing(tool: &ToolIr<'_>, input: &Schema, ir: &Ir<'_>) -> Value {
    let entry = tool.entry;
    json!({
        "name": entry.name,
        "title": entry.title,
        "description": entry.description,
        "inputSchema": publish(input, &ir.shared),
        "outputSchema": envelope(&tool.output, entry.pattern, &ir.shared),
        "annotations": {
            "readOnlyHint": entry.hints.read_only,
            "destructiveHint": entry.hints.destructive,
            "idempotentHint": entry.hints.idempotent,
            "openWorldHint": entry.hints.open_world,
        },
    })
}

/// Bytes of all tools as `tools/list` answers them, which the catalogue's budget bounds.
pub fn listing_bytes(ir: &Ir<'_>) -> usize {
    let tools: Vec<Value> = ir.tools().map(|tool| listing(tool, &tool.input, ir)).collect();
    json!({ "tools": tools }).to_string().len()
}

fn table_names(tool: &ToolIr<'_>) -> (proc_macro2::Ident, proc_macro2::Ident) {
    let name = screaming(&tool.entry.name);
    (format_ident!("INPUT_{name}"), format_ident!("OUTPUT_{name}"))
}

fn relaxed_name(tool: &ToolIr<'_>) -> Option<proc_macro2::Ident> {
    tool.relaxed.as_ref().map(|_| format_ident!("RELAXED_{}", screaming(&tool.entry.name)))
}

/// The tool as it is, holding the tool as a setting makes it.
fn tool_spec(tool: &ToolIr<'_>, domain: &str, ir: &Ir<'_>) -> TokenStream {
    let relaxed = match (&tool.entry.relaxed, &tool.relaxed, relaxed_name(tool)) {
        (Some(relaxation), Some(schema), Some(name)) => {
            let (setting, value) = (&relaxation.setting, &relaxation.value);
            let tool = spec(tool, domain, (&name, schema), &quote!(None), ir);
            quote!(Some(&Relaxation { setting: #setting, value: #value, tool: #tool }))
        }
        _ => quote!(None),
    };
    let (input, _) = table_names(tool);
    spec(tool, domain, (&input, &tool.input), &relaxed, ir)
}

fn spec(
    tool: &ToolIr<'_>,
    domain: &str,
    (input, schema): (&proc_macro2::Ident, &Schema),
    relaxed: &TokenStream,
    ir: &Ir<'_>,
) -> TokenStream {
    let entry = tool.entry;
    let (_, output) = table_names(tool);
    let pattern = match entry.pattern {
        ErrorPattern::A => quote!(ErrorPattern::A),
        ErrorPattern::B => quote!(ErrorPattern::B),
    };
    let kind = match (entry.network, entry.scan) {
        (true, _) => quote!(Kind::Network),
        (false, true) => quote!(Kind::Scan),
        (false, false) => quote!(Kind::Store),
    };
    let (name, mutates, storeless, sensitive) =
        (&entry.name, entry.mutates, entry.storeless, &entry.sensitive);
    let rules = entry.rules.iter().map(tables::rule);
    let codes = entry.errors.iter().map(|error| &error.code);
    let listing = listing(tool, schema, ir).to_string();
    quote! {
        ToolSpec {
            name: #name,
            domain: #domain,
            pattern: #pattern,
            kind: #kind,
            mutates: #mutates,
            storeless: #storeless,
            sensitive: &[#(#sensitive),*],
            input: &#input,
            rules: &[#(#rules),*],
            output: &#output,
            codes: &[#(#codes),*],
            listing: #listing,
            relaxed: #relaxed,
        }
    }
}

fn chain_codes(ir: &Ir<'_>) -> TokenStream {
    let entries = ir.head.chain.roles().into_iter().map(|(role, error)| {
        let (role, code) = (ident(role), &error.code);
        quote!(#role: #code)
    });
    quote!(ChainCodes { #(#entries),* })
}

fn tool_ids(ir: &Ir<'_>) -> TokenStream {
    let variants: Vec<_> = ir.tools().map(|tool| ident(&tool.variant)).collect();
    let docs = ir.tools().map(|tool| doc(&format!("`{}`", tool.entry.name)));
    let (count, indexes) = (variants.len(), ir.tools().map(|tool| tool.index));
    let names: Vec<_> = ir.tools().map(|tool| &tool.entry.name).collect();
    quote! {
        /// The tools by name; the discriminant is the index in [`CATALOGUE`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(usize)]
        #[allow(dead_code)]
        pub enum ToolId { #(#docs #variants = #indexes),* }

        #[allow(dead_code)]
        impl ToolId {
            /// All tools in listing order.
            pub const ALL: [Self; #count] = [#(Self::#variants),*];

            /// The name clients call.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { #(Self::#variants => #names),* }
            }

            /// The tool of a name.
            #[must_use]
            pub fn from_name(name: &str) -> ::std::option::Option<Self> {
                match name { #(#names => Some(Self::#variants),)* _ => None }
            }

            /// What the catalogue states of the tool.
            #[must_use]
            pub fn spec(self) -> &'static ::colibri_runtime::spec::ToolSpec {
                &CATALOGUE.tools[self as usize]
            }
        }
    }
}
