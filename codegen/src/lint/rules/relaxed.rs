//! `relaxed`: a setting can only make optional what is required without it.

use crate::catalogue::suggest;
use crate::lint::schemas::{is_required, property_names, resolve};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        let Some(relaxation) = &entry.tool.relaxed else { continue };
        let place = entry.place.child("relaxed");
        for (field, text) in [("setting", &relaxation.setting), ("value", &relaxation.value)] {
            if text.trim().is_empty() {
                let help = "name the server's setting and the value that relaxes the input";
                report.value(&place.child(field), format!("the {field} is empty"), help);
            }
        }
        let place = place.child("optional");
        if relaxation.optional.is_empty() {
            let help = "list the inputs that become optional, or remove `relaxed`";
            report.key(&place, "the setting relaxes nothing", help);
        }
        let input = resolve(context.catalogue, &entry.tool.input);
        for (index, name) in relaxation.optional.iter().enumerate() {
            let place = place.child(index);
            if relaxation.optional[..index].contains(name) {
                report.value(&place, format!("`{name}` stands here twice"), "remove one of the two");
            } else if !input.is_some_and(|input| is_required(input, name)) {
                let names = property_names(context.catalogue, &entry.tool.input);
                let required =
                    names.into_iter().filter(|name| input.is_some_and(|input| is_required(input, name)));
                let help = match suggest::closest(name, required) {
                    Some(near) => format!("write `{near}`"),
                    None => "write the name of a required property of the input".to_owned(),
                };
                report.value(&place, format!("`{name}` is not among the required inputs"), help);
            }
        }
    }
}
