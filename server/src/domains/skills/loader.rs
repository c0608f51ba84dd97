//! Updates the rows of a root from its files, once at each start (skills#loading).

use std::path::Path;

use colibri_runtime::handler::Fault;

use super::discovery::{Scan, scan, true_root};
use super::store;
use colibri_canonical::HexDigest;
use colibri_store::db::Db;

/// The result of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Rows written.
    pub loaded: usize,
    /// Files found and rejected.
    pub skipped: usize,
    /// Rows of the root that were deleted, because their skill was not loaded.
    pub pruned: usize,
    /// Files found.
    pub total_on_disk: usize,
}

/// The skills of a root as found on disk, before they are stored.
pub struct Load {
    found: Scan,
    root: String,
}

impl Load {
    /// Scans the root. Call it before a transaction, so that other processes do not wait for the disk.
    pub fn scan(root: &Path, prefix: &str) -> Self {
        Self { found: scan(root, prefix), root: true_root(root) }
    }

    /// Names the machine that the root is on, for a database that several machines share: the same path is another directory
    /// there.
    pub fn on(mut self, machine: Option<&str>) -> Self {
        self.root = root_on(machine, &self.root);
        self
    }

    /// Returns the root's name in the database.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Replaces the stored rows of the root, inside the caller's transaction, and returns how many were deleted. A
    /// fault in a file or in the root is not an error: the table then holds the remaining skills.
    ///
    /// # Errors
    /// The store's error.
    pub fn store(&self, db: &Db, now: &str) -> Result<usize, Fault> {
        match self.found.unreadable {
            Some(_) => store::without_directory(db, &self.root, now),
            None => store::replace_all(db, &self.root, &self.found.skills, now),
        }
    }

    /// Returns what was found on disk.
    pub fn found(&self) -> &Scan {
        &self.found
    }

    /// Returns the numbers of a load that has deleted so many rows.
    pub fn counts(&self, pruned: usize) -> Loaded {
        let found = &self.found;
        Loaded {
            loaded: found.skills.len(),
            skipped: found.skipped.len(),
            pruned,
            total_on_disk: found.skills.len() + found.skipped.len(),
        }
    }
}

/// The longest path that is part of a root's name on a shared database, in bytes. An index entry of PostgreSQL has about 2,700, and
/// holds the names of the machine and of a skill, too.
const LONGEST_PATH: usize = 2_000;
/// What stands before the digest of a longer one.
const DIGEST: &str = "sha256:";

/// Returns the name of a root in a database that several machines share; without a machine it is the path itself. The digest of a
/// very long path stands for it.
pub fn root_on(machine: Option<&str>, root: &str) -> String {
    match machine {
        None => root.to_owned(),
        Some(machine) if root.len() > LONGEST_PATH => {
            format!("{machine}:{DIGEST}{}", HexDigest::of(root.as_bytes()).as_str())
        }
        Some(machine) => format!("{machine}:{root}"),
    }
}

/// Returns the path of a root that is on that machine; `None` if it is another machine's, or if only a digest is left of it.
pub fn path_on<'a>(machine: &str, root: &'a str) -> Option<&'a str> {
    root.strip_prefix(machine)?.strip_prefix(':').filter(|path| !path.starts_with(DIGEST))
}
