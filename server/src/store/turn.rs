//! Waiting for the starts of other processes: what a start or a reader meets while another start is at work passes, and
//! is an error only if it lasts.

use std::fs::TryLockError;
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::OpenError;
use super::side_file;
use colibri_proof::command::bounded_file;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Tries again while another program holds a lock of SQLite's. Not every step waits for such a lock by itself: the change
/// to a write-ahead log fails at once.
pub(super) fn while_locked<T>(
    until: Instant,
    mut attempt: impl FnMut() -> Result<T, OpenError>,
) -> Result<T, OpenError> {
    loop {
        match attempt() {
            Err(OpenError::Locked { .. }) if Instant::now() < until => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Tries again while a start is at work on the database at `path` and what was found may change with it. What an attempt
/// finds that began while no start was at work stays.
pub(super) fn after_starts<T>(
    path: &Path,
    until: Instant,
    may_change: impl Fn(&T) -> bool,
    mut attempt: impl FnMut() -> T,
) -> T {
    let mut quiet = false;
    loop {
        let found = attempt();
        if quiet || !may_change(&found) || Instant::now() >= until {
            return found;
        }
        quiet = !is_held(path);
        if !quiet {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether a start at work explains it: the file is locked, or does not have all migrations yet.
pub(super) fn is_of_a_start<T>(found: &Result<T, OpenError>) -> bool {
    matches!(found, Err(OpenError::Locked { .. } | OpenError::Older { .. }))
}

/// Whether a process has its turn in the write queue of the database at `path`. Creates nothing.
fn is_held(path: &Path) -> bool {
    let queue = path.canonicalize().and_then(|file| bounded_file::open(&side_file::named(&file, ".queue")));
    // The lock, where it is free, is given back at once.
    queue.is_ok_and(|queue| matches!(queue.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
