//! `colibri copy FROM [TO]`: a whole database into an empty one, between a file and a shared database in either direction. Exit 0 for a
//! sound copy, 1 if it could not be made or would not be sound, 2 for a bad command line. Servers may use FROM meanwhile. TO is whole or
//! not there.

use std::io::Write;
use std::path::Path;

use colibri_visible::{counted, printable};

use super::Failure;
use super::arguments::CopyArguments;
use super::database::{Role, open_and_tell, place_of};
use super::verify;
use super::work::Work;
use crate::migrations::MIGRATIONS;
use crate::settings::environment::Environment;
use crate::settings::place::Place;
use crate::shared_schema::SCHEMA;
use crate::verification::Report;
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
    let mut work = Work::begin("copy", err, arguments.progress);
    let (to, sharing) = place_of(env, arguments.to.as_deref())?;
    let (source, source_sharing) = place_of(env, Some(&arguments.from))?;
    let from = open_and_tell(&source, &source_sharing, Role::Copied)?;
    let tables = tables(MIGRATIONS).map_err(|fault| Failure::Failed(fault.to_string()))?;
    let (rows, report) = match &to {
        Place::File(path) => {
            let (copy, rows) = into_file(&from, path, &tables, &mut work)?;
            drop(from);
            let verified = verify::verify_copy(copy.path(), path, env, &mut work);
            let report = work.settle(verified)?;
            must_be_sound(&report)?;
            copy.name().map_err(not_written)?;
            (rows, report)
        }
        Place::Shared(url) => {
            // Over a network, reading the copy call by call would take long. It is compared with the source instead, row by row.
            let verified = verify::verify_open((&from, &source), env, &[], &mut work);
            let report = work.settle(verified)?;
            must_be_sound(&report)?;
            let filled = {
                let mut show = |RowsCopied { done, total }| work.at("rows", done, total);
                let mut source = Source::new(&from, &mut show);
                shared::fill(url, &sharing.whole(), &SCHEMA, &tables, &mut source).map_err(failure)
            };
            let copy = work.settle(filled)?;
            (copy.keep().map_err(failure)?, report)
        }
    };
    work.clear();
    writeln!(
        out,
        "{}: {}, the state of the source when the copy began",
        printable(&to.to_string()),
        counted(rows.done, "row")
    )?;
    print_end(&report, out)
}

/// Copies into a new file, which gets its name later.
pub(super) fn into_file(
    from: &Db,
    path: &Path,
    tables: &[Table],
    work: &mut Work<'_>,
) -> Result<(Unnamed, RowsCopied), Failure> {
    let mut show = |RowsCopied { done, total }| work.at("rows", done, total);
    let filled = file::fill(path, MIGRATIONS, tables, &mut Source::new(from, &mut show)).map_err(failure);
    work.settle(filled)
}

/// Prints where the log of a sound copy ends.
pub(super) fn print_end(report: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(log) = &report.log {
        let (calls, hash) = (log.last_exit_no, log.last_row_hash);
        writeln!(out, "sound: {}; its log ends with {}", counted(calls, "closed call"), hash.as_str())?;
    }
    Ok(out.flush()?)
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
        CopyError::File(error) => not_written(error),
        _ => Failure::Failed(error.to_string()),
    }
}

/// Returns the failure of a file that could not be made.
pub(super) fn not_written(error: BackupError) -> Failure {
    match error {
        BackupError::File(error) => error.into(),
        BackupError::Interrupted => Failure::Failed(error.to_string()),
    }
}
