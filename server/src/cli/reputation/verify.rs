//! `colibri reputation verify`: the reputation part of `colibri verify`, by itself. It trusts the log of calls,
//! which only the whole command recomputes.

use std::io::Write;

use colibri_runtime::chain::scan::Interrupt;
use colibri_visible::printable;
use serde::Serialize;

use super::super::Failure;
use super::super::arguments::reputation::Verify;
use super::super::database::open_for_reading;
use super::unreadable;
use crate::cli::output::print_json;
use crate::settings::environment::Environment;
use crate::verification::finding::Found;
use crate::verification::{CheckReport, PartReport, verify_reputation};
use colibri_store::walk::Stop;

/// The result as JSON.
#[derive(Serialize)]
struct Document<'a> {
    sound: bool,
    #[serde(flatten)]
    check: &'a CheckReport,
    #[serde(rename = "found")]
    findings: &'a [Found],
    warnings: &'a [Found],
}

/// Verifies and prints; [`Failure::Finding`] if something was found.
pub fn run(arguments: &Verify, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let db = open_for_reading(env, arguments.database.db.as_deref())?;
    let report = verify_reputation(&db, &Interrupt::default(), &mut |_| {}).map_err(|stop| match stop {
        Stop::Fault(fault) => unreadable(fault),
        Stop::Interrupted => Failure::Failed("the verification was interrupted".to_owned()),
    })?;
    let sound = report.findings.is_empty();
    if arguments.json {
        let (findings, warnings) = (report.findings.kinds(), report.warnings.kinds());
        let document = Document { sound, check: &report.check, findings, warnings };
        print_json(out, &document)?;
    } else {
        text(&report, sound, out)?;
    }
    out.flush()?;
    if sound { Ok(()) } else { Err(Failure::Finding) }
}

fn text(report: &PartReport, sound: bool, out: &mut dyn Write) -> std::io::Result<()> {
    for count in &report.check.counts {
        writeln!(out, "{:>10} {}", count.number, count.what)?;
    }
    for Found { count, first } in report.findings.kinds() {
        writeln!(out, "{} ({count}): {}", first.code, printable(&first.message))?;
        writeln!(out, "  first: {}", printable(&first.subject))?;
    }
    for Found { count, first } in report.warnings.kinds() {
        writeln!(out, "warning {} ({count}): {}", first.code, printable(&first.message))?;
    }
    if sound {
        writeln!(out, "Sound: every standing follows from the ledger.")
    } else {
        writeln!(
            out,
            "Not sound: the first finding of each kind is shown. Keep a copy of the file as evidence."
        )
    }
}
