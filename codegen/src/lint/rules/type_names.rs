//! `type-names`: shared types are named in `PascalCase`; the name becomes a Rust type's.

use crate::lint::pattern::is_pascal_case;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for name in context.catalogue.types.types.keys().filter(|name| !is_pascal_case(name)) {
        let place = context.catalogue.type_place(name);
        let help = "write letters and digits, each word starting with an upper-case letter";
        report.key(&place, format!("the shared type `{name}` is not named in PascalCase"), help);
    }
}
