//! `domain-file`: a domain's file says the domain's name and has tools.

use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for (index, entry) in context.catalogue.domains.iter().enumerate() {
        let place = context.catalogue.domain_place(index);
        let stem = context.catalogue.files.get(entry.file).and_then(|file| file.path.file_stem()?.to_str());
        if let Some(stem) = stem.filter(|stem| *stem != entry.data.domain) {
            let message = format!("the file of the domain `{stem}` says `{}`", entry.data.domain);
            report.value(&place.child("domain"), message, format!("write `{stem}`, or rename the file"));
        }
        if entry.data.tools.is_empty() {
            report.key(&place.child("tools"), "the domain has no tools", "add one, or remove the domain");
        }
    }
    if context.catalogue.head.domains.is_empty() {
        let place = context.catalogue.head_place().child("domains");
        report.key(&place, "the catalogue has no domains", "list at least one, with its file in tools/");
    }
}
