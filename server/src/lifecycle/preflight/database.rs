//! What a start refuses a database for, what it warns of, and what to do about each.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::shell_word::quoted;
use colibri_store::sqlite::look::schema::Difference;
use colibri_store::sqlite::open::error::{OpenError, Right};
use colibri_store::sqlite::open::network_fs::unknown_file_system;

/// What to do about damage.
pub(crate) const RESTORE: &str = "stop the servers on it and run `colibri restore BACKUP`, which keeps the damaged file and \
                                  its log under another name";
/// What to do before a migration. This release's `backup` reads no older schema.
pub(crate) const GO_BACK: &str = "if you may go back to the earlier release, first make a backup with that release, or copy the file and \
                                  its -wal file while no server runs";
/// What to do about a lock of another program.
pub(crate) const UNLOCK: &str =
    "find the program that holds it (for example with `fuser` or `lsof`), and end it or let it finish";
/// The most differences of a schema that are listed one by one.
const MOST_DIFFERENCES: usize = 20;

/// Returns the finding for what keeps every start from opening the database.
pub(crate) fn refused(error: &OpenError) -> Finding {
    let check = match error {
        OpenError::Newer { .. } | OpenError::Older { .. } | OpenError::Foreign { .. } => "schema",
        _ => "database",
    };
    Finding::fail(check, error.to_string(), remedy(error))
}

/// Returns what to do about it. Most messages say it, too; the remedy says it as a step.
fn remedy(error: &OpenError) -> String {
    match error {
        OpenError::Newer { .. } => {
            "use the release of Colibri that wrote it or a later one, or set COLIBRI_DB_PATH to another file".to_owned()
        }
        OpenError::Foreign { .. } => format!(
            "if it is another program's file, set COLIBRI_DB_PATH to another path; if it was a Colibri database, {RESTORE}"
        ),
        OpenError::NotWal { .. } => {
            "move the database to an ordinary local disk, and close the programs that have it open".to_owned()
        }
        OpenError::Corrupt { .. } => RESTORE.to_owned(),
        OpenError::Locked { .. } => UNLOCK.to_owned(),
        OpenError::Migration { .. } => {
            "correct what the message names (often a full disk), then start again; the database is as it was".to_owned()
        }
        OpenError::Missing { .. } => {
            "start a server with COLIBRI_MODE=FULL once, or set COLIBRI_DB_PATH to an existing database".to_owned()
        }
        OpenError::Older { .. } => {
            format!("start a server with COLIBRI_MODE=FULL once, which migrates it; {GO_BACK}")
        }
        OpenError::Journal { .. } => {
            "move the database and all files beside it to another folder together, then run `colibri restore BACKUP`".to_owned()
        }
        OpenError::NoFile { path } => match database_in(Path::new(path)) {
            Some(file) => format!("{path} is a folder; set COLIBRI_DB_PATH to {} in it", file.display()),
            None => format!("move {path} to another folder, or set COLIBRI_DB_PATH to another file"),
        },
        OpenError::NoFolder { target, .. } => {
            format!("move {target} away, or set COLIBRI_DB_PATH to a file in another folder")
        }
        OpenError::Unfinished { .. } => {
            "start a server with COLIBRI_MODE=FULL once, or let the program that left the journal open the database".to_owned()
        }
        OpenError::Network { .. } => "put the database on a local disk, and set COLIBRI_DB_PATH to it".to_owned(),
        OpenError::Orphan { side, .. } => {
            format!("put the database back beside it, or move {side} to another folder")
        }
        OpenError::Names { .. } => {
            "stop the servers on it, copy it together with its -wal file under a new name, and set COLIBRI_DB_PATH to the copy"
                .to_owned()
        }
        OpenError::Mounted { .. } => "mount the folder that holds the database, in place of the file".to_owned(),
        OpenError::Elsewhere { process, .. } => format!("stop {process}"),
        OpenError::Replaced { .. } => "start again".to_owned(),
        OpenError::StrayLog { .. } => {
            "put the earlier file back; or rename this one, and run `colibri restore` with its new name, which keeps the log"
                .to_owned()
        }
        OpenError::HalfRestored { path } => format!("start a server on {path}, which finishes the restore"),
        OpenError::KeptJournal { .. } => {
            "run `colibri restore` with the backup again, which keeps every file".to_owned()
        }
        OpenError::Denied { target, right, .. } => allow(target, *right),
        OpenError::WorkingFolder { .. } => "set COLIBRI_DB_PATH to an absolute path".to_owned(),
        OpenError::LongName { beside, most, .. } => {
            format!("give the database a name of at most {} bytes, and set COLIBRI_DB_PATH to it", most - beside)
        }
        OpenError::Unquiet { .. } => {
            "try again when the server is less busy, or run this as the user of the server".to_owned()
        }
        OpenError::NotCopied { mib, .. } => {
            format!("set TMPDIR to a folder with {mib} MiB of space, or run this as the user of the server")
        }
        OpenError::Unusable { reason, .. } => remedy_of(reason).to_owned(),
    }
}

/// Warns of a file system of which nothing is known.
pub(crate) fn file_system(path: &Path) -> Option<Finding> {
    let kind = unknown_file_system(path)?;
    let message = format!(
        "database is on a file system that a program serves ({kind}): {}; Colibri cannot know whether other machines use it",
        path.display()
    );
    let advice = "put the database on a local disk, unless you know that this machine alone uses the folder";
    Some(Finding::warn("database", message, advice))
}

/// Returns the database in a folder, if it is there under its usual name.
pub(crate) fn database_in(folder: &Path) -> Option<PathBuf> {
    Some(folder.join("colibri.db")).filter(|file| folder.is_dir() && file.is_file())
}

/// Returns how the server's user gets a right.
fn allow(target: &str, right: Right) -> String {
    let word = quoted(target);
    let (mode, otherwise) = match right {
        Right::Read => ("u+r", ""),
        Right::ReadAndWrite => ("u+rw", "; or set COLIBRI_MODE to READONLY"),
        Right::Create => ("u+rwx", "; or set COLIBRI_DB_PATH to a file in another folder"),
    };
    format!(
        "run `chmod {mode} {word}` as its owner, which the server's user should be (`chown`){otherwise}; until then no server \
         starts on it"
    )
}

/// Returns what to do by SQLite's text, if nothing else is known.
pub(crate) fn remedy_of(reason: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    if says(&["is locked"]) {
        UNLOCK
    } else if says(&["malformed", "not a database", "more steps than", "larger than any", "no such table"]) {
        RESTORE
    } else {
        "correct what the message names (rights, disk, or the limits of this process: `ulimit -n`), then \
         run `colibri doctor` again"
    }
}

/// Returns a finding for each difference between a schema and the one that the migrations give. A trigger is a guard: it keeps rows
/// from being changed.
pub(crate) fn differences(found: &[(String, Difference)]) -> Vec<Finding> {
    let advice = "another program changed the schema: keep a copy of the file as evidence, and run `colibri verify`, which says \
                  whether rows were changed, too; then stop the servers and run `colibri restore BACKUP`";
    let line = |(object, how): &(String, Difference)| {
        let text = how.sentence(object);
        match guarded(object).filter(|_| *how != Difference::Unknown) {
            Some(table) => Finding::fail("guards", format!("{text}: {}", unguarded(table)), advice),
            None => Finding::fail("schema", text, advice),
        }
    };
    let mut findings: Vec<Finding> = found.iter().take(MOST_DIFFERENCES).map(line).collect();
    if let Some(more) = found.len().checked_sub(MOST_DIFFERENCES).filter(|more| *more > 0) {
        findings.push(Finding::fail("schema", format!("{more} more objects differ"), advice));
    }
    findings
}

/// Returns the table of a trigger.
fn guarded(object: &str) -> Option<&str> {
    object.strip_prefix("trigger ")?.split_once(" of ").map(|(_, table)| table)
}

fn unguarded(table: &str) -> String {
    match table {
        "actions" => "nothing keeps the log append-only".to_owned(),
        _ => format!("nothing keeps the rows of {table} as they should be"),
    }
}
