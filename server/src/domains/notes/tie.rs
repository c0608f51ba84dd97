//! How notes are tied to calls (store#ties). `call_note` replies with the row.

use colibri_runtime::handler::Fault;

use super::published;
use crate::catalogue::ToolId;
use crate::domains::ties::{Place, Reply, TiedRow, TiedTable, Writer};
use colibri_store::db::Db;
use colibri_store::notes::{call_of, each_note};
use colibri_store::walk::Stop;

/// `call_notes`.
#[derive(Debug)]
pub struct NoteTie;

impl TiedTable for NoteTie {
    fn name(&self) -> &'static str {
        "call_notes"
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::CallNote, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        each_note(db, |note_no, sequence_no, row| {
            let reply = row.map_or(Reply::Unreadable, |row| Reply::of(&published(row)));
            take(&TiedRow { key: &note_no.to_string(), sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        let Ok(note_no) = key.parse() else { return Ok(None) };
        let call = call_of(db, note_no)?;
        Ok(call.map(|call| Place { number: Some(note_no), sequence_no: Some(call) }))
    }
}
