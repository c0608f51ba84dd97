//! `placement`: what a tool states fits where it runs (catalogue#placement), and its envelope fits its pattern.

use crate::catalogue::{Envelope, ErrorPattern, Place, Runs, Tool};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        let (tool, place) = (entry.tool, &entry.place);
        let (runs, reason) = match tool.runs {
            Runs::Store => ("store", None),
            Runs::Free => ("free", Some("a tool without a store has nothing to write")),
            Runs::Scan => ("scan", Some("a scan runs in a read transaction")),
            Runs::Network => ("network", Some("a network tool holds no store to write")),
            Runs::Operator => ("operator", None),
        };
        match (tool.mutates, reason) {
            (Some(_), Some(reason)) => {
                let message = format!("`mutates` contradicts `runs: {runs}`: {reason}");
                report.key(&place.child("mutates"), message, "remove `mutates`, or write `runs: store`");
            }
            (None, None) => {
                let message =
                    format!("`mutates` is missing: `runs: {runs}` does not say whether the tool writes");
                report.value(
                    &place.child("runs"),
                    message,
                    "add `mutates: true`, or `mutates: false` if it never writes",
                );
            }
            _ => {}
        }
        concurrency(tool, runs, &place.child("concurrency"), report);
        if tool.envelope == Envelope::None && tool.pattern != ErrorPattern::C {
            let message = format!(
                "`envelope: none` contradicts `pattern: {:?}`, whose errors stand in an envelope",
                tool.pattern
            );
            report.key(&place.child("envelope"), message, "write `pattern: C`, or remove `envelope`");
        }
        if tool.early && tool.runs != Runs::Free {
            let message = format!("`early` contradicts `runs: {runs}`: the store is not open yet");
            report.key(&place.child("early"), message, "remove `early`, or write `runs: free`");
        } else if tool.early && !tool.hints.is_read_only() {
            let message = "`early` needs a read-only tool: it answers before its call can be logged";
            report.key(
                &place.child("early"),
                message,
                "remove `early`, or write `read_only: true` among the hints",
            );
        }
        if tool.runs == Runs::Operator && tool.relaxed.is_some() {
            let message =
                "`relaxed` contradicts `runs: operator`: a setting can only relax what clients send";
            report.key(&place.child("relaxed"), message, "remove `relaxed`, or change `runs`");
        }
    }
}

/// As many calls as a batch holds.
const MOST_AT_A_TIME: u32 = 64;

fn concurrency(tool: &Tool, runs: &str, place: &Place, report: &mut Report<'_>) {
    match tool.concurrency {
        Some(_) if tool.runs != Runs::Network => {
            let message = format!(
                "`concurrency` contradicts `runs: {runs}`: only network tools run beside one another"
            );
            report.key(place, message, "remove `concurrency`, or write `runs: network`");
        }
        Some(most) if !(1..=MOST_AT_A_TIME).contains(&most) => {
            let message = "`concurrency` is out of range".to_owned();
            report.value(place, message, format!("write a number from 1 to {MOST_AT_A_TIME}"));
        }
        _ => {}
    }
}
