//! `colibri backup FILE`: copies the database while servers write to it, and verifies the copy as `colibri verify` does. Exit 0
//! for a sound copy, 1 if the copy is not sound or could not be made, 2 for a bad command line. The copy gets its
//! name after it was verified, so that an interrupted backup leaves none.

use std::io::Write;
use std::path::Path;

use colibri_visible::{counted, printable};

use super::Failure;
use super::arguments::BackupArguments;
use super::copy;
use super::database::{open_for_reading, place_of};
use super::verify;
use super::work::Work;
use crate::migrations::MIGRATIONS;
use crate::settings::environment::Environment;
use crate::settings::place::Place;
use crate::verification::Report;
use colibri_store::db::Db;
use colibri_store::sqlite::look::backup::{self, Copied};
use colibri_store::sqlite::look::tables::tables;

/// Copies, verifies the copy and says what it found.
pub fn run(
    arguments: &BackupArguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &arguments.file;
    let mut work = Work::begin("backup", err, arguments.progress);
    let source = open_for_reading(env, arguments.db.as_deref())?;
    if let Place::Shared(_) = place_of(env, arguments.db.as_deref())?.0 {
        return shared(&source, path, env, &mut work, out);
    }
    let copied = backup::copy(&source, path, &mut |Copied { done, total }| work.at("pages", done, total));
    let copy = work.settle(copied.map_err(copy::not_written))?;
    // A long verification must not hold the log of the source.
    drop(source);
    let verified = verify::verify_copy(copy.path(), path, env, &mut work);
    work.settle(Ok(()))?;
    // A copy that cannot be verified is kept as evidence.
    let copied = copy.name().map_err(copy::not_written)?;
    let report = verified?;
    work.clear();
    let shown = path.display();
    writeln!(
        out,
        "{}: {}, the state of the database when the copy began",
        printable(&shown.to_string()),
        counted(copied.total, "page")
    )?;
    if report.is_sound() {
        if let Some(log) = &report.log {
            writeln!(
                out,
                "sound: {}; its log ends with {}",
                counted(log.last_exit_no, "closed call"),
                log.last_row_hash.as_str()
            )?;
        }
        return Ok(out.flush()?);
    }
    not_sound(&shown.to_string(), &report, out)
}

/// Says that the copy has the findings of its source.
fn not_sound(shown: &str, report: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "The copy is complete but not sound ({}), because the database was not sound either. \
         `colibri verify --db {}` lists the findings. Keep both files as evidence.",
        counted(report.findings.kinds().iter().map(|found| found.count).sum::<u64>(), "finding"),
        printable(&crate::shell_word::quoted(shown)),
    )?;
    out.flush()?;
    Err(Failure::Finding)
}

/// A backup of a shared database is a copy into a file.
fn shared(
    source: &Db,
    path: &Path,
    env: &Environment,
    work: &mut Work<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let tables = tables(MIGRATIONS).map_err(|fault| Failure::Failed(fault.to_string()))?;
    let (copy, rows) = copy::into_file(source, path, &tables, work)?;
    let verified = verify::verify_copy(copy.path(), path, env, work);
    let report = work.settle(verified)?;
    // A copy that is not sound is kept as evidence.
    copy.name().map_err(copy::not_written)?;
    work.clear();
    let shown = path.display().to_string();
    writeln!(
        out,
        "{}: {}, the state of the database when the copy began",
        printable(&shown),
        counted(rows.done, "row")
    )?;
    if report.is_sound() {
        return copy::print_end(&report, out);
    }
    not_sound(&shown, &report, out)
}
