//! Verification of a whole database for auditors who trust neither the agent nor the server.
//!
//! One run reads the database at one moment and recomputes all that can be recomputed:
//!
//! 1. [`schema`]: the schema is the one that the migrations make, and the engine's own check passes;
//! 2. [`log`]: the chain of calls, its numbering and head; with it, the row that each call names;
//! 3. [`trail`]: the chains of thought records, each row by itself, the tips that seals recorded;
//! 4. [`seals`]: the sealed sessions and the chain of tree heads;
//! 5. [`consensus`]: rounds replayed from their signed votes;
//! 6. [`ties`]: rows against the calls that wrote them, both ways. [`tables`] lists the tables, and each
//!    domain declares what its rows must give;
//! 7. [`history`]: the events of each task folded, against its calls, its row and its claim;
//! 8. [`reputation`]: the ledger recomputed, and the standings, events and tokens that follow from it;
//! 9. [`skills`]: the registry against the digest of its last load;
//! 10. [`wraps`]: calls to wrapped servers against the runs of `colibri wrap`, and the pins of their tools.
//!
//! Each check reports through [`run::Run`], which keeps the first [`finding::Finding`] of each kind and counts the
//! others. An auditor keeps a [`checkpoint`](colibri_proof::checkpoint) outside the file; [`file`] reads and writes it.

mod callers;
pub(crate) mod consensus;
mod counters;
pub(crate) mod file;
pub mod finding;
pub(crate) mod history;
mod issue;
pub(crate) mod judgement;
pub(crate) mod log;
mod pinned;
pub(crate) mod reputation;
pub mod run;
pub(crate) mod schema;
pub(crate) mod seals;
pub(crate) mod skills;
pub mod tables;
pub mod ties;
pub mod trail;
mod wraps;

use std::collections::BTreeSet;
use std::thread::{self, ScopedJoinHandle};

use colibri_runtime::chain::scan::Interrupt;
use colibri_runtime::handler::Fault;
use serde::{Serialize, Serializer};

use self::callers::Callers;
use self::finding::Findings;
use self::log::Followers;
use self::run::{Count, Progress, Run};
use self::seals::Heads;
use self::ties::Ties;
use self::wraps::Wraps;
use crate::domains::proof::Signers;
use crate::domains::trail as records;
use colibri_proof::Verdict;
use colibri_proof::checkpoint::{Checkpoint, LogPosition, OpenCall, RecordsPin, ReputationPin};
use colibri_store::SharedSchema;
use colibri_store::db::Db;
use colibri_store::log::verify::LogEnd;
use colibri_store::shared_look as look;
use colibri_store::sqlite::look::inspect;
use colibri_store::sqlite::look::schema::{self as store_schema, Schema};
use colibri_store::walk::Stop;

/// The most chains that are walked at once; more are walked one after the other.
const MOST_OPEN_CHAINS: i64 = 50_000;

/// The schema that the migrations make, for either kind of database.
#[derive(Clone, Copy)]
pub enum Expected<'a> {
    /// Of a file.
    File(&'a Schema),
    /// Of a shared database.
    Shared(&'a SharedSchema),
}

/// Whether every row was looked up in every index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexes {
    /// It was.
    Checked,
    /// It was not: it would take longer than everything else, or the check did not run.
    LeftOut,
    /// It was not: PostgreSQL's extension `amcheck` is missing, or the login role may not call it.
    NoExtension,
}

/// The inputs of a run.
pub struct Options<'a> {
    /// The schema that the migrations make.
    pub expected: Expected<'a>,
    /// The trusted keys, and whether a signature is required.
    pub signers: Signers<'a>,
    /// An earlier checkpoint.
    pub checkpoint: Option<&'a Checkpoint>,
    /// Whether to take a checkpoint.
    pub take_checkpoint: bool,
    /// Interrupts the run.
    pub interrupt: &'a Interrupt,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Its name.
    pub check: &'static str,
    /// The number of its findings.
    pub findings: u64,
    /// The numbers of checked items.
    #[serde(serialize_with = "as_object")]
    pub counts: Vec<Count>,
}

fn as_object<S: Serializer>(counts: &[Count], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|count| (count.what, count.number)))
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The checks, in order.
    pub checks: Vec<CheckReport>,
    /// All findings.
    pub findings: Findings,
    /// Oddities that do not break anything.
    pub warnings: Findings,
    /// Whether every row was looked up in every index.
    pub indexes: Indexes,
    /// The end of the log; `None` if it cannot be read.
    pub log: Option<LogEnd>,
    /// The tree heads; `None` if they cannot be read.
    pub heads: Option<Heads>,
    /// The checkpoint, if one was requested and the database is valid.
    pub checkpoint: Option<Checkpoint>,
}

impl Report {
    /// Returns whether nothing was found.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns the verdict: a seal by a key that the reader did not give confirms nothing.
    pub fn verdict(&self) -> Verdict {
        let unconfirmed = self.heads.as_ref().is_some_and(|heads| heads.unconfirmed);
        Verdict::of(self.is_sound(), !unconfirmed)
    }
}

/// Runs all checks. The database must not change meanwhile: the caller holds a read transaction or excludes other
/// writers.
///
/// The engine's own check takes as long as all others together. It runs in its own thread if there is a connection `beside`
/// this one; SQLite's must see the same moment.
///
/// # Errors
/// [`Stop::Interrupted`]. Data that cannot be read is a finding; a lost connection is not, nor what the machine lacks.
pub fn verify(
    db: &Db,
    beside: Option<Db>,
    options: &Options<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, Stop> {
    match options.expected {
        Expected::File(expected) => verify_file(db, beside, expected, options, progress),
        Expected::Shared(expected) => thread::scope(|scope| {
            let indexes = beside.map(|beside| scope.spawn(move || look::check_indexes(&beside)));
            run_all(db, options, progress, |run| schema::check_shared(run, expected, indexes.map(join)))
        }),
    }
}

fn verify_file(
    db: &Db,
    beside: Option<Db>,
    expected: &Schema,
    options: &Options<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, Stop> {
    // This precedes any content: tables that differ from the expected schema are not read.
    let shape = store_schema::compare(db, expected);
    let known = BTreeSet::new();
    let readable = shape.as_ref().map_or(&known, |shape| &shape.readable);
    for db in [Some(db), beside.as_ref()].into_iter().flatten() {
        db.may_read(readable);
    }
    thread::scope(|scope| {
        let integrity = beside.zip(shape.as_ref().ok());
        // Without a thread the check runs here.
        let integrity = integrity.and_then(|(beside, shape)| {
            thread::Builder::new().spawn_scoped(scope, move || inspect::sanity(&beside, shape)).ok()
        });
        run_all(db, options, progress, |run| {
            schema::check(run, &shape, expected, |db, shape| {
                integrity.map_or_else(|| inspect::sanity(db, shape), join)
            })
        })
    })
}

/// Waits for the engine's own check.
fn join<T>(thread: ScopedJoinHandle<'_, Result<T, Fault>>) -> Result<T, Fault> {
    thread.join().unwrap_or_else(|_| Err(Fault::Other("the integrity check could not run".to_owned())))
}

fn run_all(
    db: &Db,
    options: &Options<'_>,
    progress: &mut dyn FnMut(&Progress),
    check_schema: impl FnOnce(&mut Run<'_>) -> Result<Indexes, Stop>,
) -> Result<Report, Stop> {
    let mut run = Run::new(db, options.interrupt, progress);
    let mut checks = Checks(Vec::new());
    let mut ties = Ties::new(tables::TIED_TABLES);
    let mut told = history::Calls::default();
    let wanted = trail::Wanted {
        most_open_chains: MOST_OPEN_CHAINS,
        pin: options.take_checkpoint,
        checkpoint: options.checkpoint,
    };
    let (mut callers, mut wraps) = (Callers::default(), Wraps::default());
    let log = checks.run(&mut run, log::NAME, |run| {
        let followers =
            Followers { ties: &mut ties, callers: &mut callers, told: &mut told, wraps: &mut wraps };
        log::check(run, followers, options.checkpoint)
    })?;
    let records = checks.run(&mut run, trail::NAME, |run| trail::check(run, &mut ties, &wanted))?;
    let heads =
        checks.run(&mut run, seals::NAME, |run| seals::check(run, options.signers, options.checkpoint))?;
    checks.run(&mut run, consensus::NAME, consensus::check)?;
    checks.run(&mut run, ties::NAME, |run| {
        ties.finish(run, &[records::ties::TABLE])?;
        callers.finish(run)
    })?;
    checks.run(&mut run, history::NAME, |run| history::check(run, told))?;
    let standing =
        checks.run(&mut run, reputation::NAME, |run| reputation::check(run, options.checkpoint))?;
    checks.run(&mut run, skills::NAME, skills::check)?;
    checks.run(&mut run, wraps::NAME, |run| wraps.finish(run))?;
    if let Some(checkpoint) = options.checkpoint {
        checks.run(&mut run, pinned::NAME, |run| {
            run.count("closed calls compared", checkpoint.log.last_exit_no.unsigned_abs());
            Ok(())
        })?;
    }
    // The schema check ends last and comes first in the report, because the others rely on it.
    let indexes = checks.run(&mut run, schema::NAME, check_schema)?;
    checks.0.rotate_right(1);
    let (mut findings, warnings) = run.into_both();
    findings.put_first(schema::NAME);
    let checkpoint = match (&log, records, &heads, standing) {
        (Some((end, open)), Some(records), Some(heads), Some(standing))
            if options.take_checkpoint && findings.is_empty() =>
        {
            Some(taken(end, open, records, heads, standing))
        }
        _ => None,
    };
    Ok(Report {
        checks: checks.0,
        findings,
        warnings,
        indexes: indexes.unwrap_or(Indexes::LeftOut),
        log: log.map(|(end, _)| end),
        heads,
        checkpoint,
    })
}

/// The result of a single check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartReport {
    /// The check.
    pub check: CheckReport,
    /// Its findings.
    pub findings: Findings,
    /// Oddities that do not break anything.
    pub warnings: Findings,
}

/// Runs the check of reputation alone. It trusts the log of calls.
///
/// # Errors
/// See [`Stop`]; here, data that SQLite cannot read is an error.
pub(crate) fn verify_reputation(
    db: &Db,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(&Progress),
) -> Result<PartReport, Stop> {
    let mut run = Run::new(db, interrupt, progress);
    reputation::check(&mut run, None)?;
    let counts = run.take_counts();
    let (findings, warnings) = run.into_both();
    let check = CheckReport { check: reputation::NAME, findings: findings.of(reputation::NAME), counts };
    Ok(PartReport { check, findings, warnings })
}

fn taken(
    end: &LogEnd,
    open: &[OpenCall],
    records: RecordsPin,
    heads: &Heads,
    reputation: ReputationPin,
) -> Checkpoint {
    Checkpoint {
        log: LogPosition {
            last_sequence_no: end.last_sequence_no,
            last_exit_no: end.last_exit_no,
            last_row_hash: end.last_row_hash,
        },
        open_calls: open.to_vec(),
        records,
        tree_heads: heads.pin(),
        reputation,
    }
}

/// The finished checks.
struct Checks(Vec<CheckReport>);

impl Checks {
    /// Runs a check. If the database does not answer, that is a finding, and the other checks still run.
    fn run<T>(
        &mut self,
        run: &mut Run<'_>,
        name: &'static str,
        check: impl FnOnce(&mut Run<'_>) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let db = run.db;
        let result = match db.apart(|| check(run)) {
            Ok(result) => Some(result),
            Err(Stop::Interrupted) => return Err(Stop::Interrupted),
            Err(Stop::Fault(fault)) if db.is_cut_off() => return Err(Stop::Fault(fault)),
            Err(Stop::Fault(Fault::Storage(reason) | Fault::Other(reason))) => {
                run.found_against(name, "UNREADABLE", || {
                    ("file".to_owned(), format!("the check could not go on: {reason}"))
                });
                None
            }
        };
        let counts = run.take_counts();
        self.0.push(CheckReport { check: name, findings: run.findings().of(name), counts });
        Ok(result)
    }
}
