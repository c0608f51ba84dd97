//! `type-names`: shared types are named in `PascalCase`; the name becomes a Rust type's.

use crate::lint::pattern::is_pascal_case;
use crate::lint::{Context, Report};

/// A keyword, and what the generated code calls by these names.
const TAKEN: [&str; 5] = ["Self", "Some", "None", "Ok", "Err"];

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for name in context.catalogue.types.types.keys() {
        let place = context.catalogue.type_place(name);
        if TAKEN.contains(&name.as_str()) {
            let message = format!("the shared type `{name}` has the name of something in Rust");
            let help = format!("take another name, e.g. `{name}Value`");
            report.key(&place, message, help);
        }
        if is_pascal_case(name) {
            continue;
        }
        let help = "write letters and digits, each word starting with an upper-case letter";
        report.key(&place, format!("the shared type `{name}` is not named in PascalCase"), help);
    }
}
