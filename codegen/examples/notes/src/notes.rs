//! What the two tools do. The types, errors and the trait come from the catalogue.

use colibri_runtime::handler::Outcome;
use colibri_runtime::memory::MemoryCx;

use crate::catalogue::{
    Handlers, Note, NoteAddError, NoteAddInput, NoteAddOutput, NoteListError, NoteListInput, NoteListOutput,
    NotesTools,
};

/// The notes, in the order they were added. What a failing call did to them is undone by the store.
pub type Notes = Vec<Note>;

/// The handlers. They keep nothing of their own.
pub struct Server;

impl Handlers<MemoryCx<Notes>> for Server {}

impl NotesTools<MemoryCx<Notes>> for Server {
    fn note_add(
        &mut self,
        cx: &mut MemoryCx<Notes>,
        input: NoteAddInput,
    ) -> Outcome<NoteAddOutput, NoteAddError> {
        let label = input.label.flatten();
        if let Some(same) = cx.data.iter().find(|note| note.text == input.text && note.label == label) {
            return Err(NoteAddError::ErrDuplicate { id: same.id, label }.into());
        }
        let id = cx.data.last().map_or(1, |last| last.id + 1);
        let note = Note { id, text: input.text, label, importance: input.importance };
        cx.data.push(note.clone());
        Ok(note)
    }

    fn note_list(
        &mut self,
        cx: &mut MemoryCx<Notes>,
        input: NoteListInput,
    ) -> Outcome<NoteListOutput, NoteListError> {
        // Absent asks for every note, null for those without a label.
        let wanted = |note: &&Note| input.label.as_ref().is_none_or(|label| note.label == *label);
        let total = cx.data.iter().filter(wanted).count() as i64;
        let notes = cx.data.iter().filter(wanted).take(input.limit as usize).cloned().collect();
        Ok(NoteListOutput { notes, total })
    }
}
