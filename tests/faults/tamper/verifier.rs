//! The verification of the library, over a connection of the test's own that also does the tampering.

use std::path::Path;

use colibri::domains::proof::Signers;
use colibri::migrations::MIGRATIONS;
use colibri::verification::finding::Found;
use colibri::verification::run::{Progress, Run};
use colibri::verification::ties::Ties;
use colibri::verification::trail::{self, Wanted};
use colibri::verification::{Expected, Options, Report, verify};
use colibri_proof::checkpoint::Checkpoint;
use colibri_proof::keys::TrustedKeys;
use colibri_runtime::chain::scan::Interrupt;
use colibri_store::db::Db;
use colibri_store::sqlite::look::schema::{self, Schema};
use colibri_store::walk::Stop;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::tamper::world::PUBLIC_KEY;

/// A database, and what is known of it from before.
pub struct Verifier {
    pub db: Db,
    expected: Schema,
    trusted: TrustedKeys,
    pub checkpoint: Checkpoint,
}

impl Verifier {
    /// Opens a sound database, with the guards switched off that plain SQL runs into: as if they were dropped
    /// before each statement and put back after it.
    pub fn open(path: &Path) -> Self {
        let conn = Connection::open(path).unwrap();
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
        conn.execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF").unwrap();
        conn.set_prepared_statement_cache_capacity(256);
        let (expected, db) = (schema::expected(MIGRATIONS).unwrap(), Db::new(conn));
        let trusted = TrustedKeys::parse(PUBLIC_KEY).unwrap();
        let report = run(&db, &expected, &trusted, None, true);
        assert!(report.is_sound(), "{:#?}", report.findings);
        let checkpoint = report.checkpoint.unwrap();
        Self { db, expected, trusted, checkpoint }
    }

    /// What the file alone tells.
    pub fn inside(&self) -> Report {
        run(&self.db, &self.expected, &self.trusted, None, false)
    }

    /// What the file tells beside the checkpoint from before.
    pub fn with_checkpoint(&self) -> Report {
        run(&self.db, &self.expected, &self.trusted, Some(&self.checkpoint), false)
    }

    /// The findings of the trail alone, with so many chains walked at once.
    pub fn trail(&self, most_open_chains: i64) -> Vec<Found> {
        let (interrupt, mut quiet) = (Interrupt::default(), |_: &Progress| {});
        let mut run = Run::new(&self.db, &interrupt, &mut quiet);
        let mut ties = Ties::new(colibri::verification::tables::TIED_TABLES);
        let wanted = Wanted { most_open_chains, pin: true, checkpoint: Some(&self.checkpoint) };
        trail::check(&mut run, &mut ties, &wanted).unwrap();
        run.into_findings().kinds().to_vec()
    }

    /// Whether a run that is told to stop does so.
    pub fn stops_when_told(&self) -> bool {
        let interrupt = Interrupt::default();
        interrupt.raise();
        let options = Options {
            expected: Expected::File(&self.expected),
            signers: Signers { trusted: &self.trusted, required: false },
            checkpoint: None,
            take_checkpoint: false,
            interrupt: &interrupt,
        };
        verify(&self.db, None, &options, &mut |_| {}) == Err(Stop::Interrupted)
    }

    /// Does something, looks at what `look` wants to see, and undoes it. `None` when the engine refused.
    ///
    /// CHECK constraints stay ignored meanwhile: SQLite does not even read them on a connection that cannot write,
    /// which is the kind that the command opens.
    pub fn tampered<T>(&self, tamper: &[String], look: impl FnOnce(&Self) -> T) -> Option<T> {
        self.run("SAVEPOINT tampering").unwrap();
        self.run("PRAGMA ignore_check_constraints = ON").unwrap();
        let mut changed = 0;
        let done = tamper.iter().try_for_each(|sql| self.run(sql).map(|rows| changed += rows));
        let seen = (done.is_ok() && changed > 0).then(|| look(self));
        self.run("PRAGMA ignore_check_constraints = OFF").unwrap();
        self.run("ROLLBACK TO tampering").unwrap();
        self.run("RELEASE tampering").unwrap();
        seen
    }

    fn run(&self, sql: &str) -> Result<usize, String> {
        self.db.changed(sql, &[]).map_err(|fault| fault.to_string())
    }
}

fn run(
    db: &Db,
    expected: &Schema,
    trusted: &TrustedKeys,
    checkpoint: Option<&Checkpoint>,
    take_checkpoint: bool,
) -> Report {
    let interrupt = Interrupt::default();
    let signers = Signers { trusted, required: false };
    let options = Options {
        expected: Expected::File(expected),
        signers,
        checkpoint,
        take_checkpoint,
        interrupt: &interrupt,
    };
    verify(db, None, &options, &mut |_| {}).unwrap()
}
