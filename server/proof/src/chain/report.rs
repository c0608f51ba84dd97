//! The summary of a verification of chains (trail#verify-chain).

use std::collections::HashMap;

use super::walk::{ChainWalk, Content, StoredRecord};
use crate::record::ThoughtRecord;

/// The summary of a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainReport {
    /// Broken records, and the chain head if nothing else shows that it is wrong.
    pub broken_count: i64,
    /// Records walked.
    pub record_count: i64,
    /// Records with pruned content, so that only their links were checked.
    pub unverifiable_count: i64,
    /// The first broken record; what the chain head names if no record is broken.
    pub first_broken_at: Option<String>,
}

impl ChainReport {
    /// Checks whether nothing is broken.
    pub fn valid(&self) -> bool {
        self.broken_count == 0
    }

    /// Adds another chain's report: counts are summed, the first broken record stays the first.
    pub fn include(&mut self, chain: &Self) {
        self.broken_count += chain.broken_count;
        self.record_count += chain.record_count;
        self.unverifiable_count += chain.unverifiable_count;
        if self.first_broken_at.is_none() {
            self.first_broken_at.clone_from(&chain.first_broken_at);
        }
    }
}

/// One task's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskReport {
    /// The task.
    pub task_id: String,
    /// Its chain.
    pub chain: ChainReport,
}

/// The reports of many chains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainsReport {
    /// All chains together.
    pub total: ChainReport,
    /// Each of them, in the order in which their tasks first appear.
    pub by_task: Vec<TaskReport>,
}

/// Verifies one chain, given in insertion order, by its records alone (trail#verify-chain).
pub fn verify_chain(records: &[ThoughtRecord]) -> ChainReport {
    let mut walk = ChainWalk::new("", None);
    let mut scratch = Vec::new();
    for record in records {
        walk.push(&stored(record), &mut scratch, &mut |_| ());
    }
    walk.finish_records()
}

/// Verifies the chains of many tasks, whose records may be interleaved (trail#verify-chain).
pub fn verify_chains_by_task(records: &[ThoughtRecord]) -> ChainsReport {
    let mut walks: Vec<(&str, ChainWalk)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut scratch = Vec::new();
    for record in records {
        let place = *places.entry(&record.task_id).or_insert_with(|| {
            walks.push((&record.task_id, ChainWalk::new(&record.task_id, None)));
            walks.len() - 1
        });
        walks[place].1.push(&stored(record), &mut scratch, &mut |_| ());
    }
    let mut report = ChainsReport::default();
    for (task_id, walk) in walks {
        let chain = walk.finish_records();
        report.total.include(&chain);
        report.by_task.push(TaskReport { task_id: task_id.to_owned(), chain });
    }
    report
}

fn stored(record: &ThoughtRecord) -> StoredRecord<'_> {
    StoredRecord {
        id: &record.id,
        kind: record.kind.as_str(),
        task_id: &record.task_id,
        content: Content::Kept(&record.content),
        timestamp: &record.timestamp,
        prev_hash: record.prev_hash.as_str(),
        hash: record.hash.as_str(),
    }
}
