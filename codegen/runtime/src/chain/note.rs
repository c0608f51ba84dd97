//! Notes: what the server learns about a call besides its outcome (chain#notes). The row of a call is closed once and says how it ended. For
//! each note the chain makes a whole call of an operation, which names the number of that row.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::chain::Chain;
use crate::chain::audit::RowOutcome;
use crate::chain::client::Client;
use crate::chain::log::Level;
use crate::chain::row::{Entered, Row};
use crate::chain::store::{Store, StoreFault};
use crate::handler::Dispatch;

/// What the catalogue calls the chain's notes.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoteNames {
    /// The operation that stores them.
    operation: &'static str,
    /// The kind of those on withdrawn calls.
    withdrawn: &'static str,
}

/// A note on a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// The call.
    pub about: About,
    /// Which kind.
    pub kind: &'static str,
    /// What the kind says; an object.
    pub body: Value,
}

/// The call that a note is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its number.
    pub sequence_no: i64,
    /// Who sent it. The call that stores the note counts as theirs, so that it adds no caller.
    client: Arc<Client>,
}

/// The withdrawal of a call by its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// When it came, UTC, RFC 3339 with milliseconds.
    pub at: String,
    /// SHA-256 (hex) of the reason's text, if it gave one.
    pub reason_hash: Option<String>,
}

impl About {
    pub(super) fn of(row: &Row) -> Option<Self> {
        Some(Self { sequence_no: row.sequence_no?, client: row.client.clone() })
    }
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Sets the operation that stores notes, and the kind of the notes that the chain itself makes: on calls that continued although
    /// their clients had withdrawn them. Without them, and where the log is not in the store, no note is kept.
    pub fn set_notes(&mut self, operation: &'static str, withdrawn: &'static str) {
        self.note_names = Some(NoteNames { operation, withdrawn });
    }

    /// Keeps a note until [`Chain::write_notes`].
    pub fn note(&mut self, note: Note) {
        if self.note_names.is_some() && self.audit.is_store() {
            self.notes.push_back(note);
        }
    }

    /// Notes that the client has withdrawn a call, which continued all the same.
    pub fn note_withdrawn(&mut self, about: About, withdrawal: &Withdrawal) {
        let Some(NoteNames { withdrawn, .. }) = self.note_names else { return };
        let Withdrawal { at, reason_hash } = withdrawal;
        self.note(Note { about, kind: withdrawn, body: json!({ "at": at, "reason_hash": reason_hash }) });
    }

    /// Returns the call with that request id that is entered and has not run.
    pub(crate) fn entered(&self, request_id: &str) -> Option<About> {
        let call: Option<&Entered> = self.rest.iter().find(|call| *call.reply_to.id == *request_id);
        About::of(&call?.row)
    }

    /// Returns whether notes wait.
    pub fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Writes each note in a separate transaction, and syncs once. Uses the turn to write.
    pub fn write_notes(&mut self) {
        self.write_notes_first();
        self.store.leave_queue();
        self.sync();
    }

    /// Does the same, with more to come in the same turn. A note that cannot be written is lost, and the log says so: a call must not
    /// fail for it.
    pub(super) fn write_notes_first(&mut self) {
        let Some(NoteNames { operation, .. }) = self.note_names else { return };
        while let Some(note) = self.notes.pop_front() {
            let (number, kind) = (note.about.sequence_no, note.kind);
            if let Err(fault) = self.write_note(operation, note) {
                self.lose_transaction();
                self.log(
                    Level::Error,
                    format_args!("[audit] the note {kind} on call {number} is lost: {fault}"),
                );
            }
        }
    }

    fn write_note(&mut self, operation: &'static str, note: Note) -> Result<(), StoreFault> {
        let Note { about: About { sequence_no, client }, kind, body } = note;
        let arguments = json!({ "about": sequence_no, "kind": kind, "body": body });
        self.begin_entering(&mut [])?;
        let mut call = self.operation(operation, arguments, client);
        self.enter_rows(&mut [&mut call.row])?;
        let ending = self.stage_dispatch(&call);
        if ending.outcome != RowOutcome::Ok {
            return Err(StoreFault(ending.error_message.unwrap_or_default()));
        }
        let ending = self.stamp(&call.row, ending);
        call.row.close_in(&mut self.store, &ending)?;
        self.commit_entered()
    }
}
