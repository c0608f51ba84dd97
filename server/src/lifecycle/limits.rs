//! What a process needs from the machine before it does anything: file descriptors, a clock that can be written down, and a
//! limit on the length of files that causes an error and does not end the process.

use std::fs::File;
use std::io;

use colibri_runtime::kernel::{Clock, LAST_MS};
use colibri_store::private_file;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// File descriptors that a start needs besides the three streams: the streams of signals and of the loop, the database's
/// files, locks, and one connection beside the loop.
const DESCRIPTORS: usize = 24;
/// How long the files must be allowed to become, in bytes: a new database takes about 220 KiB.
const FILE_BYTES: u64 = 512 << 10;
/// More file descriptors than a signal's handler and its runtime need.
const SIGNAL_DESCRIPTORS: usize = 8;
/// `SIGXFSZ` of Linux and macOS: a file would become longer than the process may write.
const FILE_SIZE_SIGNAL: i32 = 25;

/// Checks that a server can start at all.
///
/// # Errors
/// One sentence that says what is missing and what to do.
pub fn check(clock: &dyn Clock) -> Result<(), String> {
    if clock.wall_ms() >= LAST_MS {
        return Err("the machine's clock shows a time after the year 9999; set the clock, then start again"
            .to_owned());
    }
    if let Some(bytes) = longest_file().filter(|bytes| *bytes < FILE_BYTES) {
        return Err(format!(
            "this process may write files of at most {} KiB; raise the limit (`ulimit -f`), then start again",
            bytes / 1024
        ));
    }
    are_left(DESCRIPTORS).map_err(|error| {
        format!("fewer than {DESCRIPTORS} file descriptors are left ({error}); raise the limit (`ulimit -n`), then start again")
    })
}

/// Returns the most bytes that a file which this process writes may have; `None` without a limit.
pub(super) fn longest_file() -> Option<u64> {
    private_file::longest()
}

/// Checks that the process may open so many more files.
fn are_left(descriptors: usize) -> io::Result<()> {
    (0..descriptors).map(|_| File::open("/")).collect::<io::Result<Vec<File>>>().map(drop)
}

/// Makes a write beyond the limit on the length of files (`ulimit -f`) fail with an error, where it would end the process.
/// Call it inside a runtime; the signal's handler stays for the life of the process.
///
/// # Errors
/// No handler can be installed.
pub(super) fn ignore_file_size_signal() -> io::Result<()> {
    signal(SignalKind::from_raw(FILE_SIZE_SIGNAL)).map(drop)
}

/// Does the same for a command, which has no runtime of its own.
///
/// # Errors
/// No handler can be installed.
pub fn ignore_file_size_signal_in_command() -> io::Result<()> {
    let runtime = for_signals()?;
    let _inside = runtime.enter();
    ignore_file_size_signal()
}

/// Returns a runtime in which a thread of a command waits for signals.
///
/// # Errors
/// Too few file descriptors are left.
pub(crate) fn for_signals() -> io::Result<Runtime> {
    // Tokio panics if it gets no descriptors.
    are_left(SIGNAL_DESCRIPTORS)?;
    tokio::runtime::Builder::new_current_thread().enable_io().build()
}
