//! What would keep a start from writing to a database, for `colibri doctor`. It creates and changes nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::sqlite::write::holder;
use crate::sqlite::write::queue::WriteQueue;

/// How long an obstacle must last: the turns of servers are far shorter.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between two checks of a lock.
const PAUSE: Duration = Duration::from_millis(5);

/// An obstacle that a start would wait for in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A Colibri process holds the write queue; its name.
    Queue(String),
    /// Another program holds a SQLite lock; its name.
    Lock(String),
}

/// Waits a moment for a turn, as a start does, and then for SQLite's locks to be free. Call it before this process opens
/// the database: closing another handle on it later would drop SQLite's locks.
pub fn find(path: &Path) -> Option<Obstacle> {
    let file = path.canonicalize().ok()?;
    let mut queue = WriteQueue::open_existing(&file);
    if let Some(queue) = &mut queue
        && matches!(queue.enter_within(PATIENCE), Ok(false))
    {
        return Some(Obstacle::Queue(queue.holder()));
    }
    // During this process's turn no server writes, so any lock is another program's.
    let until = Instant::now() + PATIENCE;
    loop {
        let holder = holder::of_any_lock(&file)?;
        if Instant::now() >= until {
            return Some(Obstacle::Lock(holder));
        }
        std::thread::sleep(PAUSE);
    }
}
