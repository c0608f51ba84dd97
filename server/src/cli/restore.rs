//! `colibri restore BACKUP`: puts a verified backup in the database's place while no server runs, and keeps the old files
//! under another name. Exit 0 if it is done, 1 if the backup is not sound or the database is in use, 2 for a bad
//! command line.

use std::io::{self, Write};
use std::path::Path;

use colibri_runtime::kernel::{Clock, SystemClock, rfc3339_ms};
use colibri_visible::{counted, printable};

use super::Failure;
use super::arguments::RestoreArguments;
use super::database::{file_of, open_backup};
use super::verify;
use super::work::Work;
use crate::settings::environment::Environment;
use crate::shell_word::quoted;
use colibri_store::log::head::Head;
use colibri_store::sqlite::look::backup::Copied;
use colibri_store::sqlite::look::restore::{RestoreError, Restored, restore};
use colibri_store::sqlite::open::identity::file_id;
use colibri_store::sqlite::open::network_fs::network_file_system;

/// The refusal of a shared database, which other machines use and which no command replaces.
const SHARED: &str = "restore replaces a file, and the database is a shared one; make an empty database beside it with `colibri postgres \
                      setup` and `migrate`, fill that with `colibri copy`, and point the servers to it";

/// Verifies the backup, replaces the database and prints where the old one is.
pub fn run(
    arguments: &RestoreArguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let backup = &arguments.backup;
    let database = file_of(env, arguments.db.as_deref(), SHARED)?;
    let shown = (backup.display().to_string(), database.display().to_string());
    if file_id(backup).is_ok_and(|id| file_id(&database).is_ok_and(|other| other == id)) {
        return Err(Failure::Usage(format!("{} is the database itself; name a backup of it", shown.0)));
    }
    if let Some(kind) = network_file_system(&database) {
        let text = format!("{} would be on a {kind}; name a file on a local disk", shown.1);
        return Err(Failure::Usage(text));
    }
    let mut work = Work::begin("restore", err, arguments.progress);
    let source = open_backup(backup)?;
    let verified = verify::verify_copy(backup, backup, env, &mut work);
    let report = work.settle(verified)?;
    if !report.is_sound() {
        work.clear();
        let (backup, quoted) = (&shown.0, quoted(&shown.0));
        return Err(Failure::Failed(format!(
            "{backup} is not sound, so nothing was restored; `colibri verify --db {quoted}` lists the findings"
        )));
    }
    let mut show = |Copied { done, total }| work.at("pages", done, total);
    // A name that sorts by time and that every file system accepts.
    let stamp = rfc3339_ms(SystemClock::default().wall_ms()).replace([':', '.'], "-");
    let restored = restore(&source, &database, &stamp, &mut show);
    let Restored { copied, kept } = restored.map_err(|error| {
        let is_denied = matches!(&error, RestoreError::Io { error, .. } if error.kind() == io::ErrorKind::PermissionDenied);
        let remedy = if is_denied { "; run the command as the owner of the database and its folder" } else { "" };
        let failure = Failure::Failed(format!("{error}{remedy}"));
        // The other steps come later, and are over in moments.
        if matches!(error, RestoreError::Copy { .. }) { work.failed(failure) } else { failure }
    })?;
    work.clear();
    let pages = counted(copied.total, "page");
    writeln!(out, "{}: restored from {}, {pages}", printable(&shown.1), printable(&shown.0))?;
    if let Some(log) = &report.log {
        writeln!(
            out,
            "sound: {} closed calls; its log ends with {}",
            log.last_exit_no,
            log.last_row_hash.as_str()
        )?;
    }
    for kept in &kept {
        writeln!(out, "kept: the previous file is now {}", printable(&kept.to_string_lossy()))?;
    }
    if let (Some(old), Some(log)) = (kept.first(), &report.log) {
        print_later_calls(old, log.last_exit_no, out)?;
    }
    Ok(out.flush()?)
}

/// Says how many calls the replaced database has beyond the backup, if it can be read.
fn print_later_calls(old: &Path, in_backup: i64, out: &mut dyn Write) -> io::Result<()> {
    let Some(head) = open_backup(old).ok().and_then(|db| Head::read(&db).ok()) else { return Ok(()) };
    let more = head.last_exit_no - in_backup;
    if more <= 0 {
        return Ok(());
    }
    let calls = if more == 1 { "call" } else { "calls" };
    let old = quoted(&old.to_string_lossy());
    let old = printable(&old);
    writeln!(
        out,
        "It has {more} {calls} more than the backup; colibri log --limit {more} --db {old} prints them."
    )
}
