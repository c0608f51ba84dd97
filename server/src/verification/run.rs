//! The tools of all checks: the database, the findings, progress reports and the interrupt.

use colibri_runtime::chain::scan::Interrupt;

use super::finding::Findings;
use colibri_store::db::Db;
use colibri_store::walk::Stop;

/// Rows between two checks of the interrupt, and between two progress reports.
const ROWS_BETWEEN: u64 = 256;

/// The progress of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The check.
    pub check: &'static str,
    /// Rows already checked.
    pub done: u64,
    /// All rows; 0 if the number is unknown.
    pub total: u64,
}

/// A number of items that a check has examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The kind of item.
    pub what: &'static str,
    /// The number.
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
    /// Makes a run before its first check.
    pub fn new(db: &'a Db, interrupt: &'a Interrupt, report: &'a mut dyn FnMut(&Progress)) -> Self {
        let progress = Progress { check: "", done: 0, total: 0 };
        let (findings, warnings) = (Findings::default(), Findings::default());
        Self { db, interrupt, report, progress, findings, warnings, counts: Vec::new() }
    }

    /// Begins a check over this many rows.
    pub fn begin(&mut self, check: &'static str, total: u64) {
        self.progress = Progress { check, done: 0, total };
        (self.report)(&self.progress);
    }

    /// Counts a row as done.
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

    /// Records a finding of the running check; see [`Findings::add`].
    pub fn found(&mut self, code: &'static str, describe: impl FnOnce() -> (String, String)) {
        self.findings.add(self.progress.check, code, describe);
    }

    /// Records a finding of another check than the running one.
    pub(crate) fn found_against(
        &mut self,
        check: &'static str,
        code: &'static str,
        describe: impl FnOnce() -> (String, String),
    ) {
        self.findings.add(check, code, describe);
    }

    /// Records an oddity that the server did not write and that breaks nothing. It is reported, but the file stays
    /// valid.
    pub fn warned(&mut self, code: &'static str, describe: impl FnOnce() -> (String, String)) {
        self.warnings.add(self.progress.check, code, describe);
    }

    /// Records a number for the report.
    pub fn count(&mut self, what: &'static str, number: u64) {
        self.counts.push(Count { what, number });
    }

    /// Returns the numbers of the check that has ended.
    pub(super) fn take_counts(&mut self) -> Vec<Count> {
        std::mem::take(&mut self.counts)
    }

    pub(super) fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns all findings.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    /// Returns all findings and all warnings.
    pub(crate) fn into_both(self) -> (Findings, Findings) {
        (self.findings, self.warnings)
    }
}
