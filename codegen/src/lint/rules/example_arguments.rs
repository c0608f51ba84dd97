//! `example-arguments`: arguments of examples fit the input schema, unless the example shows how
//! arguments are refused; then they must not fit.

use serde_json::Value;

use crate::catalogue::{Place, Tool};
use crate::lint::conforms;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let refusal = &context.catalogue.head.chain.invalid_params.code;
    for entry in context.catalogue.tools() {
        for (index, example) in entry.tool.examples.iter().enumerate() {
            let place = entry.place.child("examples").child(index);
            let refused = example.reply.pointer("/error/code").and_then(Value::as_str) == Some(refusal);
            if !refused {
                fits(context, entry.tool, &example.arguments, &place.child("arguments"), report);
            } else if conforms::check_arguments(context.catalogue, entry.tool, &example.arguments).is_ok() {
                let message = format!("the reply says `{refusal}`, but the arguments fit the input schema");
                report.value(
                    &place.child("arguments"),
                    message,
                    "write arguments that are refused, or the true reply",
                );
            }
            for (index, step) in example.before.iter().enumerate() {
                let called = context.catalogue.tools().find(|entry| entry.tool.name == step.tool);
                if let Some(called) = called {
                    let place = place.child("before").child(index).child("arguments");
                    fits(context, called.tool, &step.arguments, &place, report);
                }
            }
        }
    }
}

fn fits(context: &Context<'_>, tool: &Tool, arguments: &Value, place: &Place, report: &mut Report<'_>) {
    let Err(misfits) = conforms::check_arguments(context.catalogue, tool, arguments) else { return };
    for misfit in misfits {
        let place = Place { file: place.file, pointer: format!("{}{}", place.pointer, misfit.pointer) };
        let message = format!("the arguments do not fit `{}`: {}", tool.name, misfit.message);
        report.value(&place, message, "write arguments that the tool's input schema accepts");
    }
}
