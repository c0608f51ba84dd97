//! How callers are tied to calls (store#ties). `caller_begin` replies with the whole row.

use colibri_runtime::handler::Fault;

use super::published;
use crate::catalogue::ToolId;
use crate::domains::ties::{Place, Reply, TiedRow, TiedTable, Writer};
use colibri_store::callers::{call_of, each_caller};
use colibri_store::db::Db;
use colibri_store::walk::Stop;

/// `callers`.
#[derive(Debug)]
pub struct CallerTie;

impl TiedTable for CallerTie {
    fn name(&self) -> &'static str {
        "callers"
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::CallerBegin, creates: true }]
    }

    fn changed(&self) -> &'static str {
        "CALLER_CHANGED"
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        each_caller(db, |caller_no, sequence_no, row| {
            let caller = row.and_then(published);
            let reply = caller.map_or(Reply::Unreadable, |caller| Reply::of(&caller));
            take(&TiedRow { key: &caller_no.to_string(), sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        let Ok(caller_no) = key.parse() else { return Ok(None) };
        let call = call_of(db, caller_no)?;
        Ok(call.map(|sequence_no| Place { number: Some(caller_no), sequence_no: Some(sequence_no) }))
    }
}
