//! `sensitive`: arguments that hold secrets are strings of the input, so that every sink can leave
//! them out by name.

use crate::catalogue::suggest;
use crate::lint::schemas::{property, property_names, type_of};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        for (index, name) in entry.tool.sensitive.iter().enumerate() {
            let place = entry.place.child("sensitive").child(index);
            match property(context.catalogue, &entry.tool.input, name) {
                None => {
                    let names = property_names(context.catalogue, &entry.tool.input);
                    let help = match suggest::closest(name, names) {
                        Some(near) => format!("write `{near}`"),
                        None => "write the name of a top-level property of the input".to_owned(),
                    };
                    report.value(&place, format!("the input has no property `{name}`"), help);
                }
                Some(schema) if !matches!(type_of(schema), Some(("string", _))) => {
                    let message = format!("the sensitive argument `{name}` is not a string");
                    report.value(&place, message, "give the secret a string property of its own");
                }
                Some(_) if entry.tool.sensitive[..index].contains(name) => {
                    report.value(&place, format!("`{name}` stands here twice"), "remove one of the two");
                }
                Some(_) => {}
            }
        }
    }
}
