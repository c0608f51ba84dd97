//! Verification of stored chains: one task's, those of several, or all of them. Rows are streamed; memory does not
//! grow with the number of records.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Fault;
use colibri_runtime::progress::Progress;

use super::content::{Unpacker, content_of};
use super::store::{self, TrailRow};
use colibri_proof::chain::{ChainReport, ChainWalk, ChainsReport, Issue, StoredRecord, TaskReport};
use colibri_store::db::Db;

/// The most findings that a verification lists; it only counts the others (trail#verdict).
pub const MAX_REPORTED_ISSUES: usize = 100;

/// Up to this many chains are walked at once, in the order of the rows in the file. More chains are walked one after
/// the other, which reads rows out of order but keeps no walk open.
const MAX_OPEN_CHAINS: i64 = 50_000;

/// Records between two reports of progress.
const PROGRESS_RECORDS: u64 = 64;

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The chains, without a seal.
    pub chains: ChainsReport,
    /// Broken records, and failed checks of heads and seal.
    pub broken_count: i64,
    /// Id of the first broken record, or of its substitute; `None` if nothing is broken.
    pub first_broken_at: Option<String>,
    /// The first findings, at most [`MAX_REPORTED_ISSUES`].
    pub issues: Vec<Issue>,
    /// Whether further findings were only counted.
    pub issues_truncated: bool,
}

impl Verification {
    /// Returns whether nothing is broken.
    pub fn valid(&self) -> bool {
        self.broken_count == 0
    }
}

/// Verifies the chain of one task. An unknown task has a valid, empty chain.
///
/// # Errors
/// Storage faults; [`Fault::Other`] if interrupted. A finding is not an error.
pub fn verify_task(
    db: &Db,
    task_id: &str,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Verification, Fault> {
    let mut walker = Walker::new(db, interrupt, progress);
    walker.expect(|| store::count_thoughts(db, task_id))?;
    let chain = walker.chain_of(task_id)?;
    Ok(walker.summed(vec![chain]))
}

/// Verifies all chains, in the order of their first records. Chains without records, of which only the head exists,
/// come last.
///
/// # Errors
/// As for [`verify_task`].
pub fn verify_all(db: &Db, interrupt: &Interrupt, progress: &Progress) -> Result<Verification, Fault> {
    verify_chains(db, MAX_OPEN_CHAINS, interrupt, progress)
}

/// Does the same with at most this many open walks.
pub(super) fn verify_chains(
    db: &Db,
    most_open: i64,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Verification, Fault> {
    let mut walker = Walker::new(db, interrupt, progress);
    walker.expect(|| store::count_all(db))?;
    let mut chains = if store::has_more_chains_than(db, most_open)? {
        walker.one_after_the_other()?
    } else {
        walker.all_at_once()?
    };
    store::each_bare_head(db, |task_id, head| {
        let walk = ChainWalk::new(task_id, Some(&head));
        chains.push(walker.ended(task_id.to_owned(), i64::MAX, walk));
    })?;
    Ok(walker.summed(chains))
}

/// Verifies the chains of these tasks. Adds earlier findings after the new ones.
///
/// # Errors
/// As for [`verify_task`].
pub fn verify_tasks(
    db: &Db,
    tasks: &BTreeSet<String>,
    found: Findings,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Verification, Fault> {
    let mut walker = Walker::new(db, interrupt, progress);
    walker.expect(|| tasks.iter().map(|task| store::count_thoughts(db, task)).sum())?;
    let chains = tasks.iter().map(|task| walker.chain_of(task)).collect::<Result<_, Fault>>()?;
    walker.findings.append(found);
    Ok(walker.summed(chains))
}

/// A chain that was walked to its end, and the place of its first row.
type Ended = (i64, TaskReport);

/// A walker along chains, with its findings and the buffers that all rows share.
struct Walker<'a> {
    db: &'a Db,
    interrupt: &'a Interrupt,
    progress: &'a Progress,
    /// Records walked, and to be walked; the latter is counted only if the client wants to know.
    walked: u64,
    expected: u64,
    preimage: Vec<u8>,
    unpacker: Unpacker,
    findings: Findings,
}

impl<'a> Walker<'a> {
    fn new(db: &'a Db, interrupt: &'a Interrupt, progress: &'a Progress) -> Self {
        Self {
            db,
            interrupt,
            progress,
            walked: 0,
            expected: 0,
            preimage: Vec::new(),
            unpacker: Unpacker::default(),
            findings: Findings::default(),
        }
    }

    fn expect(&mut self, count: impl FnOnce() -> Result<i64, Fault>) -> Result<(), Fault> {
        if self.progress.is_wanted() {
            self.expected = count()?.unsigned_abs();
        }
        Ok(())
    }

    fn begun(&self, task_id: &str) -> Result<ChainWalk, Fault> {
        Ok(ChainWalk::new(task_id, store::tip(self.db, task_id)?.as_ref()))
    }

    fn step(&mut self, walk: &mut ChainWalk, row: &TrailRow<'_>) -> Result<bool, Fault> {
        if self.interrupt.is_raised() {
            return Err(Fault::Other("the verification was interrupted: the server is shutting down".into()));
        }
        let record = StoredRecord {
            id: row.id,
            kind: row.kind,
            task_id: row.task_id,
            content: content_of(row, &mut self.unpacker),
            timestamp: row.timestamp,
            prev_hash: row.prev_hash,
            hash: row.hash,
        };
        walk.push(&record, &mut self.preimage, &mut |issue| self.findings.add(issue));
        self.walked += 1;
        if self.walked.is_multiple_of(PROGRESS_RECORDS) {
            self.progress.report(self.walked, self.expected);
        }
        Ok(true)
    }

    fn ended(&mut self, task_id: String, begins: i64, walk: ChainWalk) -> Ended {
        let chain = walk.finish(&mut |issue| self.findings.add(issue));
        (begins, TaskReport { task_id, chain })
    }

    /// Walks along one task's chain.
    fn chain_of(&mut self, task_id: &str) -> Result<Ended, Fault> {
        let mut walk = self.begun(task_id)?;
        let mut begins = i64::MAX;
        store::each_row_of_task(self.db, task_id, |row| {
            begins = begins.min(row.seq);
            self.step(&mut walk, row)
        })?;
        Ok(self.ended(task_id.to_owned(), begins, walk))
    }

    /// Walks along all chains with rows, in one pass over the table.
    fn all_at_once(&mut self) -> Result<Vec<Ended>, Fault> {
        let mut walks: Vec<(Rc<str>, i64, ChainWalk)> = Vec::new();
        let mut places: HashMap<Rc<str>, usize> = HashMap::new();
        store::each_row_in_order(self.db, |row| {
            let place = match places.get(row.task_id) {
                Some(place) => *place,
                None => {
                    let task_id: Rc<str> = row.task_id.into();
                    walks.push((task_id.clone(), row.seq, self.begun(row.task_id)?));
                    places.insert(task_id, walks.len() - 1);
                    walks.len() - 1
                }
            };
            self.step(&mut walks[place].2, row)
        })?;
        drop(places);
        Ok(walks
            .into_iter()
            .map(|(task_id, begins, walk)| self.ended((*task_id).into(), begins, walk))
            .collect())
    }

    /// Walks along all chains with rows, in the index's order.
    fn one_after_the_other(&mut self) -> Result<Vec<Ended>, Fault> {
        let mut chains = Vec::new();
        let mut open: Option<(String, i64, ChainWalk)> = None;
        store::each_row_by_chain(self.db, |row| {
            if let Some((task_id, begins, walk)) = open.take_if(|(task_id, ..)| task_id != row.task_id) {
                chains.push(self.ended(task_id, begins, walk));
            }
            let (_, _, walk) = match &mut open {
                Some(open) => open,
                None => open.insert((row.task_id.to_owned(), row.seq, self.begun(row.task_id)?)),
            };
            self.step(walk, row)
        })?;
        chains.extend(open.map(|(task_id, begins, walk)| self.ended(task_id, begins, walk)));
        Ok(chains)
    }

    fn summed(self, mut chains: Vec<Ended>) -> Verification {
        // The sort is stable, so chains without rows keep their order.
        chains.sort_by_key(|(begins, _)| *begins);
        let mut report = ChainsReport::default();
        for (_, task) in chains {
            report.total.include(&task.chain);
            report.by_task.push(task);
        }
        let ChainReport { broken_count, first_broken_at, .. } = report.total.clone();
        Verification {
            chains: report,
            broken_count,
            first_broken_at,
            issues: self.findings.issues,
            issues_truncated: self.findings.truncated,
        }
    }
}

/// The first findings of a verification.
#[derive(Default)]
pub struct Findings {
    issues: Vec<Issue>,
    truncated: bool,
}

impl Findings {
    /// Keeps a finding, unless the list is full.
    pub fn add(&mut self, issue: Issue) {
        if self.issues.len() < MAX_REPORTED_ISSUES {
            self.issues.push(issue);
        } else {
            self.truncated = true;
        }
    }

    fn append(&mut self, others: Self) {
        self.truncated |= others.truncated;
        others.issues.into_iter().for_each(|issue| self.add(issue));
    }
}
