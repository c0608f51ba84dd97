//! Stores notes on calls, for the operation call_note.

use colibri_runtime::handler::Fault;
use colibri_store::notes::NoteRow;
use serde_json::Value;

use super::cx::Cx;
use crate::domains::notes;

/// Stores a note on the call with the number `about`, and names it as the running call's subject.
///
/// # Errors
/// Storage faults; a call that is in no log; a body that has no canonical form.
pub fn add_note(cx: &mut Cx, about: i64, kind: String, body: &Value) -> Result<NoteRow, Fault> {
    let (sequence_no, now) = (cx.sequence_no(), cx.now());
    let note = notes::add(cx.db()?, sequence_no, now, (about, kind), body)?;
    cx.set_subject(&note.note_no.to_string());
    Ok(note)
}
