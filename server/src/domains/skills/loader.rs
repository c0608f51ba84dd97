//! Brings the rows of a root in line with its files, once each start (skills#loading).

use std::path::Path;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::handler::Fault;

use super::discovery::{Scan, scan, true_root};
use super::store;
use crate::settings::keys::SKILLS_ROOT;
use crate::store::db::Db;

/// What a load did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Rows written.
    pub loaded: usize,
    /// Files found and rejected.
    pub skipped: usize,
    /// Rows of the root that were deleted, because their skill is not among the loaded ones.
    pub pruned: usize,
    /// Files found.
    pub total_on_disk: usize,
}

/// The skills of a root as the disk has them, on their way into the table.
pub struct Load {
    found: Scan,
    root: String,
}

impl Load {
    /// Scans the root. To be done before a transaction: other processes must not wait for the disk's files.
    pub fn scan(root: &Path, prefix: &str) -> Self {
        Self { found: scan(root, prefix), root: true_root(root) }
    }

    /// The root, as the database names it.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Replaces what is stored of the root, inside the caller's transaction; how many rows were deleted. A fault in a file, or
    /// in the root, is no error: the table then holds what is left.
    ///
    /// # Errors
    /// The store's.
    pub fn store(&self, db: &Db, now: &str) -> Result<usize, Fault> {
        match self.found.unreadable {
            Some(_) => store::without_directory(db, &self.root, now),
            None => store::replace_all(db, &self.root, &self.found.skills, now),
        }
    }

    /// What was done, and a line of the log for each file that was left out and one for the whole. `asked_for` says that
    /// the operator has named the root, and so expects skills there.
    pub fn report(&self, pruned: usize, asked_for: bool, log: &dyn Log) -> Loaded {
        let found = &self.found;
        let loaded = Loaded {
            loaded: found.skills.len(),
            skipped: found.skipped.len(),
            pruned,
            total_on_disk: found.skills.len() + found.skipped.len(),
        };
        report(found, asked_for, loaded, log);
        loaded
    }
}

/// A line for each file that was left out, and one for the whole. That the default directory is missing, or holds no
/// skill of ours, is how most folders are, and nothing to warn of.
fn report(found: &Scan, asked_for: bool, loaded: Loaded, log: &dyn Log) {
    for skipped in &found.skipped {
        log.write(Level::Warn, &skipped.to_string());
    }
    let Loaded { loaded, skipped, pruned, total_on_disk } = loaded;
    let mut line = format!(
        "[Startup] skills in {}: {total_on_disk} on disk, {loaded} loaded, {skipped} skipped, {pruned} pruned",
        found.root.display()
    );
    if let Some(reason) = &found.unreadable {
        line.push_str(&format!("; the directory cannot be read: {reason}"));
    }
    if found.left_out > 0 {
        line.push_str(&format!("; {} more directories were not looked at", found.left_out));
    }
    if (asked_for && loaded == 0) || skipped > 0 || found.left_out > 0 {
        line.push_str(&format!(
            "; {} names the directory, `colibri doctor` says what to do",
            SKILLS_ROOT.name
        ));
        log.write(Level::Warn, &line);
    } else {
        log.write(Level::Info, &line);
    }
}
