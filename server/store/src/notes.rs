//! The notes on calls (chain#notes).

use colibri_runtime::handler::Fault;
use serde::Serialize;

use crate::db::{Db, Row, RowError};
use crate::params;

/// A row of `call_notes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // The columns, under their names.
pub struct NoteRow {
    pub note_no: i64,
    pub about: i64,
    pub kind: String,
    pub noted_at: String,
    pub sequence_no: i64,
    pub body: String,
}

const NOTE: &str = "note_no, about, kind, noted_at, sequence_no, body";

fn read(row: &Row<'_>) -> Result<NoteRow, RowError> {
    Ok(NoteRow {
        note_no: row.get(0)?,
        about: row.get(1)?,
        kind: row.get(2)?,
        noted_at: row.get(3)?,
        sequence_no: row.get(4)?,
        body: row.get(5)?,
    })
}

/// Returns the number that the next note gets.
///
/// # Errors
/// [`Fault::Storage`].
pub fn next_note_no(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT coalesce(max(note_no), 0) + 1 FROM call_notes", &[], |row| row.get(0))
}

/// Adds a note.
///
/// # Errors
/// [`Fault::Storage`].
pub fn insert(db: &Db, note: &NoteRow) -> Result<(), Fault> {
    let sql = format!("INSERT OR FAIL INTO call_notes ({NOTE}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    let NoteRow { note_no, about, kind, noted_at, sequence_no, body } = note;
    db.execute(&sql, params![*note_no, *about, *kind, *noted_at, *sequence_no, *body])
}

/// Returns a note.
///
/// # Errors
/// [`Fault::Storage`].
pub fn note(db: &Db, note_no: i64) -> Result<Option<NoteRow>, Fault> {
    db.query_opt(&format!("SELECT {NOTE} FROM call_notes WHERE note_no = ?1"), params![note_no], read)
}

/// Returns the notes on a call, oldest first.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn notes_on(db: &Db, about: i64) -> Result<Vec<NoteRow>, Fault> {
    db.query_all(
        &format!("SELECT {NOTE} FROM call_notes WHERE about = ?1 ORDER BY note_no"),
        params![about],
        read,
    )
}

/// Returns the call that wrote a note.
///
/// # Errors
/// [`Fault::Storage`].
pub fn call_of(db: &Db, note_no: i64) -> Result<Option<i64>, Fault> {
    db.query_opt("SELECT sequence_no FROM call_notes WHERE note_no = ?1", params![note_no], |row| row.get(0))
}

/// Hands over each note's number with its call; the row is `None` if it is malformed. In the order of the numbers.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn each_note<E: From<Fault>>(
    db: &Db,
    mut take: impl FnMut(i64, Option<i64>, Option<NoteRow>) -> Result<(), E>,
) -> Result<(), E> {
    db.walk(&format!("SELECT {NOTE} FROM call_notes ORDER BY note_no"), &[], |row| {
        take(row.get(0).unwrap_or_default(), row.get(4).ok(), read(row).ok())?;
        Ok(true)
    })
}
