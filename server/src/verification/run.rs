//! What all checks work with: the database, the findings, the way to say how far they are and to be stopped.

use colibri_runtime::chain::scan::Interrupt;

use super::finding::Findings;
use crate::store::db::Db;
use crate::store::walk::Stop;

/// Rows between two looks at the interrupt, and two words on progress.
const ROWS_BETWEEN: u64 = 256;

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The check.
    pub check: &'static str,
    /// Rows behind it.
    pub done: u64,
    /// Rows in all; 0 when nobody has counted them.
    pub total: u64,
}

/// How many of something a check has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// What was counted.
    pub what: &'static str,
    /// How many.
    pub number: u64,
}

/// One run over a database.
pub struct Run<'a> {
    /// The database, at one moment.
    pub db: &'a Db,
    interrupt: &'a Interrupt,
    report: &'a mut dyn FnMut(&Progress),
    progress: Progress,
    findings: Findings,
    warnings: Findings,
    counts: Vec<Count>,
}

impl<'a> Run<'a> {
    /// A run before its first check.
    pub fn new(db: &'a Db, interrupt: &'a Interrupt, report: &'a mut dyn FnMut(&Progress)) -> Self {
        let progress = Progress { check: "", done: 0, total: 0 };
        let (findings, warnings) = (Findings::default(), Findings::default());
        Self { db, interrupt, report, progress, findings, warnings, counts: Vec::new() }
    }

    /// A check begins, over that many rows.
    pub fn begin(&mut self, check: &'static str, total: u64) {
        self.progress = Progress { check, done: 0, total };
        (self.report)(&self.progress);
    }

    /// A row is done.
    ///
    /// # Errors
    /// [`Stop::Interrupted`].
    pub fn step(&mut self) -> Result<(), Stop> {
        self.progress.done += 1;
        if !self.progress.done.is_multiple_of(ROWS_BETWEEN) {
            return Ok(());
        }
        (self.report)(&self.progress);
        if self.interrupt.is_raised() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// A finding of the running check; see [`Findings::add`].
    pub fn found(&mut self, code: &'static str, describe: impl FnOnce() -> (String, String)) {
        self.findings.add(self.progress.check, code, describe);
    }

    /// A finding of another check than the running one.
    pub fn found_against(
        &mut self,
        check: &'static str,
        code: &'static str,
        describe: impl FnOnce() -> (String, String),
    ) {
        self.findings.add(check, code, describe);
    }

    /// Something that the server did not write and that breaks nothing: said, and no reason to call the file unsound.
    pub fn warned(&mut self, code: &'static str, describe: impl FnOnce() -> (String, String)) {
        self.warnings.add(self.progress.check, code, describe);
    }

    /// A number for the report.
    pub fn count(&mut self, what: &'static str, number: u64) {
        self.counts.push(Count { what, number });
    }

    /// The numbers of the check that has ended.
    pub(super) fn take_counts(&mut self) -> Vec<Count> {
        std::mem::take(&mut self.counts)
    }

    pub(super) fn findings(&self) -> &Findings {
        &self.findings
    }

    /// All findings.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// All findings, and all warnings.
    pub fn into_both(self) -> (Findings, Findings) {
        (self.findings, self.warnings)
    }
}
