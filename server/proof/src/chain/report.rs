//! The summary of a verification of chains (trail#verify-chain).

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
