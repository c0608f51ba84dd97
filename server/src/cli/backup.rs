//! `colibri backup FILE`: copies the database while servers write to it, and verifies the copy as `colibri verify` does. Exit 0
//! for a sound copy, 1 if the copy is not sound or could not be made, 2 for a bad command line. The copy gets its
//! name after it was verified, so that an interrupted backup leaves none.

use std::io::Write;
use std::ops::ControlFlow;

use colibri_visible::printable;

use super::Failure;
use super::arguments::BackupArguments;
use super::database::open_for_reading;
use super::interrupt::raised_by_signals;
use super::verify;
use crate::settings::environment::Environment;
use crate::verification::run::Progress;
use colibri_store::sqlite::look::backup::{BackupError, Copied, copy};

/// Copies, verifies the copy and says what it found.
pub fn run(
    arguments: &BackupArguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &arguments.file;
    let interrupt = raised_by_signals();
    let mut lines = verify::Lines::new("backup", err, arguments.progress);
    let source = open_for_reading(env, arguments.db.as_deref())?;
    let mut show = |Copied { done, total }| {
        lines.show(&Progress { check: "pages", done, total });
        if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let copy = copy(&source, path, &mut show).map_err(failure)?;
    // A long verification must not hold the log of the source.
    drop(source);
    let verified = verify::verify_copy(copy.path(), path, env, &interrupt, &mut lines);
    if verified.is_err() && interrupt.is_raised() {
        return Err(failure(BackupError::Interrupted(path.display().to_string())));
    }
    // A copy that cannot be verified is kept as evidence.
    let copied = copy.name().map_err(failure)?;
    let report = verified?;
    lines.clear();
    let shown = path.display();
    writeln!(
        out,
        "{}: {} pages, the state of the database when the copy began",
        printable(&shown.to_string()),
        copied.total
    )?;
    if report.is_sound() {
        if let Some(log) = &report.log {
            writeln!(
                out,
                "sound: {} closed calls; its log ends with {}",
                log.last_exit_no,
                log.last_row_hash.as_str()
            )?;
        }
        return Ok(out.flush()?);
    }
    writeln!(
        out,
        "The copy is complete but not sound ({} findings), because the database was not sound either. \
         `colibri verify --db {}` lists the findings. Keep both files as evidence.",
        report.findings.kinds().iter().map(|found| found.count).sum::<u64>(),
        printable(&crate::shell_word::quoted(&shown.to_string())),
    )?;
    out.flush()?;
    Err(Failure::Finding)
}

fn failure(error: BackupError) -> Failure {
    match error {
        BackupError::Exists(_) | BackupError::Place { .. } => Failure::Usage(error.to_string()),
        BackupError::Busy(_) | BackupError::Interrupted(_) | BackupError::Write { .. } => {
            Failure::Failed(error.to_string())
        }
    }
}
