//! The write queue of all processes that share a database (design §3, alpha §7.3).
//!
//! SQLite's busy handler polls, and a process that polls can starve: eight writers made one of them
//! wait 7.7 s. Waiting on an operating-system lock first brings that down to milliseconds.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use super::placement::Pair;
use super::side_file;

/// The most that is read of the queue's file: what it holds is far shorter.
const NOTE_BYTES: u64 = 4096;

/// This process's place in the queue: an exclusive lock on `<path>.queue`, held from before `BEGIN
/// IMMEDIATE` until after `COMMIT`, never during a sync. The file is never deleted: two processes
/// locking two files of one name would both believe to be first.
#[derive(Debug)]
pub struct WriteQueue {
    file: File,
    held: bool,
}

impl WriteQueue {
    /// Opens the queue of the database at `path`, creating its file if there is none.
    ///
    /// # Errors
    /// The file cannot be opened or created.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = side_file::create(&side_file::named(path, ".queue"))?;
        Ok(Self { file, held: false })
    }

    /// Waits for its turn. Does nothing when it is in already.
    ///
    /// # Errors
    /// The operating system's; a signal only starts the wait anew.
    pub fn enter(&mut self) -> io::Result<()> {
        while !self.held {
            match self.file.lock() {
                Ok(()) => self.held = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What the file of the queue says of the database at `path`; `None` where it says nothing that this version understands.
    pub(super) fn read_note(path: &Path) -> Option<Pair> {
        let mut text = String::new();
        let file = File::open(side_file::named(path, ".queue")).ok()?;
        file.take(NOTE_BYTES).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes down what the next start will want to know. To be called in the queue.
    ///
    /// # Errors
    /// The operating system's.
    pub(super) fn write_note(&mut self, pair: &Pair) -> io::Result<()> {
        let text = serde_json::to_string(pair)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len().try_into().unwrap_or(u64::MAX))
    }

    /// Lets the next one in. Does nothing when it is not in.
    pub fn leave(&mut self) {
        if self.held {
            // Unlocking a lock that is held fails on no system we know; closing the file would do it too.
            let _ = self.file.unlock();
            self.held = false;
        }
    }
}
