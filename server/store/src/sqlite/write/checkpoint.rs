//! Copies the log into the database beside the loop, so that no reply waits for it (store#checkpoints).
//!
//! SQLite would do it inside the commit that makes the log long enough. That call would wait for two or three syncs
//! and some hundred page writes. Here a thread with a connection of its own does it, in two passes. The long one runs
//! while other processes write. The short one copies what came meanwhile, at its turn in the write queue. Only when all
//! is copied may the next writer start the log anew at its beginning, which is what keeps it from growing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::sqlite::open::connection::{self, Location};
use crate::sqlite::open::identity::Place;
use crate::sqlite::write::queue::WriteQueue;
use crate::sqlite::write::transactions::{Files, Latch};

/// The log is copied when it has this many pages: 4 MiB, as much as SQLite's own default. A longer log would be
/// copied less often, and take longer to read after a crash.
const FRAMES: u32 = 2000;

/// How long the second pass waits for its turn. A stop waits for the thread, and the next wish tries again.
const PATIENCE: Duration = Duration::from_secs(1);

/// The copying of one database's log.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    location: Location,
    /// The files that the loop's connection has open. Nothing is copied once another file has one of their names.
    place: Arc<Place>,
    /// How long the log was after the last commit of this process, in pages.
    frames: Arc<AtomicU32>,
    /// How long it may become before it is copied again; moves on where a reader holds the log.
    due: u32,
    /// Once it is set, what the log holds may read as something else.
    latch: Latch,
    worker: Option<Worker>,
}

#[derive(Debug)]
struct Worker {
    /// Takes one wish; while it waits, another is one too many.
    wishes: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Checkpoints {
    /// Takes the copying over from `conn`, which has done it in its commits so far. `None` for a database without a log.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn of(
        conn: &mut Connection,
        location: &Location,
        files: Option<&Files>,
        latch: &Latch,
    ) -> rusqlite::Result<Option<Self>> {
        let Some(files) = files else { return Ok(None) };
        let frames = Arc::new(AtomicU32::new(0));
        let seen = frames.clone();
        conn.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            seen.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Some(Self {
            location: location.clone(),
            place: files.place.clone(),
            frames,
            due: FRAMES,
            latch: latch.clone(),
            worker: None,
        }))
    }

    /// Has the log copied if it is long enough; returns at once.
    pub(crate) fn wish_if_due(&mut self) {
        let frames = self.frames.load(Ordering::Relaxed);
        if frames < FRAMES {
            self.due = FRAMES;
        }
        if frames < self.due {
            return;
        }
        self.due = frames.saturating_add(FRAMES);
        let worker = match self.worker.take() {
            Some(worker) => worker,
            // Without a thread the log grows until one can be started, or until the stop.
            None => match Worker::start(self.location.clone(), self.place.clone(), self.latch.clone()) {
                Ok(worker) => worker,
                Err(_) => return,
            },
        };
        // A full channel means that a wish is waiting already.
        let _ = worker.wishes.try_send(());
        self.worker = Some(worker);
    }

    /// Waits for the copying in progress, and ends the thread.
    fn stop(&mut self) {
        if let Some(Worker { wishes, thread }) = self.worker.take() {
            drop(wishes);
            // Even if the thread panicked, the log that it left is complete.
            let _ = thread.join();
        }
    }
}

impl Drop for Checkpoints {
    /// Stops the thread, so that a store dropped without a stop leaves no connection behind.
    fn drop(&mut self) {
        self.stop();
    }
}

impl Worker {
    fn start(location: Location, place: Arc<Place>, latch: Latch) -> std::io::Result<Self> {
        let (wishes, wished) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || copy_when_wished(&location, &wished, &place, &latch))?;
        Ok(Self { wishes, thread })
    }
}

/// Copies on each wish. What could not be copied stays in the log, where it is safe; the next wish tries again.
fn copy_when_wished(location: &Location, wished: &Receiver<()>, place: &Place, latch: &Latch) {
    let mut open = None;
    let may = || latch.get().is_none() && place.names().is_ok();
    while wished.recv().is_ok() {
        if open.is_none() && may() {
            open = open_beside(location);
        }
        if let Some((conn, queue)) = &mut open
            && copy(conn, may)
            && queue.enter_within(PATIENCE).unwrap_or(false)
        {
            // While a reader uses the log, it cannot be copied to its end. That is not a failure.
            copy(conn, may);
            queue.leave();
        }
    }
}

fn open_beside(location: &Location) -> Option<(Connection, WriteQueue)> {
    // Without the settings for statements: it executes none, and SQLite syncs when it copies unless it is told otherwise.
    let conn = connection::read_write(location).ok()?;
    let queue = WriteQueue::open(location.file()?).ok()?;
    Some((conn, queue))
}

/// Copies the frames of the log that no reader needs; returns whether it succeeded. SQLite syncs the log first, and the
/// database at the end.
fn copy(conn: &Connection, may: impl FnOnce() -> bool) -> bool {
    may() && colibri_wal::checkpoint(conn)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use colibri_runtime::chain::store::StoreFault;

    use super::*;

    /// How much the file has grown by when a log of more than [`FRAMES`] pages was to be copied.
    fn grown(latched: bool) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.db");
        let location = Location::File(path.clone());
        let mut conn = connection::read_write(&location).unwrap();
        conn.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (b)").unwrap();
        let files = Files { place: Arc::new(Place::of(&path, &path).unwrap()), log: None, durable: true };
        let latch = Latch::default();
        let mut checkpoints = Checkpoints::of(&mut conn, &location, Some(&files), &latch).unwrap().unwrap();
        let before = std::fs::metadata(&path).unwrap().len();
        conn.execute("INSERT INTO t VALUES (zeroblob(?1))", [FRAMES * 4200]).unwrap();
        if latched {
            latch.set(StoreFault("the disk is gone".into())).unwrap();
        }
        checkpoints.wish_if_due();
        checkpoints.stop();
        std::fs::metadata(&path).unwrap().len() - before
    }

    #[test]
    fn a_long_log_is_copied_beside_the_loop() {
        assert!(grown(false) >= u64::from(FRAMES) * 4096);
    }

    #[test]
    fn after_a_failed_sync_nothing_is_copied() {
        assert_eq!(grown(true), 0);
    }
}
