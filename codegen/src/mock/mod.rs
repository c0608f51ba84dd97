//! A server that answers from the examples of a catalogue: for the authors of clients, before the tools themselves exist.
//!
//! It is the runtime's server over tables that are made while it starts, so that list, validation and protocol are those of the real
//! one. [`tables`] makes them, [`choice`] finds the example that answers a call, and [`reply`] turns it into a handler's result.

mod choice;
mod reply;
mod tables;

use std::process::ExitCode;

use colibri_runtime::handler::{Dispatch, Dispatched, Fault, NetworkCall, ScanCall};
use colibri_runtime::{MemoryCx, serve_stdio};
use serde_json::Value;

use crate::catalogue::{Catalogue, Finding};
use crate::ir::Ir;
use choice::{Made, Shown};

/// Serves a catalogue over stdin and stdout until the input ends, and answers each call with the reply of the nearest example. A
/// call that no example fits gets an error that says so.
///
/// # Errors
/// Everything that is wrong with the catalogue.
pub fn mock(catalogue: &Catalogue) -> Result<ExitCode, Vec<Finding>> {
    let ir = crate::resolve(catalogue)?;
    let spec = tables::catalogue(&ir);
    let server = Mock { tools: shown(&ir), made: Vec::new() };
    Ok(serve_stdio(spec, server))
}

/// Returns the examples of the tools that clients see, in listing order.
fn shown(ir: &Ir<'_>) -> Vec<Shown> {
    ir.listed().map(|tool| Shown::of(tool, ir)).collect()
}

/// The handlers. Every tool of the tables runs in the loop, so nothing but calls comes.
struct Mock {
    tools: Vec<Shown>,
    /// The calls so far.
    made: Vec<Made>,
}

impl Dispatch<MemoryCx<()>> for Mock {
    fn call(&mut self, _: &mut MemoryCx<()>, tool: usize, arguments: &Value) -> Dispatched {
        let Some(shown) = self.tools.get(tool) else { return misdirected(tool) };
        let answer = shown.answer(arguments, &self.made);
        self.made.push(Made { tool: shown.name.clone(), arguments: arguments.clone() });
        answer
    }

    fn scan(&mut self, tool: usize, _: Value) -> ScanCall<MemoryCx<()>> {
        Box::new(move |(), _| misdirected(tool))
    }

    fn network(&mut self, (): (), tool: usize, _: Value) -> NetworkCall {
        Box::pin(async move { misdirected(tool) })
    }
}

fn misdirected(tool: usize) -> Dispatched {
    Dispatched::Fault(Fault::Other(format!("there is no tool {tool}")))
}
