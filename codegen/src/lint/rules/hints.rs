//! `hints`: MCP's behaviour hints agree with each other and with what the tool does (catalogue#placement:
//! a read-only tool does not mutate; one that does not mutate need not be read-only).

use crate::catalogue::Runs;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        let (tool, hints) = (entry.tool, &entry.tool.hints);
        let place = entry.place.child("hints");
        if hints.is_read_only() && tool.mutates() {
            let help = "write `read_only: false`, or `mutates: false` if it never writes";
            report.value(&place.child("read_only"), "a tool that mutates cannot be read-only", help);
        }
        if context.is_open() {
            continue;
        }
        for (name, _, _, _) in hints.all().into_iter().filter(|(_, _, hint, _)| hint.is_none()) {
            let help = format!("add `{name}: true` or `{name}: false`");
            report.key(&place, format!("the hint `{name}` is missing"), help);
        }
        for name in hints.title.iter().map(|_| "title").chain(hints.other.keys().map(|_| "other")) {
            let help = "remove it; the tool's own `title` is its display name";
            report.key(&place.child(name), format!("`{name}` is not a behaviour hint"), help);
        }
        if hints.is_read_only() && hints.is_destructive() {
            let help = "write `destructive: false`";
            report.value(&place.child("destructive"), "a read-only tool cannot be destructive", help);
        }
        if tool.runs == Runs::Network && !hints.is_open_world() {
            let help = "write `open_world: true`";
            report.value(&place.child("open_world"), "a network tool acts on an open world", help);
        }
    }
}
