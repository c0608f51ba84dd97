//! What the server needs of SQLite below its SQL: a file layer that writes the log frames of a commit in one piece,
//! [`data_version`], which shows whether another connection has written, [`checkpoint`], which copies the log, and [`bound_heap`] with
//! [`heap_peak`] for commands that read files of others.
//!
//! SQLite writes each page of a commit to the write-ahead log by two system calls, 24 bytes of frame header and the page. A
//! call of this server makes two commits of 2 and 8 pages: 20 system calls, where one a commit would do. SQLite has no
//! setting for it, so a layer ([`register`], [`VFS`]) stands between SQLite and the operating system's layer. It
//! touches the log alone, and of the log only the writes inside [`gathered`]: there the frames of a commit are put together in
//! memory and written at once, when the frame comes that carries the commit mark.
//!
//! **Why this loses nothing.** Readers, this process's and others', believe the header of the log's index, which SQLite
//! moves after the last frame was written (<https://www.sqlite.org/walformat.html>, section 2.3); and recovery believes no frame
//! without a commit mark behind it. Both hold as before: the last frame's write returns when all frames were handed to the
//! operating system, or fails, and then SQLite undoes the commit. What was gathered never outlives the section, so that no
//! late write can land where another process has written meanwhile.

mod frames;
mod layer;

pub use layer::{RegisterError, VFS, bound_heap, checkpoint, data_version, heap_peak, register};

/// Runs a commit so that its log frames are written in one piece. Returns what `commit` returned, and whether the log had
/// lost its end.
///
/// For a statement that commits, on a connection opened with [`VFS`]; elsewhere it has no effect. What `commit` leaves
/// gathered without a commit mark is dropped: a commit that did not get to its last frame has failed.
///
/// `end` is how many bytes the log has. SQLite writes behind the last frame that its index knows, however short the file is by
/// then: where another program has cut it, frames would follow a gap, and recovery believes nothing behind one. Such a commit
/// fails with `SQLITE_IOERR_WRITE`, nothing of it is written, and the second value is `true`.
pub fn gathered<T>(end: Option<u64>, commit: impl FnOnce() -> T) -> (T, bool) {
    let section = frames::Section::open(end.and_then(|end| i64::try_from(end).ok()));
    let done = commit();
    let gap = section.met_gap();
    (done, gap)
}
