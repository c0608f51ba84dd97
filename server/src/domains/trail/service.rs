//! Operations on the trail, each inside the caller's transaction (trail#chain).

use std::borrow::Cow;

use colibri_runtime::handler::{Failure, Fault};

use super::content::{MAX_CONTENT_BYTES, Unpacker, content_of};
use super::errors::{CursorNotFound, Refusal};
use super::store::{self, TrailRow};
use colibri_canonical::HexDigest;
use colibri_proof::chain::Content;
use colibri_proof::record::{Preimage, ThoughtRecord, ThoughtType};
use colibri_store::db::Db;

/// Longest task id, agent id and session id, in Unicode scalar values (trail#limits).
pub(crate) const MAX_ID_CHARS: usize = 256;

/// The most content of a page before it ends early: a page of the longest thoughts would not fit into memory.
pub(crate) const MAX_PAGE_BYTES: usize = 8 * MAX_CONTENT_BYTES;

/// A new thought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewThought {
    /// Its kind.
    pub kind: ThoughtType,
    /// The chain it continues.
    pub task_id: String,
    /// The author.
    pub agent_id: String,
    /// The thought.
    pub content: String,
    /// The open audit session it is bound to, if any. The tool decides whether one is required, not this library
    /// (trail#session-policy).
    pub session_id: Option<String>,
}

/// Values from the caller's clock, ids and audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// A fresh id.
    pub id: String,
    /// The present time, UTC, RFC 3339 with milliseconds.
    pub now: String,
    /// The audit number of the call (store#ties); `None` outside calls.
    pub sequence_no: Option<i64>,
}

/// The records to list, and the start of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListFilter {
    /// The only task to list.
    pub task_id: Option<String>,
    /// The only session to list.
    pub session_id: Option<String>,
    /// The longest page.
    pub limit: i64,
    /// Id of the record before the page.
    pub after: Option<String>,
}

impl Default for ListFilter {
    /// Selects the first page of all records.
    fn default() -> Self {
        Self { task_id: None, session_id: None, limit: 1000, after: None }
    }
}

/// A record as stored; its hashes are not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields of trail#record, under their names; `kind` is `type`.
pub(crate) struct StoredThought {
    pub id: String,
    pub kind: String,
    pub task_id: String,
    pub agent_id: String,
    pub content: StoredContent,
    pub timestamp: String,
    pub prev_hash: String,
    pub hash: String,
    pub session_id: Option<String>,
    pub sequence_no: Option<i64>,
}

/// The content of a stored record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredContent {
    /// The text.
    Kept(String),
    /// Missing: pruned by retention, or damaged.
    Gone {
        /// The zone that the row names.
        zone: Option<String>,
        /// The digest that the row keeps.
        content_hash: Option<String>,
    },
}

/// A page of records, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page<T> {
    /// The page.
    pub records: Vec<T>,
    /// Whether further matches follow.
    pub has_more: bool,
}

/// Appends a thought to its task's chain (trail#chain).
///
/// The link is the tip that `trail_heads` names, even if the last row differs. If another program removed records at
/// the end, the next append shows the gap permanently.
///
/// # Errors
/// A [`Refusal`], with nothing written; storage faults, also if the id exists already.
pub fn create_thought_record(
    db: &Db,
    stamp: Stamp,
    new: NewThought,
) -> Result<ThoughtRecord, Failure<Refusal>> {
    check(&new).map_err(Failure::Domain)?;
    let prev_hash = link(db, &new.task_id)?;
    let hash = Preimage {
        content: &new.content,
        id: &stamp.id,
        prev_hash: prev_hash.as_str(),
        task_id: &new.task_id,
        timestamp: &stamp.now,
        kind: new.kind.as_str(),
    }
    .hash(&mut Vec::with_capacity(new.content.len() + 256));
    let record = ThoughtRecord {
        id: stamp.id,
        kind: new.kind,
        task_id: new.task_id,
        agent_id: new.agent_id,
        content: new.content,
        timestamp: stamp.now,
        prev_hash,
        hash,
        session_id: new.session_id,
    };
    match store::append(db, &record, stamp.sequence_no) {
        Ok(()) => Ok(record),
        Err(fault) => Err(Failure::Domain(Refusal::NotAppended { fault, session_id: record.session_id })),
    }
}

/// Returns the hash that the next record of a task points at.
fn link(db: &Db, task_id: &str) -> Result<HexDigest, Fault> {
    let Some(tip) = store::link_hash(db, task_id)? else { return Ok(HexDigest::ZERO) };
    HexDigest::parse(&tip).ok_or_else(|| {
        Fault::Other(format!(
            "the stored end of the chain of task {task_id} is no hash; verify the chain to see where"
        ))
    })
}

/// Checks the limits that stage 2 enforces for the tool, for callers that bypass it.
fn check(new: &NewThought) -> Result<(), Refusal> {
    let names = [
        ("task_id", Some(&new.task_id)),
        ("agent_id", Some(&new.agent_id)),
        ("session_id", new.session_id.as_ref()),
    ];
    for (field, name) in names {
        if let Some(name) = name
            && !is_name(name)
        {
            return Err(Refusal::Invalid {
                field,
                rule: "must have 1 to 256 characters and no control characters",
            });
        }
    }
    if is_blank(&new.content) {
        return Err(Refusal::Invalid { field: "thought content", rule: "must be non-empty" });
    }
    if new.content.len() > MAX_CONTENT_BYTES {
        return Err(Refusal::Invalid { field: "content", rule: "must be at most 1048576 bytes" });
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let control = |c: char| c < ' ' || c == '\u{7f}';
    !text.is_empty() && !text.contains(control) && text.chars().nth(MAX_ID_CHARS).is_none()
}

/// Returns whether the text is only white space, as ECMAScript's `\s` in the tool's schema defines it.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}')
}

/// Returns the name to look for in place of one that a caller gives. No name holds a control character, so nothing is found under
/// one with U+0000, nor with U+0001 in its place. PostgreSQL cannot be asked for the first.
pub(crate) fn findable(name: &str) -> Cow<'_, str> {
    if name.contains('\0') { name.replace('\0', "\u{1}").into() } else { name.into() }
}

/// Returns the record with that id, if it exists.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn get_thought_record(db: &Db, id: &str) -> Result<Option<StoredThought>, Fault> {
    let mut found = None;
    store::with_row(db, id, |row| {
        found = Some(stored(row, &mut Unpacker::default()));
        Ok(())
    })?;
    Ok(found)
}

/// Returns the newest records of a task, newest first.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn newest_of_task(db: &Db, task_id: &str, most: usize) -> Result<Vec<StoredThought>, Fault> {
    let (mut records, mut unpacker) = (Vec::new(), Unpacker::default());
    store::each_newest_of_task(db, task_id, |row| {
        if records.len() < most {
            records.push(stored(row, &mut unpacker));
        }
        Ok(records.len() < most)
    })?;
    Ok(records)
}

/// Returns one page of the records that match, oldest first. It ends at the limit, or after the record with which its
/// contents reach [`MAX_PAGE_BYTES`].
///
/// # Errors
/// [`CursorNotFound`]; storage faults.
pub(crate) fn list_thought_records<T: Listed>(
    db: &Db,
    filter: &ListFilter,
) -> Result<Page<T>, Failure<CursorNotFound>> {
    let after = match &filter.after {
        None => i64::MIN,
        Some(id) => store::seq_of(db, &findable(id))?
            .ok_or_else(|| Failure::Domain(CursorNotFound { after: id.clone() }))?,
    };
    let (mut page, mut bytes) = (Page { records: Vec::new(), has_more: false }, 0);
    let mut unpacker = Unpacker::default();
    let limit = usize::try_from(filter.limit).unwrap_or_default();
    let [task_id, session_id] =
        [&filter.task_id, &filter.session_id].map(|name| name.as_deref().map(findable));
    store::each_match(db, task_id.as_deref(), session_id.as_deref(), after, |row| {
        page.has_more = page.records.len() >= limit || bytes >= MAX_PAGE_BYTES;
        if !page.has_more {
            let record = T::read(row, &mut unpacker);
            bytes += record.shown_bytes();
            page.records.push(record);
        }
        Ok(!page.has_more)
    })?;
    Ok(page)
}

/// A form in which lists show records.
pub(crate) trait Listed {
    /// Reads a row.
    fn read(row: &TrailRow<'_>, unpacker: &mut Unpacker) -> Self;

    /// Returns the bytes of content that it shows.
    fn shown_bytes(&self) -> usize;
}

impl Listed for StoredThought {
    fn read(row: &TrailRow<'_>, unpacker: &mut Unpacker) -> Self {
        stored(row, unpacker)
    }

    fn shown_bytes(&self) -> usize {
        match &self.content {
            StoredContent::Kept(text) => text.len(),
            StoredContent::Gone { .. } => 0,
        }
    }
}

fn stored(row: &TrailRow<'_>, unpacker: &mut Unpacker) -> StoredThought {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let content = match content_of(row, unpacker) {
        Content::Kept(text) => StoredContent::Kept(text.to_owned()),
        Content::Lost | Content::Dropped => {
            StoredContent::Gone { zone: owned(row.zone), content_hash: owned(row.content_hash) }
        }
    };
    StoredThought {
        id: row.id.to_owned(),
        kind: row.kind.to_owned(),
        task_id: row.task_id.to_owned(),
        agent_id: row.agent_id.to_owned(),
        content,
        timestamp: row.timestamp.to_owned(),
        prev_hash: row.prev_hash.to_owned(),
        hash: row.hash.to_owned(),
        session_id: owned(row.session_id),
        sequence_no: row.sequence_no,
    }
}
