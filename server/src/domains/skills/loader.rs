//! Brings the rows of a root in line with its files, once each start (epsilon §9.3).

use std::path::Path;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::store::{Store, StoreFault};

use super::discovery::{Scan, scan, true_root};
use super::index::build_capability_index;
use super::store;
use crate::settings::keys::SKILLS_ROOT;
use crate::store::sqlite::SqliteStore;

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

/// Scans the root, then replaces what is stored of it in one transaction and swaps the live index. What is wrong
/// with single files, or with the root, is logged and no error: the table then holds what is left. `asked_for` says
/// that the operator has named the root, and so expects skills there.
///
/// # Errors
/// The store's. Table and index are as they were before.
pub fn load_skills_from_disk(
    store: &mut SqliteStore,
    root: &Path,
    asked_for: bool,
    prefix: &str,
    log: &dyn Log,
) -> Result<Loaded, StoreFault> {
    // Before the transaction: other processes must not wait for the disk's files.
    let found = scan(root, prefix);
    let (now, name) = (store.cx().now(), true_root(root));
    let pruned = store.write_at_boot(|db| match found.unreadable {
        Some(_) => store::without_directory(db, &name, &now),
        None => store::replace_all(db, &name, &found.skills, &now),
    })?;
    store.cx().set_skills_root(name);
    let declared = found.skills.iter().map(|skill| &skill.parsed.frontmatter);
    let index =
        build_capability_index(declared.map(|skill| (skill.name.as_str(), skill.capabilities.as_slice())));
    store.cx().set_capability_index(index);
    let loaded = Loaded {
        loaded: found.skills.len(),
        skipped: found.skipped.len(),
        pruned,
        total_on_disk: found.skills.len() + found.skipped.len(),
    };
    report(&found, asked_for, loaded, log);
    Ok(loaded)
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
