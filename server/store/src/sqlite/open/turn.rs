//! Waiting for the starts of other processes. A failure that a start or a reader meets during another start is
//! temporary, and becomes an error only if it lasts.

use std::fs::TryLockError;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::side_file;
use crate::sqlite::open::error::OpenError;
use colibri_proof::bounded_file;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Tries again while another program holds a SQLite lock. Not every step waits for such a lock by itself: the change
/// to a write-ahead log fails at once.
pub(crate) fn while_locked<T>(
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

/// Tries again while a start works on the database at `path` and the result may change with it. The result of an attempt
/// that began while no start was at work is final.
pub(crate) fn after_starts<T>(
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

/// Checks whether a start at work explains the result: the file is locked, or does not have all migrations yet.
pub(crate) fn is_of_a_start<T>(found: &Result<T, OpenError>) -> bool {
    matches!(found, Err(OpenError::Locked { .. } | OpenError::Older { .. }))
}

/// Checks whether a process has its turn in the write queue of the database at `path`. Creates nothing.
fn is_held(path: &Path) -> bool {
    let queue = path.canonicalize().and_then(|file| bounded_file::open(&side_file::named(&file, ".queue")));
    // If the lock is free, it is given back at once.
    queue.is_ok_and(|queue| matches!(queue.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
