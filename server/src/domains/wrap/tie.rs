//! How runs and pins are tied to calls (store#ties). Each operation replies with the row that it wrote, but for the list itself: its
//! hash is in the reply, and the check `wraps` compares both.

use colibri_runtime::handler::Fault;

use super::{published_pin, published_run, store};
use crate::catalogue::ToolId;
use crate::domains::ties::{Place, Reply, TiedRow, TiedTable, Writer};
use colibri_store::db::Db;
use colibri_store::walk::Stop;

/// `wrap_runs`.
#[derive(Debug)]
pub struct RunTie;

/// `tool_pins`.
#[derive(Debug)]
pub struct PinTie;

impl TiedTable for RunTie {
    fn name(&self) -> &'static str {
        "wrap_runs"
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::WrapBegin, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each_run(db, |run_id, sequence_no, row| {
            let run = row.and_then(published_run);
            let reply = run.map_or(Reply::Unreadable, |run| Reply::of(&run));
            take(&TiedRow { key: run_id, sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        let call = store::call_of_run(db, key)?;
        Ok(call.map(|(number, call)| Place { number: Some(number), sequence_no: Some(call) }))
    }
}

impl TiedTable for PinTie {
    fn name(&self) -> &'static str {
        "tool_pins"
    }

    fn writers(&self) -> &'static [Writer] {
        &[
            Writer { tool: ToolId::PinsNote, creates: true },
            Writer { tool: ToolId::PinsAccept, creates: true },
        ]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each_pin(db, |pin_no, sequence_no, row| {
            let pin = row.and_then(published_pin);
            let reply = pin.map_or(Reply::Unreadable, |pin| Reply::of(&pin));
            take(&TiedRow { key: &pin_no.to_string(), sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        let Ok(pin_no) = key.parse() else { return Ok(None) };
        let call = store::call_of_pin(db, pin_no)?;
        Ok(call.map(|call| Place { number: Some(pin_no), sequence_no: Some(call) }))
    }
}
