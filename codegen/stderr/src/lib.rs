//! Lines on standard error that never make the process wait.
//!
//! Hosts start servers with stderr as a pipe, and some never read it. A full pipe would stop the thread that writes a line: in a server
//! that is every client, and with a transaction open every other server on the same file. So a line is written at once or not at all.
//! [`Stderr`] counts what it drops, and tells the number in front of the next line that it can write.
//!
//! [`target`] says how a write is kept from waiting. A thread of its own for the writing was turned down: the end of the process would
//! have to wait for it, and lines would need a queue with a limit, which drops just as well.

mod lines;
mod target;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::Duration;

pub use lines::{Lines, say, told};
use target::Target;
pub use target::has_reader;

/// What POSIX lets a pipe take whole or not at all (`PIPE_BUF` on Linux). The second half of a longer line could land in another writer's.
pub const PIPE_LIMIT: usize = 4096;

/// How often a writer looks whether another thread is done, and how long it sleeps between. That thread does not wait for a reader
/// either, so this is enough, unless a disk below a redirected stderr hangs.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Standard error.
#[derive(Debug)]
pub struct Stderr {
    output: Mutex<Output>,
    dropped: AtomicU64,
}

#[derive(Debug)]
struct Output {
    target: Target,
    /// The end of a line of which a terminal or socket has taken the beginning.
    rest: Vec<u8>,
}

/// Returns the process's own. All of its writers share it, so that a line that is half written is completed before the next.
pub fn stderr() -> &'static Stderr {
    static STDERR: OnceLock<Stderr> = OnceLock::new();
    STDERR.get_or_init(|| Stderr::over(Target::of_stderr()))
}

impl Stderr {
    fn over(target: Target) -> Self {
        Self { output: Mutex::new(Output { target, rest: Vec::new() }), dropped: AtomicU64::new(0) }
    }

    /// Writes a line, newline included, or drops it. After dropped lines `told` makes the line that says how many, newline included.
    pub fn line(&self, line: &str, told: impl FnOnce(u64) -> String) {
        let written = soon(&self.output).is_some_and(|mut output| {
            let dropped = self.dropped.load(Ordering::Relaxed);
            if dropped > 0 {
                if !output.put(told(dropped).as_bytes()) {
                    return false;
                }
                self.dropped.fetch_sub(dropped, Ordering::Relaxed);
            }
            output.put(line.as_bytes())
        });
        if !written {
            self.count();
        }
    }

    /// Counts a line that the caller has dropped.
    pub fn count(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Passes on bytes of another writer, and returns how many were taken. Pieces end at the end of a line if they can, so that others'
    /// lines do not cut one in two.
    pub fn pass(&self, bytes: &[u8]) -> usize {
        let Some(mut output) = soon(&self.output) else { return 0 };
        let mut taken = 0;
        while taken < bytes.len() && output.put_rest() {
            let piece = &bytes[taken..bytes.len().min(taken + PIPE_LIMIT)];
            let end = piece.iter().rposition(|byte| *byte == b'\n').map_or(piece.len(), |at| at + 1);
            let length = output.target.write(&piece[..end]);
            taken += length;
            if length < end {
                break;
            }
        }
        taken
    }
}

impl Output {
    /// Writes all of it at once or, where the output takes less, the rest before anything else is written. Returns `false` if nothing
    /// was written.
    fn put(&mut self, bytes: &[u8]) -> bool {
        if !self.put_rest() {
            return false;
        }
        let written = self.target.write(bytes);
        if written > 0 {
            self.rest.extend_from_slice(&bytes[written..]);
        }
        written > 0
    }

    /// Returns whether no line is half written any more.
    fn put_rest(&mut self) -> bool {
        let written = self.target.write(&self.rest);
        self.rest.drain(..written);
        self.rest.is_empty()
    }
}

/// Locks a mutex whose holder is done soon; `None` if it is not.
pub fn soon<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..LOOKS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_LOOKS),
        }
    }
    None
}
