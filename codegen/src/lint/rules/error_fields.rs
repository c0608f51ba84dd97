//! `error-fields`: the extra members of an error object leave the envelope's own names alone.

use crate::lint::{Context, Report};

const RESERVED: [&str; 6] = ["ok", "code", "message", "details", "remedy", "next"];

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        for (index, error) in entry.tool.errors.iter().enumerate() {
            let fields = entry.place.child("errors").child(index).child("fields");
            for name in error.fields.keys().filter(|name| RESERVED.contains(&name.as_str())) {
                let message = format!("the error field `{name}` is a name of the envelope");
                report.key(&fields.child(name), message, "take another name");
            }
        }
    }
}
