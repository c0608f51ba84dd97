//! How thought records are tied to calls (store#ties). The reply to a recorded thought contains all nine fields of
//! the record, including its content. A cold record's content is pruned, so its reply cannot be rebuilt.

mod reply;
mod store;

use self::reply::RecordReply;
pub use self::store::{count_records, place};
use super::store::TrailRow;
use crate::domains::ties::{Reply, TiedRow};
use colibri_proof::chain::Content;
use colibri_proof::record::ThoughtType as Kind;

/// The table's name, for a check that reads its rows itself.
pub const TABLE: &str = "thought_records";

/// Converts a row for the check of ties. `warned` says whether the reply warned that no task has the id. `scratch`
/// holds the reply; a walk passes the same buffer for every row.
pub fn tied_row<'a>(
    row: &TrailRow<'a>,
    content: &Content<'_>,
    warned: bool,
    scratch: &mut Vec<u8>,
) -> TiedRow<'a> {
    TiedRow { key: row.id, sequence_no: row.sequence_no, reply: reply(row, content, warned, scratch) }
}

/// Rebuilds the reply of the call that recorded a thought.
fn reply(row: &TrailRow<'_>, content: &Content<'_>, warned: bool, scratch: &mut Vec<u8>) -> Reply {
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
        warned,
    };
    Reply::Hash(reply.hash(scratch))
}
