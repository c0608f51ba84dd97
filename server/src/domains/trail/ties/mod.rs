//! How thought records are tied to calls (store#ties). The reply to a recorded thought contains all nine fields of
//! the record, including its content. A cold record's content is pruned, so its reply cannot be rebuilt.

mod reply;
mod store;

use colibri_runtime::handler::Fault;

use self::reply::RecordReply;
pub use self::store::count_records;
use super::content::{Unpacker, content_of};
use super::each_row_in_order;
use super::store::TrailRow;
use crate::catalogue::ToolId;
use crate::domains::ties::{Place, Reply, TiedRow, TiedTable, Writer};
use colibri_proof::chain::Content;
use colibri_proof::record::ThoughtType as Kind;
use colibri_store::db::Db;
use colibri_store::walk::{Stop, goes_on};

/// `thought_records`.
#[derive(Debug)]
pub struct RecordTie;

/// The table's name, for a check that reads its rows itself.
pub const TABLE: &str = "thought_records";

/// Converts a row for the check of ties. `scratch` holds the reply; a walk passes the same buffer for every row.
pub fn tied_row<'a>(row: &TrailRow<'a>, content: &Content<'_>, scratch: &mut Vec<u8>) -> TiedRow<'a> {
    TiedRow { key: row.id, sequence_no: row.sequence_no, reply: reply(row, content, scratch) }
}

/// Rebuilds the reply of the call that recorded a thought.
fn reply(row: &TrailRow<'_>, content: &Content<'_>, scratch: &mut Vec<u8>) -> Reply {
    let content = match content {
        Content::Kept(content) => *content,
        Content::Dropped => return Reply::Dropped,
        Content::Lost => return Reply::Unreadable,
    };
    let Some(kind) = Kind::parse(row.kind) else { return Reply::Unreadable };
    let reply = RecordReply {
        agent_id: row.agent_id,
        content,
        hash: row.hash,
        id: row.id,
        prev_hash: row.prev_hash,
        session_id: row.session_id,
        task_id: row.task_id,
        timestamp: row.timestamp,
        kind: kind.as_str(),
    };
    Reply::Hash(reply.hash(scratch))
}

impl TiedTable for RecordTie {
    fn name(&self) -> &'static str {
        TABLE
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::ThoughtRecord, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        let (mut unpacker, mut scratch, mut stop) = (Unpacker::default(), Vec::new(), None);
        each_row_in_order(db, |row| {
            let content = content_of(row, &mut unpacker);
            Ok(goes_on(&mut stop, take(&tied_row(row, &content, &mut scratch))))
        })?;
        stop.map_or(Ok(()), Err)
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        store::place(db, key)
    }
}
