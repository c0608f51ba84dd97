//! `defaults`: a default fits its schema, and stands where it can have an effect: on an optional
//! property.

use crate::lint::conforms;
use crate::lint::schemas::Position;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        let Some(value) = node.schema.get("default") else { continue };
        let place = node.place.child("default");
        match node.position {
            Position::Property { required: false } => {}
            _ if context.is_open() => {}
            Position::Property { required: true } => {
                let help = "remove the default, or take the property out of `required`";
                report.key(&place, "a required property has a default", help);
            }
            _ => {
                let help = "put it on an optional property";
                report.key(&place, "a default has no effect here", help);
            }
        }
        if let Err(misfits) = conforms::check(context.catalogue, node.schema, value) {
            for misfit in misfits {
                let message = format!("the default does not fit its schema: {}", misfit.message);
                let mut place = place.clone();
                place.pointer.push_str(&misfit.pointer);
                report.value(&place, message, "write a value the schema accepts");
            }
        }
    }
}
