//! `colibri copy FROM [TO]`: a whole database into an empty one, between a file and a shared database in either direction. Exit 0 for a
//! sound copy, 1 if it could not be made or would not be sound, 2 for a bad command line. Servers may use FROM meanwhile. TO is whole or
//! not there.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use colibri_runtime::chain::scan::Interrupt;
use colibri_visible::printable;

use super::Failure;
use super::arguments::CopyArguments;
use super::database::{open_for_reading, place_of};
use super::interrupt::raised_by_signals;
use super::verify;
use crate::migrations::MIGRATIONS;
use crate::settings::environment::Environment;
use crate::settings::place::Place;
use crate::shared_schema::SCHEMA;
use crate::verification::Report;
use crate::verification::run::Progress;
use colibri_store::copy::{CopyError, RowsCopied, Source, file, shared};
use colibri_store::db::Db;
use colibri_store::sqlite::look::backup::{BackupError, Unnamed};
use colibri_store::sqlite::look::tables::{Table, tables};

/// Copies, verifies the copy, keeps it if it is sound, and says so.
pub fn run(
    arguments: &CopyArguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let interrupt = raised_by_signals();
    let mut lines = verify::Lines::new("copy", err, arguments.progress);
    let (to, sharing) = place_of(env, arguments.to.as_deref())?;
    let from = open_for_reading(env, Some(&arguments.from))?;
    let source = place_of(env, Some(&arguments.from))?.0;
    let tables = tables(MIGRATIONS).map_err(|fault| Failure::Failed(fault.to_string()))?;
    let (rows, report) = match &to {
        Place::File(path) => {
            let (copy, rows) = into_file(&from, path, &tables, &interrupt, &mut lines)?;
            drop(from);
            let report = verify::verify_copy(copy.path(), path, env, &interrupt, &mut lines)?;
            must_be_sound(&report)?;
            copy.name().map_err(|error| not_written(&error))?;
            (rows, report)
        }
        Place::Shared(url) => {
            // Over a network, reading the copy call by call would take long. It is compared with the source instead, row by row.
            let report = verify::verify_open((&from, &source), env, &interrupt, &mut lines)?;
            must_be_sound(&report)?;
            let copy = {
                let mut show = |rows| show_rows(rows, &interrupt, &mut lines);
                let mut source = Source::new(&from, &mut show);
                shared::fill(url, &sharing.whole(), &SCHEMA, &tables, &mut source).map_err(failure)?
            };
            (copy.keep().map_err(failure)?, report)
        }
    };
    lines.clear();
    writeln!(
        out,
        "{}: {} rows, the state of the source when the copy began",
        printable(&to.to_string()),
        rows.done
    )?;
    print_end(&report, out)
}

/// Copies into a new file, which gets its name later.
pub(super) fn into_file(
    from: &Db,
    path: &Path,
    tables: &[Table],
    interrupt: &Interrupt,
    lines: &mut verify::Lines<'_>,
) -> Result<(Unnamed, RowsCopied), Failure> {
    let mut show = |rows| show_rows(rows, interrupt, lines);
    file::fill(path, MIGRATIONS, tables, &mut Source::new(from, &mut show)).map_err(failure)
}

/// Prints where the log of a sound copy ends.
pub(super) fn print_end(report: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(log) = &report.log {
        let (calls, hash) = (log.last_exit_no, log.last_row_hash);
        writeln!(out, "sound: {calls} closed calls; its log ends with {}", hash.as_str())?;
    }
    Ok(out.flush()?)
}

fn show_rows(
    RowsCopied { done, total }: RowsCopied,
    interrupt: &Interrupt,
    lines: &mut verify::Lines<'_>,
) -> ControlFlow<()> {
    lines.show(&Progress { check: "rows", done, total });
    if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn must_be_sound(report: &Report) -> Result<(), Failure> {
    let Some(first) = report.findings.kinds().first() else { return Ok(()) };
    Err(Failure::Failed(format!(
        "the source is not sound, so nothing was copied: {}; `colibri verify --db` with its name lists all findings",
        first.first
    )))
}

fn failure(error: CopyError) -> Failure {
    match error {
        CopyError::NotEmpty(_) | CopyError::InUse(_) | CopyError::Schema(_) => {
            Failure::Usage(error.to_string())
        }
        CopyError::File(error) => not_written(&error),
        _ => Failure::Failed(error.to_string()),
    }
}

/// Returns the failure of a file that could not be made.
pub(super) fn not_written(error: &BackupError) -> Failure {
    match error {
        BackupError::Exists(_) | BackupError::Place { .. } => Failure::Usage(error.to_string()),
        BackupError::Busy(_) | BackupError::Interrupted(_) | BackupError::Write { .. } => {
            Failure::Failed(error.to_string())
        }
    }
}
