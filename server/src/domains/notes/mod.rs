//! What the server learned about calls besides their outcomes (chain#notes). The row of a call is closed once, so notes have other rows.
//! The formats say what the body of each kind holds.

pub mod tie;

use colibri_canonical::{NumberRule, canonical_json};
use colibri_runtime::handler::Fault;
use colibri_visible::printable;
use serde_json::Value;

use crate::catalogue::{CallNote, NoteKind};
use colibri_store::db::Db;
use colibri_store::notes::{NoteRow, insert, next_note_no};

/// Stores a note by the call with that number.
///
/// # Errors
/// Storage faults; a call that is in no log; a body that has no canonical form.
pub(crate) fn add(
    db: &Db,
    sequence_no: Option<i64>,
    now: String,
    (about, kind): (i64, String),
    body: &Value,
) -> Result<NoteRow, Fault> {
    let sequence_no =
        sequence_no.ok_or_else(|| Fault::Other("a note is stored by a call in the log".to_owned()))?;
    let body = canonical_json(body, NumberRule::Wire).map_err(|error| Fault::Other(error.to_string()))?;
    let note = NoteRow { note_no: next_note_no(db)?, about, kind, noted_at: now, sequence_no, body };
    insert(db, &note)?;
    Ok(note)
}

/// Returns a row in the published form.
pub(crate) fn published(row: NoteRow) -> CallNote {
    let NoteRow { note_no, about, kind, noted_at, body, .. } = row;
    CallNote { note_no, about, kind, noted_at, body }
}

/// Says what a note is, in words.
pub fn words(kind: &str, body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |name: &str| printable(body[name].as_str().unwrap_or("?")).into_owned();
    let first = || body["first"].as_i64().map_or_else(|| "?".to_owned(), |first| first.to_string());
    let Some(known) = NoteKind::ALL.into_iter().find(|known| known.as_str() == kind) else {
        return printable(kind).into_owned();
    };
    match known {
        NoteKind::Withdrawn => format!("withdrawn by the client at {}", text("at")),
        NoteKind::LaterRound => {
            let actions = body["actions"].as_array().into_iter().flatten();
            let actions: Vec<_> =
                actions.map(|action| printable(action.as_str().unwrap_or("other"))).collect();
            let answers =
                if actions.is_empty() { String::new() } else { format!(" ({})", actions.join(", ")) };
            format!("continues call {}{answers}", first())
        }
        NoteKind::ArgumentsChanged => format!("continues call {} with other arguments", first()),
        NoteKind::TaskEnded => format!("its task ended at {}: {}", text("at"), text("status")),
    }
}
