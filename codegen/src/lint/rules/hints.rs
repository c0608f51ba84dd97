//! `hints`: MCP's behaviour hints agree with each other and with what the tool does (catalogue#placement:
//! a read-only tool does not mutate; one that does not mutate need not be read-only).

use crate::catalogue::Runs;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        let (tool, hints) = (entry.tool, entry.tool.hints);
        let place = entry.place.child("hints");
        if hints.read_only && tool.mutates() {
            let help = "write `read_only: false`, or `mutates: false` if it never writes";
            report.value(&place.child("read_only"), "a tool that mutates cannot be read-only", help);
        }
        if hints.read_only && hints.destructive {
            let help = "write `destructive: false`";
            report.value(&place.child("destructive"), "a read-only tool cannot be destructive", help);
        }
        if tool.runs == Runs::Network && !hints.open_world {
            let help = "write `open_world: true`";
            report.value(&place.child("open_world"), "a network tool acts on an open world", help);
        }
    }
}
