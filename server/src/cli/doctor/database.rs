//! The database's part of the examination.

use std::path::Path;

use colibri_runtime::handler::Fault;

use super::{Finding, content, shared};
use crate::cli::work::Work;
use crate::lifecycle::preflight::database::{GO_BACK, RESTORE, differences, refused, remedy_of};
use crate::migrations::MIGRATIONS;
use crate::settings::config::Config;
use crate::settings::mode::{Mode, capabilities_for};
use colibri_proof::keys::TrustedKeys;
use colibri_store::sqlite::look::engine::engine;
use colibri_store::sqlite::look::inspect::{Header, Inspection};
use colibri_store::sqlite::open::error::OpenError;
use colibri_store::sqlite::open::is_there;
use colibri_store::sqlite::open::migrate::latest;
use colibri_store::sqlite::write::obstacle::{self, Obstacle};

/// A write-ahead log beyond this has not been emptied for long (SQLite does so at about 4 MB).
const LARGE_WAL_BYTES: u64 = 64 * 1024 * 1024;

const NEXT_START: &str = "nothing to do: the next start in FULL cleans up";

/// Examines the configured database, and checks its seals with the trusted keys.
pub fn check(config: &Config, trusted: &TrustedKeys, work: &mut Work<'_>) -> Vec<Finding> {
    if config.mode == Mode::Minimal {
        return vec![Finding::ok("database", "MINIMAL opens no database")];
    }
    if config.ephemeral_db {
        let message = "each server in TEST creates its own database in data/ and removes it when it stops";
        return vec![Finding::ok("database", message)];
    }
    let Some(path) = config.place.file() else {
        return shared::check(config, trusted, work);
    };
    if config.place.is_memory() {
        return vec![Finding::warn(
            "database",
            "the database is in memory and ends with the server",
            "set COLIBRI_DB_PATH to a file to keep the data",
        )];
    }
    let writes = capabilities_for(config.mode).write_database;
    match is_there(path, !writes) {
        Err(error) => return vec![refused(&error)],
        Ok(false) => {
            let state = if path.exists() { "is empty" } else { "does not exist yet" };
            let message =
                format!("{} {state}; the first start in {} creates it", path.display(), config.mode);
            return vec![Finding::ok("database", message)];
        }
        Ok(true) => {}
    }
    if writes && let Some(obstacle) = obstacle::find(path) {
        return vec![standstill(path, &obstacle)];
    }
    let look = match Inspection::open(path, MIGRATIONS) {
        Ok(look) => look,
        Err(error) => return vec![refused(&error.kind)],
    };
    let mut findings = vec![Finding::ok("database", format!("{} can be read", path.display())), sqlite()];
    match look.refused_by_header(MIGRATIONS, !writes) {
        Ok(Some(error @ OpenError::Foreign { .. })) => {
            findings.push(refused(&error));
            return findings;
        }
        Ok(refusal) => findings.extend(schema(&look, refusal.as_ref(), trusted, config, work)),
        Err(fault) => findings.push(unreadable("schema", &fault)),
    }
    findings.extend(running(&look));
    findings.push(wal(&look));
    findings.push(lock_files(&look));
    findings
}

/// Tells how SQLite is compiled: a build may have been given other options, or another SQLite.
fn sqlite() -> Finding {
    const CHECK: &str = "sqlite";
    match engine() {
        Ok((version, differs)) if differs.is_empty() => {
            Finding::ok(CHECK, format!("{version}, compiled as it was tested"))
        }
        Ok((version, differs)) => Finding::warn(
            CHECK,
            format!("{version}, compiled otherwise than it was tested: {}", differs.join(" ")),
            "take a package of the release, or build without LIBSQLITE3_FLAGS and LIBSQLITE3_SYS_USE_PKG_CONFIG",
        ),
        Err(fault) => unreadable(CHECK, &fault),
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
            format!("database is locked: {shown} is held by another program, {holder}"),
            "end that program or let it finish; until then no server starts on the database and no call is entered",
        ),
    };
    Finding::fail("database", message, advice)
}

/// Checks the schema, and what the tables hold as far as this release knows them.
fn schema(
    look: &Inspection,
    refusal: Option<&OpenError>,
    trusted: &TrustedKeys,
    config: &Config,
    work: &mut Work<'_>,
) -> Vec<Finding> {
    const CHECK: &str = "schema";
    let Header { schema_version: version, tables, .. } = match look.header() {
        Ok(header) => header,
        Err(fault) => return vec![unreadable(CHECK, &fault)],
    };
    let newest = latest(MIGRATIONS);
    let mut findings = vec![match refusal {
        Some(error) => refused(error),
        None if version < newest => Finding::warn(
            CHECK,
            format!("version {version} is older than {newest}"),
            format!("the next start in FULL migrates it; {GO_BACK}"),
        ),
        None => Finding::ok(CHECK, format!("version {version}, {tables} tables")),
    }];
    findings.extend(differences(&look.differences()));
    findings.extend(look.refused_by_ends().as_ref().map(refused));
    findings.extend(match version == newest {
        true => content::check(look, trusted, config, work),
        false => of_another_version(look),
    });
    findings
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
    if let Some(gap) = look.log_gap() {
        return Finding::warn(CHECK, format!("calls may be missing: {}", gap.what()), gap.advice());
    }
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
