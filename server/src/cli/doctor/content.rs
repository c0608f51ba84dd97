//! The check of the whole file, recomputed as `colibri verify` recomputes it.

use colibri_runtime::chain::log::NoLog;
use colibri_runtime::handler::Fault;

use super::Finding;
use super::database::{complaints, unreadable};
use super::wraps;
use crate::cli::work::Work;
use crate::domains::proof::Signers;
use crate::domains::router::start::snapshot;
use crate::domains::skills::{path_on, roots};
use crate::lifecycle::preflight::database::RESTORE;
use crate::lifecycle::preflight::{epochs, router, skills};
use crate::migrations::MIGRATIONS;
use crate::settings::config::Config;
use crate::settings::rules::CandidateSource;
use crate::shared_schema::SCHEMA;
use crate::verification::finding::Found;
use crate::verification::{self, Expected, Indexes, Options, Report, log};
use colibri_proof::keys::TrustedKeys;
use colibri_store::shared_look::{self, Examined};
use colibri_store::sqlite::look::inspect::Inspection;
use colibri_store::sqlite::look::schema;
use colibri_store::sqlite::open::process;
use colibri_store::walk::Stop;
use colibri_store::{DatabaseUrl, Db};

const INTEGRITY: &str = "integrity";
const REFERENCES: &str = "references";
const AUDIT_LOG: &str = "audit log";
const CONTENT: &str = "content";

/// What is said of each kind of database.
struct Words {
    /// That the engine's own check is sound.
    sound: &'static str,
    /// What to do about damage.
    damaged: &'static str,
    /// What to do about content that does not match.
    changed: &'static str,
}

const OF_FILE: Words = Words {
    sound: "the whole file was checked",
    damaged: RESTORE,
    changed: "another program changed the file: keep a copy as evidence; `colibri verify` lists all findings",
};
const OF_SHARED: Words = Words {
    sound: "every index matches its table",
    damaged: "keep a copy of the server's data as evidence, and let the server's operator restore a backup beside it; \
              `colibri verify` lists all findings",
    changed: "someone with the owner's rights changed the database: keep a backup as evidence; `colibri verify` lists all \
              findings",
};

/// Recomputes a database of this release's schema.
pub fn check(look: &Inspection, trusted: &TrustedKeys, config: &Config, work: &mut Work<'_>) -> Vec<Finding> {
    match recomputed(look, trusted, config, work) {
        Ok((report, stored)) => {
            let mut findings =
                findings(&report, &OF_FILE, || complaints(INTEGRITY, look.integrity(), OF_FILE.sound));
            findings.extend(skills::gone(&stored.roots));
            findings.extend(stored.findings);
            findings
        }
        Err(fault) => vec![unreadable(INTEGRITY, &fault)],
    }
}

/// Recomputes a shared database of this release's schema.
pub fn check_shared(
    url: &DatabaseUrl,
    config: &Config,
    trusted: &TrustedKeys,
    work: &mut Work<'_>,
) -> Vec<Finding> {
    let unreadable = |reason: String| {
        vec![Finding::fail(
            CONTENT,
            reason,
            "correct what the message names, then run `colibri doctor` again",
        )]
    };
    let Examined { db, beside } = match shared_look::examine(url, &config.sharing.whole(), &SCHEMA) {
        Ok(examined) => examined,
        Err(error) => return unreadable(error.to_string()),
    };
    let options = Options {
        expected: Expected::Shared(&SCHEMA),
        signers: Signers { trusted, required: false },
        checkpoint: None,
        take_checkpoint: false,
        interrupt: &work.interrupt().clone(),
    };
    match verification::verify(&db, beside, &options, &mut |progress| work.show(progress)) {
        Ok(report) => {
            let mut findings = findings(&report, &OF_SHARED, || {
                Finding::warn(
                    INTEGRITY,
                    "the indexes were not compared with their tables: the extension amcheck is missing, or this role may not \
                     call bt_index_check",
                    "run pg_amcheck now and then, or let a superuser install the extension for this role",
                )
            });
            let (machine, stored) = (process::host(), Stored::read(&db, config));
            let here: Vec<String> =
                stored.roots.iter().filter_map(|root| path_on(&machine, root).map(str::to_owned)).collect();
            findings.extend(skills::gone(&here));
            findings.extend(stored.findings);
            findings
        }
        Err(Stop::Fault(fault)) => unreadable(fault.to_string()),
        Err(Stop::Interrupted) => unreadable("the verification was interrupted".to_owned()),
    }
}

/// What a start reads of a database besides the log.
struct Stored {
    /// The roots of stored skills: none if they cannot be read, which the report then says.
    roots: Vec<String>,
    findings: Vec<Finding>,
}

impl Stored {
    fn read(db: &Db, config: &Config) -> Self {
        let mut findings: Vec<Finding> = epochs::check(db, config.epoch_seconds).into_iter().collect();
        findings.extend(wraps::check(db));
        if config.router_candidates == CandidateSource::Db {
            findings.extend(router::candidates(&snapshot(config, Some(db), &NoLog)));
        }
        Self { roots: roots(db).unwrap_or_default(), findings }
    }
}

fn recomputed(
    look: &Inspection,
    trusted: &TrustedKeys,
    config: &Config,
    work: &mut Work<'_>,
) -> Result<(Report, Stored), Fault> {
    let expected = schema::expected(MIGRATIONS)?;
    let options = Options {
        expected: Expected::File(&expected),
        signers: Signers { trusted, required: false },
        checkpoint: None,
        take_checkpoint: false,
        interrupt: &work.interrupt().clone(),
    };
    let (report, stored) = look.at_one_moment(|db, beside| {
        (
            verification::verify(db, beside, &options, &mut |progress| work.show(progress)),
            Stored::read(db, config),
        )
    })?;
    let report = report.map_err(|stop| match stop {
        Stop::Fault(fault) => fault,
        Stop::Interrupted => Fault::Other("the verification was interrupted".to_owned()),
    })?;
    Ok((report, stored))
}

/// Returns one finding for each part: its first error, or that it has none. `indexes` stands for a check of the indexes that the
/// verification left out.
fn findings(report: &Report, words: &Words, indexes: impl Fn() -> Finding) -> Vec<Finding> {
    let end = report.log.map_or_else(
        || "it cannot be read".to_owned(),
        |end| {
            let (closed, hash) = (end.last_exit_no, end.last_row_hash);
            format!("{closed} closed calls, the chain is unbroken; its last hash is {}", hash.as_str())
        },
    );
    let parts = [
        (INTEGRITY, words.sound.to_owned()),
        (REFERENCES, "every reference leads to a row".to_owned()),
        (AUDIT_LOG, end),
        (CONTENT, "every row matches its call, its chain and its seal".to_owned()),
    ];
    let part = |(name, sound): (&'static str, String)| {
        let found: Vec<&Found> =
            report.findings.kinds().iter().filter(|found| part_of(found) == Some(name)).collect();
        match found.first() {
            // A verification skips the indexes of a large file.
            None if name == INTEGRITY && report.indexes != Indexes::Checked => indexes(),
            None => Finding::ok(name, sound),
            Some(first) => broken(name, &first.first, found.iter().map(|found| found.count).sum(), words),
        }
    };
    parts.into_iter().map(part).collect()
}

/// Returns the part that a finding belongs to; `None` for the schema, which is reported before the content is read.
fn part_of(found: &Found) -> Option<&'static str> {
    match (found.first.check, found.first.code) {
        (verification::schema::NAME, "FILE_DAMAGED") => Some(INTEGRITY),
        (verification::schema::NAME, "REFERENCE_BROKEN") => Some(REFERENCES),
        (verification::schema::NAME, _) => None,
        (log::NAME, _) => Some(AUDIT_LOG),
        _ => Some(CONTENT),
    }
}

fn broken(part: &'static str, first: &verification::finding::Finding, count: u64, words: &Words) -> Finding {
    let (subject, message) = (&first.subject, &first.message);
    let mut text =
        if message.starts_with(subject.as_str()) { message.clone() } else { format!("{subject}: {message}") };
    if count > 1 {
        text.push_str(&format!(" (and {} more)", count - 1));
    }
    match part {
        INTEGRITY | REFERENCES => Finding::fail(part, text, words.damaged),
        _ => Finding::fail(part, text, words.changed),
    }
}
