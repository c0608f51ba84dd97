//! `versions`: versions are semantic ones, and no tool is newer than its catalogue.

use crate::lint::pattern::version;
use crate::lint::{Context, Report};

const HELP: &str = "write MAJOR.MINOR.PATCH, e.g. 0.1.0";

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let head = &context.catalogue.head;
    let current = version(&head.version);
    if current.is_none() {
        let place = context.catalogue.head_place().child("version");
        report.value(&place, format!("`{}` is not a semantic version", head.version), HELP);
    }
    for (index, waiver) in head.drift.waivers.iter().enumerate() {
        if let Some(until) = &waiver.until
            && version(until).is_none()
        {
            let place = context.catalogue.head_place().child("drift").child("waivers").child(index);
            report.value(&place.child("until"), format!("`{until}` is not a semantic version"), HELP);
        }
    }
    for entry in context.catalogue.tools() {
        let place = entry.place.child("since");
        match (version(&entry.tool.since), current) {
            (None, _) => {
                report.value(&place, format!("`{}` is not a semantic version", entry.tool.since), HELP);
            }
            (Some(since), Some(current)) if since > current => {
                let message =
                    format!("the tool is newer than its catalogue: {} > {}", entry.tool.since, head.version);
                report.value(&place, message, "raise the catalogue's version, or lower `since`");
            }
            _ => {}
        }
        if let Some(sunset) = &entry.tool.sunset
            && version(sunset).is_none()
        {
            let message = format!("`{sunset}` is not a semantic version");
            report.value(&entry.place.child("sunset"), message, HELP);
        }
    }
}
