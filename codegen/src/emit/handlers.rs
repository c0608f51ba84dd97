//! One trait a domain, to be implemented by hand; and the dispatcher that leads a call to it.

use proc_macro2::TokenStream;
use quote::quote;

use super::{doc, verbatim};
use crate::catalogue::Runs;
use crate::ir::names::ident;
use crate::ir::{Domain, Ir, ToolIr};

/// The traits, `Handlers` over all of them, and `Dispatcher`.
pub fn emit(ir: &Ir<'_>) -> TokenStream {
    let traits = ir.domains.iter().map(domain);
    let names: Vec<_> = ir.domains.iter().map(|domain| ident(&domain.trait_name)).collect();
    let dispatcher = dispatcher(ir);
    quote! {
        #(#traits)*

        /// The handlers of all domains. Implemented by hand, next to the domains' traits.
        pub trait Handlers<C: ::colibri_runtime::handler::Context>: #(#names<C>)+* {
            /// The effects of the last call were rolled back: drop any memory that mirrors rows.
            fn rolled_back(&mut self) {}
        }

        #dispatcher
    }
}

fn domain(domain: &Domain<'_>) -> TokenStream {
    let name = ident(&domain.trait_name);
    let text = doc(&format!("{}: {}", domain.entry.title, verbatim(&domain.entry.description)));
    let methods = domain.tools.iter().map(method);
    quote! {
        #text
        pub trait #name<C: ::colibri_runtime::handler::Context> { #(#methods)* }
    }
}

fn method(tool: &ToolIr<'_>) -> TokenStream {
    let name = ident(&tool.method());
    let (input, output, error) =
        (ident(&tool.input_type()), ident(&tool.output_type()), ident(&tool.error_type()));
    let failures = match tool.errors.len() {
        0 => {
            "Only a [`Fault`](::colibri_runtime::handler::Fault); it declares no error of its own.".to_owned()
        }
        _ => format!("One of [`{error}`], or a [`Fault`](::colibri_runtime::handler::Fault)."),
    };
    let about = verbatim(&tool.entry.description);
    let text = doc(&format!("`{}`: {about}\n\n# Errors\n{failures}", tool.entry.name));
    if tool.entry.runs == Runs::Network {
        return quote! {
            #text
            fn #name(
                &mut self,
                cx: C::Network,
                input: #input,
            ) -> ::colibri_runtime::handler::NetworkOutcome<#output, #error>;
        };
    }
    let outcome = quote!(::colibri_runtime::handler::Outcome<#output, #error>);
    if tool.entry.runs == Runs::Scan {
        return quote! {
            #text
            fn #name(
                cx: &mut C::Scan,
                interrupt: &::colibri_runtime::chain::Interrupt,
                input: #input,
            ) -> #outcome;
        };
    }
    quote! {
        #text
        fn #name(&mut self, cx: &mut C, input: #input) -> #outcome;
    }
}

/// From a tool's index to its handler: the arms of four matches, for tools that use the store, for
/// those that read for long, for those that talk to the outside, and for the operator's.
fn arms(ir: &Ir<'_>) -> [Vec<TokenStream>; 4] {
    let tools: Vec<(&ToolIr<'_>, _)> = ir
        .domains
        .iter()
        .flat_map(|domain| domain.tools.iter().map(|tool| (tool, ident(&domain.trait_name))))
        .collect();
    let arms = |wanted: fn(Runs) -> bool, body: fn(&TokenStream) -> TokenStream| {
        let chosen = tools.iter().filter(move |(tool, _)| wanted(tool.entry.runs));
        let arms = chosen.map(move |(tool, of)| {
            let (index, name) = (tool.index, ident(&tool.method()));
            let body = body(&quote!(<H as #of<C>>::#name));
            quote!(#index => #body)
        });
        arms.collect::<Vec<_>>()
    };
    let in_store: fn(&TokenStream) -> TokenStream =
        |method| quote!(decoded(arguments, |input| #method(&mut self.0, cx, input)));
    let store = arms(|runs| matches!(runs, Runs::Store | Runs::Free), in_store);
    let operate = arms(|runs| runs == Runs::Operator, in_store);
    let scan = arms(
        |runs| runs == Runs::Scan,
        |method| {
            quote!(::std::boxed::Box::new(move |cx, interrupt| {
                decoded(&arguments, |input| #method(cx, interrupt, input))
            }))
        },
    );
    let network = arms(
        |runs| runs == Runs::Network,
        |method| {
            quote!(match ::colibri_runtime::handler::decode(&arguments) {
                Ok(input) => {
                    let outcome = #method(&mut self.0, cx, input);
                    ::std::boxed::Box::pin(async move {
                        ::colibri_runtime::handler::Dispatched::from_outcome(outcome.await, &arguments)
                    })
                }
                Err(fault) => {
                    ::std::boxed::Box::pin(async move { ::colibri_runtime::handler::Dispatched::Fault(fault) })
                }
            })
        },
    );
    [store, scan, network, operate]
}

/// The match from a tool's index to its handler, one for each kind of tool. An index of another kind
/// is a defect of the caller; it is answered, not panicked over.
fn dispatcher(ir: &Ir<'_>) -> TokenStream {
    let [store, scan, network, operate] = arms(ir);
    let support = dispatcher_support();
    quote! {
        /// Leads calls to handlers by the tool's index in [`CATALOGUE`], among its tools or its operations.
        #[derive(Debug)]
        pub struct Dispatcher<H>(pub H);

        impl<C: ::colibri_runtime::handler::Context, H: Handlers<C>> ::colibri_runtime::handler::Dispatch<C>
            for Dispatcher<H>
        {
            #[allow(unused_variables, clippy::match_single_binding)]
            fn call(
                &mut self,
                cx: &mut C,
                tool: usize,
                arguments: &::serde_json::Value,
            ) -> ::colibri_runtime::handler::Dispatched {
                match tool { #(#store,)* _ => misdirected(tool) }
            }

            #[allow(unused_variables, clippy::match_single_binding)]
            fn scan(
                &mut self,
                tool: usize,
                arguments: ::serde_json::Value,
            ) -> ::colibri_runtime::handler::ScanCall<C> {
                match tool { #(#scan,)* _ => ::std::boxed::Box::new(move |_, _| misdirected(tool)) }
            }

            #[allow(unused_variables, clippy::match_single_binding)]
            fn network(
                &mut self,
                cx: C::Network,
                tool: usize,
                arguments: ::serde_json::Value,
            ) -> ::colibri_runtime::handler::NetworkCall {
                match tool { #(#network,)* _ => ::std::boxed::Box::pin(async move { misdirected(tool) }) }
            }

            #[allow(unused_variables, clippy::match_single_binding)]
            fn operate(
                &mut self,
                cx: &mut C,
                operation: usize,
                arguments: &::serde_json::Value,
            ) -> ::colibri_runtime::handler::Dispatched {
                match operation { #(#operate,)* _ => misdirected(operation) }
            }

            fn rolled_back(&mut self) {
                Handlers::<C>::rolled_back(&mut self.0);
            }
        }

        #support
    }
}

/// The functions that the dispatcher's arms call.
fn dispatcher_support() -> TokenStream {
    quote! {
        /// Decodes the arguments, runs a handler, and serialises what it returns.
        #[allow(dead_code)]
        fn decoded<I, O, E>(
            arguments: &::serde_json::Value,
            handler: impl FnOnce(I) -> ::colibri_runtime::handler::Outcome<O, E>,
        ) -> ::colibri_runtime::handler::Dispatched
        where
            I: ::serde::de::DeserializeOwned,
            O: ::serde::Serialize,
            E: ::colibri_runtime::handler::ToolError,
        {
            match ::colibri_runtime::handler::decode(arguments) {
                Ok(input) => ::colibri_runtime::handler::Dispatched::from_outcome(handler(input), arguments),
                Err(fault) => ::colibri_runtime::handler::Dispatched::Fault(fault),
            }
        }

        /// The answer to an index that names no tool of the kind that was asked for.
        fn misdirected(tool: usize) -> ::colibri_runtime::handler::Dispatched {
            ::colibri_runtime::handler::Dispatched::Fault(::colibri_runtime::handler::Fault::Other(
                ::std::format!("tool {tool} is not of the kind that was called"),
            ))
        }
    }
}
