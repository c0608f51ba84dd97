//! The database's part of the examination.

use std::path::Path;

use colibri_runtime::handler::Fault;

use super::{Finding, content, shared};
use crate::migrations::MIGRATIONS;
use crate::settings::config::Config;
use crate::settings::mode::{Mode, capabilities_for};
use colibri_proof::keys::TrustedKeys;
use colibri_store::sqlite::look::inspect::{APPLICATION_ID, Header, Inspection};
use colibri_store::sqlite::open::admit;
use colibri_store::sqlite::open::creation::orphan;
use colibri_store::sqlite::open::error::OpenError;
use colibri_store::sqlite::open::migrate::latest;
use colibri_store::sqlite::write::obstacle::{self, Obstacle};

/// A write-ahead log beyond this has not been emptied for long (SQLite does so at about 4 MB).
const LARGE_WAL_BYTES: u64 = 64 * 1024 * 1024;

pub(super) const RESTORE: &str = "stop the servers on it and run `colibri restore BACKUP`, which keeps the damaged file and \
                                  its log under another name";
const UNLOCK: &str =
    "find the program that holds it (for example with `fuser` or `lsof`), and end it or let it finish";
const NEXT_START: &str = "nothing to do: the next start in FULL cleans up";

/// Examines the configured database, and checks its seals with the trusted keys.
pub fn check(config: &Config, trusted: &TrustedKeys) -> Vec<Finding> {
    if config.mode == Mode::Minimal {
        return vec![Finding::ok("database", "MINIMAL opens no database")];
    }
    if config.ephemeral_db {
        let message = "each server in TEST creates its own database in data/ and removes it when it stops";
        return vec![Finding::ok("database", message)];
    }
    let Some(path) = config.place.file() else {
        return shared::check(config, trusted);
    };
    if config.place.is_memory() {
        return vec![Finding::warn(
            "database",
            "the database is in memory and ends with the server",
            "set COLIBRI_DB_PATH to a file to keep the data",
        )];
    }
    if let Some(finding) = place(path, config.mode) {
        return vec![finding];
    }
    let writes = capabilities_for(config.mode).write_database;
    if let Err(error) = admit(path, !writes) {
        let advice = "change the rights, the owner or the path; until then no server starts on it";
        return vec![Finding::fail("database", error.to_string(), advice)];
    }
    if !path.exists() {
        let message =
            format!("{} does not exist yet; the first start in {} creates it", path.display(), config.mode);
        return vec![Finding::ok("database", message)];
    }
    if writes && let Some(obstacle) = obstacle::find(path) {
        return vec![standstill(path, &obstacle)];
    }
    let look = match Inspection::open(path, MIGRATIONS) {
        Ok(look) => look,
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            return vec![Finding::fail("database", message, remedy(&error.kind))];
        }
    };
    let mut findings = vec![Finding::ok("database", format!("{} can be read", path.display()))];
    match look.header() {
        Ok(header) => {
            let (finding, ours) = schema(header, config.mode);
            findings.push(finding);
            if !ours {
                return findings;
            }
            findings.extend(shape(&look));
            findings.extend(match header.schema_version == latest(MIGRATIONS) {
                true => content::check(&look, trusted),
                false => of_another_version(&look),
            });
        }
        Err(fault) => findings.push(unreadable("schema", &fault)),
    }
    findings.extend(running(&look));
    findings.push(wal(&look));
    findings.push(lock_files(&look));
    findings
}

/// Returns what is wrong with the path itself; `None` if it may hold a file to examine.
fn place(path: &Path, mode: Mode) -> Option<Finding> {
    const CHECK: &str = "database";
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => {
            let refused = found.permissions().readonly() && capabilities_for(mode).write_database;
            let advice = "make the file writable, or set COLIBRI_MODE to READONLY";
            refused.then(|| Finding::fail(CHECK, format!("{shown} is write-protected"), advice))
        }
        Ok(_) => {
            let advice = "set COLIBRI_DB_PATH to a file";
            Some(Finding::fail(CHECK, format!("{shown} is not a file"), advice))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match (orphan(path), mode) {
            (Some(side), _) => Some(Finding::fail(
                CHECK,
                format!("{} is the log of a database that is not at {shown} any more", side.display()),
                "put the database back beside it, or move the log to another folder",
            )),
            (None, Mode::Readonly) => Some(Finding::fail(
                CHECK,
                format!("{shown} does not exist, and READONLY never creates a database"),
                "start a server in FULL once, or set COLIBRI_DB_PATH to an existing database",
            )),
            (None, _) => None,
        },
        Err(error) => Some(Finding::fail(
            CHECK,
            format!("{shown} cannot be reached: {error}"),
            "check the path and the permissions of its folders",
        )),
    }
}

/// Returns what to do about a file that cannot be examined. Most refusals say it themselves.
fn remedy(error: &OpenError) -> String {
    match error {
        OpenError::Corrupt { .. } => RESTORE.to_owned(),
        OpenError::Foreign { .. } => format!(
            "if it is another program's file, set COLIBRI_DB_PATH to another path; if it was a Colibri database, {RESTORE}"
        ),
        OpenError::Locked { .. } => UNLOCK.to_owned(),
        OpenError::Unusable { reason, .. } => remedy_of(reason).to_owned(),
        _ => "do what the message says, then run `colibri doctor` again; until then no server starts on it"
            .to_owned(),
    }
}

/// Returns the same by SQLite's text, if nothing else is known.
fn remedy_of(reason: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    if says(&["is locked"]) {
        UNLOCK
    } else if says(&["malformed", "not a database", "more steps than", "larger than any"]) {
        RESTORE
    } else {
        "correct what the message names (rights, disk, or the limits of this process: `ulimit -n`), then \
         run `colibri doctor` again"
    }
}

/// Returns the finding for an obstacle that keeps every start waiting.
fn standstill(path: &Path, obstacle: &Obstacle) -> Finding {
    let shown = path.display();
    let (message, advice) = match obstacle {
        Obstacle::Queue(holder) => (
            format!("the write queue of {shown} is held by {holder}"),
            "resume that process (`kill -CONT`, `docker unpause`) or stop it; if it is migrating the database, let it finish. \
             Until then no server starts on the database and no call is entered",
        ),
        Obstacle::Lock(holder) => (
            format!("{shown} is locked by another program: {holder}"),
            "end that program or let it finish; until then no server starts on the database and no call is entered",
        ),
    };
    Finding::fail("database", message, advice)
}

/// Checks whose file it is and how old; also returns whether it is Colibri's and can be examined further.
fn schema(header: Header, mode: Mode) -> (Finding, bool) {
    const CHECK: &str = "schema";
    let (version, newest) = (header.schema_version, latest(MIGRATIONS));
    let foreign = header.application_id != APPLICATION_ID
        && (header.application_id != 0 || (version == 0 && header.tables > 0));
    if foreign {
        let advice = "set COLIBRI_DB_PATH to another path; this file belongs to another program";
        return (Finding::fail(CHECK, "not a Colibri database", advice), false);
    }
    let finding = if version > newest {
        let message = format!("version {version} is newer than supported version {newest}");
        Finding::fail(CHECK, message, "use the release of Colibri that wrote it, or a later one")
    } else if version < newest {
        let message = format!("version {version} is older than {newest}");
        let advice = "the next start in FULL migrates it; keep a copy first if you may go back";
        if mode == Mode::Readonly {
            Finding::fail(CHECK, message, advice)
        } else {
            Finding::warn(CHECK, message, advice)
        }
    } else {
        Finding::ok(CHECK, format!("version {version}, {} tables", header.tables))
    };
    (finding, true)
}

/// Returns how the schema differs from that of the migrations. The checks that follow do not read tables that differ.
fn shape(look: &Inspection) -> Option<Finding> {
    let differences = look.differences();
    let first = differences.first()?;
    let more = match differences.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let advice = "another program changed the schema: keep a copy of the file as evidence; `colibri verify` \
                  examines the rest";
    Some(Finding::fail("schema", format!("{first}{more}"), advice))
}

/// Returns what can be said of a file with the tables of another release.
fn of_another_version(look: &Inspection) -> Vec<Finding> {
    let mut findings = vec![
        complaints("integrity", look.integrity(), "the whole file was checked"),
        complaints("references", look.dangling_references(), "every reference leads to a row"),
    ];
    findings.extend(audit_log(look));
    findings
}

/// Runs a check that lists complaints.
pub(super) fn complaints(check: &'static str, found: Result<Vec<String>, Fault>, sound: &str) -> Finding {
    match found {
        Ok(complaints) => match complaints.first() {
            None => Finding::ok(check, sound),
            Some(first) => {
                let more = match complaints.len() - 1 {
                    0 => String::new(),
                    more => format!(" (and {more} more)"),
                };
                Finding::fail(check, format!("{first}{more}"), RESTORE)
            }
        },
        Err(fault) => unreadable(check, &fault),
    }
}

pub(super) fn unreadable(check: &'static str, fault: &Fault) -> Finding {
    let reason = fault.to_string();
    Finding::fail(check, format!("the database cannot be read: {reason}"), remedy_of(&reason))
}

fn audit_log(look: &Inspection) -> Option<Finding> {
    const CHECK: &str = "audit log";
    match look.verify_log() {
        Ok(report) => report.map(|report| match report.finding {
            None => Finding::ok(
                CHECK,
                format!(
                    "{} closed calls, the chain is unbroken; its last hash is {}",
                    report.closed,
                    report.last_row_hash.as_str()
                ),
            ),
            Some(finding) => Finding::fail(
                CHECK,
                finding.to_string(),
                "another program changed the log: keep a copy of the file as evidence",
            ),
        }),
        Err(fault) => Some(unreadable(CHECK, &fault)),
    }
}

fn running(look: &Inspection) -> Option<Finding> {
    const CHECK: &str = "calls";
    match look.running() {
        Ok(running) => running.map(|running| match running.dead {
            0 => Finding::ok(CHECK, format!("{} running", running.alive)),
            dead => Finding::warn(
                CHECK,
                format!("{dead} interrupted when their server ended unexpectedly"),
                NEXT_START,
            ),
        }),
        Err(fault) => Some(unreadable(CHECK, &fault)),
    }
}

fn wal(look: &Inspection) -> Finding {
    const CHECK: &str = "write-ahead log";
    let bytes = look.wal_bytes();
    let message = format!("{} KiB", bytes.div_ceil(1024));
    if bytes <= LARGE_WAL_BYTES {
        return Finding::ok(CHECK, message);
    }
    let advice = "a program that keeps the database open keeps it from being emptied; end that program, and the \
                  next clean stop of a server empties it";
    Finding::warn(CHECK, message, advice)
}

fn lock_files(look: &Inspection) -> Finding {
    const CHECK: &str = "lock files";
    match look.dead_lock_files() {
        Ok(0) => Finding::ok(CHECK, "none left by ended processes"),
        Ok(dead) => {
            Finding::warn(CHECK, format!("{dead} left by servers that ended unexpectedly"), NEXT_START)
        }
        Err(error) => Finding::warn(
            CHECK,
            format!("the database's folder cannot be listed: {error}"),
            "check the folder's permissions",
        ),
    }
}
