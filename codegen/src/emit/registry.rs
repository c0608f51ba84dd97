//! The static registry: one `ToolSpec` a tool, the catalogue's head, and `ToolId`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::{Map, Value, json};

use super::doc;
use super::tables::{self, Tables};
use crate::catalogue::{
    Announcement, ChainError, Envelope, ErrorPattern, Hints, NoticeEntry, Profile, Runs, Teaches, Toolset,
};
use crate::ir::names::{ident, screaming};
use crate::ir::publish::envelope;
use crate::ir::schema::Schema;
use crate::ir::{Ir, ToolIr};

/// `CATALOGUE`, `ToolId` and the tables behind them.
pub fn emit(ir: &Ir<'_>) -> TokenStream {
    let mut tables = Tables::new(&ir.shared);
    let (mut statics, mut specs) = (Vec::new(), [Vec::new(), Vec::new()]);
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
            specs[usize::from(tool.is_operation())].push(tool_spec(tool, &domain.entry.domain, ir));
        }
    }
    let [listed, operations] = specs;
    let patterns = tables.patterns();
    let head = ir.head;
    let (name, title, version, instructions) = (&head.name, &head.title, &head.version, &head.instructions);
    let toolsets = head.toolsets.iter().map(toolset);
    let codes = chain_codes(ir);
    let announcements = head.announcements.iter().map(announcement);
    let profile = match head.profile {
        Profile::Open => quote!(Profile::Open),
        Profile::House => quote!(Profile::House),
    };
    let (ids, notices) = (tool_ids(ir), notices(ir));
    let Foreign { table, export, member } = foreign(ir);
    quote! {
        pub use registry::CATALOGUE;
        #export

        /// Static data: nothing of it is parsed or built at run time.
        #[allow(unused_imports)]
        mod registry {
            use ::colibri_runtime::schema::*;
            use ::colibri_runtime::spec::{
                Announcement, CatalogueSpec, ChainCode, ChainCodes, ForeignCode, ForeignCodes, Pattern as ErrorPattern, Profile, Relaxation, Runs, Teaches, ToolSpec, ToolsetSpec,
            };

            #patterns
            #(#statics)*

            #table
            /// The catalogue this server was compiled from.
            pub static CATALOGUE: CatalogueSpec = CatalogueSpec {
                name: #name,
                title: #title,
                version: #version,
                instructions: #instructions,
                profile: #profile,
                toolsets: &[#(#toolsets),*],
                announcements: &[#(#announcements),*],
                tools: &[#(#listed),*],
                operations: &[#(#operations),*],
                codes: #codes,
                foreign: #member,
            };
        }

        #notices
        #ids
    }
}

/// A tool's entry of `tools/list` (protocol#tools-list).
pub fn listing(tool: &ToolIr<'_>, input: &Schema, ir: &Ir<'_>) -> Value {
    let entry = tool.entry;
    let output = (!entry.output.is_empty()).then(|| envelope(tool.published_output(&ir.shared), entry));
    let stated = |text: &str| (!text.is_empty()).then(|| json!(text));
    let members = [
        ("name", Some(json!(entry.name))),
        ("title", stated(&entry.title)),
        ("description", stated(&entry.description)),
        ("inputSchema", Some(tool.published_input(input, &ir.shared))),
        ("outputSchema", output),
        ("annotations", annotations(&entry.hints)),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What is stated of a tool's behaviour; `None` if nothing is.
fn annotations(hints: &Hints) -> Option<Value> {
    let title = hints.title.as_ref().map(|title| ("title".to_owned(), json!(title)));
    let flags =
        hints.all().into_iter().filter_map(|(_, name, hint, _)| Some((name.to_owned(), json!(hint?))));
    let other = hints.other.iter().map(|(name, value)| (name.clone(), value.clone()));
    let members: Map<String, Value> = title.into_iter().chain(flags).chain(other).collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// Bytes of all tools as `tools/list` answers them, which the catalogue's budget bounds.
pub fn listing_bytes(ir: &Ir<'_>) -> usize {
    let tools: Vec<Value> = ir.listed().map(|tool| listing(tool, &tool.input, ir)).collect();
    json!({ "tools": tools }).to_string().len()
}

/// Bytes of a toolset's tools as `tools/list` answers them when it is offered alone: without `outputSchema`.
pub fn toolset_bytes(ir: &Ir<'_>, name: &str) -> usize {
    let tools = ir.listed().filter(|tool| tool.entry.toolset.as_deref() == Some(name));
    let tools = tools.map(|tool| {
        let mut listing = listing(tool, &tool.input, ir);
        listing.as_object_mut().map(|members| members.remove("outputSchema"));
        listing
    });
    json!({ "tools": tools.collect::<Vec<_>>() }).to_string().len()
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
    let pattern = match (entry.envelope, entry.pattern) {
        (Envelope::None, _) => quote!(ErrorPattern::Plain),
        (Envelope::Ok, ErrorPattern::A) => quote!(ErrorPattern::A),
        (Envelope::Ok, ErrorPattern::B) => quote!(ErrorPattern::B),
        (Envelope::Ok, ErrorPattern::C) => quote!(ErrorPattern::C),
    };
    let mutates = entry.mutates();
    let runs = match entry.runs {
        Runs::Store => quote!(Runs::Store { mutates: #mutates }),
        Runs::Free => {
            let changes = !entry.hints.is_read_only();
            quote!(Runs::Free { changes: #changes })
        }
        Runs::Scan => quote!(Runs::Scan),
        Runs::Network => {
            let at_a_time = entry.concurrency.unwrap_or(1) as usize;
            quote!(Runs::Network { at_a_time: #at_a_time })
        }
        Runs::Operator => quote!(Runs::Operator { mutates: #mutates }),
    };
    let (name, early, sensitive) = (&entry.name, entry.early, &entry.sensitive);
    let toolset = optional(entry.toolset.as_ref());
    let rules = entry.rules.iter().map(tables::rule);
    let codes = entry.errors.iter().map(|error| &error.code);
    let listing = if tool.is_operation() { String::new() } else { listing(tool, schema, ir).to_string() };
    quote! {
        ToolSpec {
            name: #name,
            domain: #domain,
            toolset: #toolset,
            pattern: #pattern,
            runs: #runs,
            early: #early,
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

fn toolset(set: &Toolset) -> TokenStream {
    let (name, title, description) = (&set.name, &set.title, &set.description);
    let (instructions, reading) = (optional(set.instructions.as_ref()), optional(set.reading.as_ref()));
    quote! {
        ToolsetSpec { name: #name, title: #title, description: #description, instructions: #instructions, reading: #reading }
    }
}

fn announcement(told: &Announcement) -> TokenStream {
    let Announcement { setting, value, instructions, teaches } = told;
    let teaches = match teaches {
        Teaches::All => quote!(Teaches::All),
        Teaches::Reading => quote!(Teaches::Reading),
        Teaches::Nothing => quote!(Teaches::Nothing),
    };
    quote!(Announcement { setting: #setting, value: #value, instructions: #instructions, teaches: #teaches })
}

/// The forms of what replies may say beside their result, by code.
fn notices(ir: &Ir<'_>) -> TokenStream {
    if ir.head.notices.is_empty() {
        return TokenStream::new();
    }
    let forms = ir.head.notices.iter().map(|notice| {
        let (name, NoticeEntry { code, message, when }) = (ident(&notice.code), notice);
        quote! {
            #[doc = #when]
            pub const #name: NoticeForm = NoticeForm { code: #code, message: #message };
        }
    });
    quote! {
        /// What replies may say beside their result.
        pub mod notices {
            use ::colibri_runtime::spec::NoticeForm;

            #(#forms)*
        }
    }
}

fn optional(text: Option<&String>) -> TokenStream {
    text.map_or_else(|| quote!(None), |text| quote!(Some(#text)))
}

fn chain_codes(ir: &Ir<'_>) -> TokenStream {
    let chain = &ir.head.chain;
    let role = |error: &ChainError| {
        let ChainError { code, message, .. } = error;
        let remedy = error.remedy.as_deref().unwrap_or_default();
        quote!(ChainCode { code: #code, message: #message, remedy: #remedy })
    };
    let entries = chain.roles().filter(|(name, _)| *name != "arguments_redacted").map(|(name, error)| {
        let (name, role) = (ident(name), role(error));
        quote!(#name: #role)
    });
    // Without toolsets nothing ever answers it.
    let unused = chain.not_in_toolset.is_none().then(|| role(&chain.not_admitted));
    let entries = entries.chain(unused.map(|role| quote!(not_in_toolset: #role)));
    let redacted = chain.arguments_redacted.as_ref().map_or_else(
        || quote!(None),
        |error| {
            let role = role(error);
            quote!(Some(#role))
        },
    );
    quote!(ChainCodes { #(#entries,)* arguments_redacted: #redacted })
}

/// What the registry says of calls to other servers; nothing if the catalogue has no codes for them.
struct Foreign {
    table: TokenStream,
    export: TokenStream,
    member: TokenStream,
}

fn foreign(ir: &Ir<'_>) -> Foreign {
    let Some(errors) = &ir.head.foreign else {
        return Foreign { table: TokenStream::new(), export: TokenStream::new(), member: quote!(None) };
    };
    let entries = errors.roles().map(|(role, error)| {
        let (role, code, message) = (ident(role), &error.code, &error.message);
        quote!(#role: ForeignCode { code: #code, message: #message })
    });
    Foreign {
        table: quote! {
            /// The codes that rows of calls to other servers end with.
            pub static FOREIGN: ForeignCodes = ForeignCodes { #(#entries),* };
        },
        export: quote! {
            #[allow(unused_imports)]
            pub use registry::FOREIGN;
        },
        member: quote!(Some(&FOREIGN)),
    }
}

fn tool_ids(ir: &Ir<'_>) -> TokenStream {
    let named: Vec<_> = ir.listed().chain(ir.operations()).collect();
    let variants: Vec<_> = named.iter().map(|tool| ident(&tool.variant)).collect();
    let docs = named.iter().map(|tool| doc(&format!("`{}`", tool.entry.name)));
    let names: Vec<_> = named.iter().map(|tool| &tool.entry.name).collect();
    let listed = ir.listed().count();
    let (listed_variants, operation_variants) = variants.split_at(listed);
    let (total, operations) = (variants.len(), operation_variants.len());
    let discriminants = 0..total;
    quote! {
        /// The tools by name: those of [`CATALOGUE`] in their order, then its operations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(usize)]
        #[allow(dead_code)]
        pub enum ToolId { #(#docs #variants = #discriminants),* }

        #[allow(dead_code)]
        impl ToolId {
            /// The tools that clients can call, in listing order.
            pub const ALL: [Self; #listed] = [#(Self::#listed_variants),*];

            /// The tools that only commands of the server run.
            pub const OPERATIONS: [Self; #operations] = [#(Self::#operation_variants),*];

            /// The name it is called by.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { #(Self::#variants => #names),* }
            }

            /// The tool of a name, an operation's too.
            #[must_use]
            pub fn from_name(name: &str) -> ::std::option::Option<Self> {
                match name { #(#names => Some(Self::#variants),)* _ => None }
            }

            /// What the catalogue states of the tool.
            #[must_use]
            pub fn spec(self) -> &'static ::colibri_runtime::spec::ToolSpec {
                match (self as usize).checked_sub(#listed) {
                    Some(operation) => &CATALOGUE.operations[operation],
                    None => &CATALOGUE.tools[self as usize],
                }
            }
        }
    }
}
