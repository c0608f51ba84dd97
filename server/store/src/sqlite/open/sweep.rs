//! Closes the calls of dead processes at boot (store#process-locks).

use std::path::Path;

use rusqlite::Connection;

use crate::log::rows::{ABORTED_MESSAGE, Closing};
use crate::sqlite::open::process::{self, Life};
use crate::sqlite::open::running::running_rows;
use crate::sqlite::write::rows::{close_stored, read_head, write_head};

/// Checks whether a process has died here: its lock file is left, or its rows are still running. Changes
/// nothing.
///
/// # Errors
/// SQLite's error.
pub(crate) fn was_unclean(conn: &Connection, path: Option<&Path>) -> rusqlite::Result<bool> {
    let Some(path) = path else { return Ok(false) };
    // A folder that cannot be listed says nothing of the database; its rows still do.
    let files = process::lock_files(path).unwrap_or_default();
    if files.iter().any(|file| matches!(process::life(file), Life::Dead(_))) {
        return Ok(true);
    }
    if !conn.table_exists(None, "actions")? {
        return Ok(false);
    }
    let rows = running_rows(conn)?;
    Ok(rows.iter().any(|(_, boot_id)| process::life(&process::lock_path(path, boot_id)).is_over()))
}

/// Closes every running row of a dead process as `aborted` and removes the lock files of dead processes; returns how
/// many rows it closed. Runs inside `BEGIN IMMEDIATE`, after this process has taken its own lock. So
/// no process is caught between creating a file and locking it.
///
/// # Errors
/// SQLite's error. Nothing is closed then, and the files already removed still count as dead.
pub(crate) fn sweep(conn: &Connection, path: &Path, code: &str, now: &str) -> rusqlite::Result<usize> {
    if !conn.table_exists(None, "actions")? {
        return Ok(0);
    }
    let mut head = read_head(conn)?;
    let mut closed = 0;
    for (sequence_no, boot_id) in running_rows(conn)? {
        if process::life(&process::lock_path(path, &boot_id)).is_over() {
            close_stored(conn, &mut head, sequence_no, &Closing::aborted(code, ABORTED_MESSAGE, now))?;
            closed += 1;
        }
    }
    if closed > 0 {
        write_head(conn, &head)?;
    }
    for file in process::lock_files(path).unwrap_or_default() {
        if let Life::Dead(_held) = process::life(&file) {
            // If a file cannot be removed, the next boot tries again.
            let _ = std::fs::remove_file(&file);
        }
    }
    Ok(closed)
}
