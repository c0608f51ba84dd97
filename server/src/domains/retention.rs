//! Retention (trail#retention): content moves from the row into a packed form, and is then pruned. The values that the
//! chain hashes and links stay for good. Retention never runs by itself: the operator's command asks for each page.

use colibri_canonical::HexDigest;
use colibri_proof::chain::Content;
use colibri_proof::record::Preimage;
use colibri_runtime::handler::{Failure, Fault};

use super::proof::{self, SessionState};
use super::ties::Reply;
use super::trail::content::{Unpacker, content_of, is_where_zone_says, pack};
use super::trail::store::{self, Move, TrailRow};
use super::trail::ties::tied_row;
use super::trail::zone::{HOT_MAX_POSITION, RetentionZone, WARM_MAX_POSITION, zone_for_position};
use super::warnings::Warnings;
use crate::catalogue::{TrailRetentionOutput, TrailRetentionOutputDamagedItem};
use colibri_store::db::Db;
use colibri_store::log::verify::with_call;

/// The bytes of content after which a page ends, so that a transaction stays short.
const PAGE_BYTES: usize = 1024 * 1024;
/// The records of a page at most.
const PAGE_RECORDS: i64 = 256;

/// Why a record was not moved: its row does not match its hash or its zone. Moving it would hide the damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Damage(&'static str);

/// The result for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archived {
    /// Its zone now.
    pub zone: RetentionZone,
    /// Whether this call moved it.
    pub changed: bool,
    /// The bytes of content that were read for it.
    bytes: usize,
}

/// Moves the records of a task that lie behind `after` and have left their zone, oldest first, up to the limits of a page.
///
/// # Errors
/// Storage faults. The caller's transaction then undoes the page.
pub fn apply(db: &Db, task_id: &str, after: i64) -> Result<TrailRetentionOutput, Fault> {
    let mut page = TrailRetentionOutput {
        task_id: task_id.to_owned(),
        hot_to_warm: 0,
        hot_to_cold: 0,
        warm_to_cold: 0,
        damaged: Vec::new(),
        next_after: None,
    };
    let due = store::due(db, task_id, after, (HOT_MAX_POSITION, WARM_MAX_POSITION), PAGE_RECORDS)?;
    let mut bytes = 0;
    for record in &due {
        match archive_record(db, &record.id) {
            Ok(archived) => {
                bytes += archived.bytes;
                match (archived.changed, record.warm, archived.zone) {
                    (false, _, _) => {}
                    (true, true, _) => page.warm_to_cold += 1,
                    (true, false, RetentionZone::Cold) => page.hot_to_cold += 1,
                    (true, false, _) => page.hot_to_warm += 1,
                }
            }
            Err(Failure::Domain(Damage(reason))) => {
                let damaged =
                    TrailRetentionOutputDamagedItem { id: record.id.clone(), reason: reason.to_owned() };
                page.damaged.push(damaged);
            }
            Err(Failure::Fault(fault)) => return Err(fault),
        }
        if bytes >= PAGE_BYTES {
            page.next_after = Some(record.seq);
            return Ok(page);
        }
    }
    if let Some(last) = due.last().filter(|_| due.len() as i64 == PAGE_RECORDS) {
        page.next_after = Some(last.seq);
    }
    Ok(page)
}

/// Checks whether any record is of the task.
///
/// # Errors
/// Storage faults.
pub fn has_thoughts(db: &Db, task_id: &str) -> Result<bool, Fault> {
    Ok(store::count_thoughts(db, task_id)? > 0)
}

/// Returns the tasks with records that may have left their zone, in the order of their ids.
///
/// # Errors
/// Storage faults.
pub fn tasks_due(db: &Db) -> Result<Vec<String>, Fault> {
    let mut tasks = Vec::new();
    let mut last = None;
    while let Some(task_id) = store::next_task(db, last.as_deref())? {
        if !store::due(db, &task_id, 0, (HOT_MAX_POSITION, WARM_MAX_POSITION), 1)?.is_empty() {
            tasks.push(task_id.clone());
        }
        last = Some(task_id);
    }
    Ok(tasks)
}

/// Moves a record into the zone of its position, inside the caller's transaction. Content that would be dropped or
/// packed must match the record's hash. Content of an open session is never dropped, because no seal commits to it
/// yet.
///
/// # Errors
/// [`Damage`] before any write; storage faults.
pub fn archive_record(db: &Db, id: &str) -> Result<Archived, Failure<Damage>> {
    let mut plan = None;
    store::with_row(db, id, |row| {
        let position = store::position(db, row.task_id, row.seq, WARM_MAX_POSITION)?;
        plan = Some(planned(db, row, position));
        Ok(())
    })?;
    let Some(plan) = plan else { return Err(Fault::Other(format!("thought record {id} is missing")).into()) };
    let Plan { from, to, content, session_id } = plan?;
    let bytes = content.as_ref().map_or(0, String::len);
    let Some(content) = content else { return Ok(Archived { zone: from, changed: false, bytes }) };
    if to == RetentionZone::Cold
        && let Some(session_id) = session_id
        && proof::session_state(db, &session_id)? != Some(SessionState::Finalized)
    {
        return Ok(Archived { zone: from, changed: false, bytes });
    }
    let packed = match to {
        RetentionZone::Warm => Some(pack(&content).map_err(|error| Fault::Other(error.to_string()))?),
        RetentionZone::Hot | RetentionZone::Cold => None,
    };
    let digest = HexDigest::of(content.as_bytes());
    store::archive(db, id, &Move { zone: to.as_str(), packed: packed.as_deref(), digest: digest.as_str() })?;
    Ok(Archived { zone: to, changed: true, bytes })
}

/// The planned move of a record.
struct Plan {
    from: RetentionZone,
    to: RetentionZone,
    /// The content to move; `None` if the record stays where it is.
    content: Option<String>,
    session_id: Option<String>,
}

fn planned(db: &Db, row: &TrailRow<'_>, position: i64) -> Result<Plan, Failure<Damage>> {
    let damaged = |what| Failure::Domain(Damage(what));
    let from = RetentionZone::of(row.zone).ok_or(damaged("its zone is not hot, warm or cold"))?;
    let to = zone_for_position(position).map_err(|_| damaged("it has no position in its chain"))?;
    let session_id = row.session_id.map(str::to_owned);
    if to == from {
        return Ok(Plan { from, to, content: None, session_id });
    }
    if to < from {
        return Err(damaged("it is in a later zone than its position allows"));
    }
    if !is_where_zone_says(row) {
        return Err(damaged("it holds the columns of another zone"));
    }
    let mut unpacker = Unpacker::default();
    let Content::Kept(content) = content_of(row, &mut unpacker) else {
        return Err(damaged("its content is missing or cannot be unpacked"));
    };
    let preimage = Preimage {
        content,
        id: row.id,
        prev_hash: row.prev_hash,
        task_id: row.task_id,
        timestamp: row.timestamp,
        kind: row.kind,
    };
    if preimage.hash(&mut Vec::new()).as_str() != row.hash {
        return Err(damaged("its content does not match its hash"));
    }
    if row.content_hash.is_some_and(|digest| digest != HexDigest::of(content.as_bytes()).as_str()) {
        return Err(damaged("its content does not match its digest"));
    }
    if !gives_its_reply(db, row, content)? {
        return Err(damaged("it does not match the reply of the call that recorded it"));
    }
    Ok(Plan { from, to, content: Some(content.to_owned()), session_id })
}

/// Checks a record against the reply of its call, while its content still allows it (store#ties). A record without such a call
/// is reported by `colibri verify` in every zone, so moving it hides nothing.
fn gives_its_reply(db: &Db, row: &TrailRow<'_>, content: &str) -> Result<bool, Fault> {
    let Some(sequence_no) = row.sequence_no else { return Ok(true) };
    let warned = Warnings::default().of(db, row)?;
    let reply = tied_row(row, &Content::Kept(content), warned, &mut Vec::new()).reply;
    let matches = with_call(db, sequence_no, |call| match &reply {
        Reply::Hash(hash) => call.result_hash == Some(hash.as_str()),
        Reply::Dropped | Reply::Unreadable => false,
    })?;
    Ok(matches.unwrap_or(true))
}
