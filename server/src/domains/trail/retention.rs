//! Three-zone retention (zeta §9): content moves from the row into a packed form, and from there away; what
//! the chain hashes and links stays for good. Run only when somebody asks for it; no tool leads here.

use colibri_runtime::chain::store::{Access, Store, StoreFault};
use colibri_runtime::handler::{Failure, Fault};

use super::content::{Unpacker, content_of, pack};
use super::store::{self, Move, TrailRow};
use crate::domains::proof::{self, SessionState};
use crate::store::db::Db;
use crate::tools::cx::Cx;
use colibri_canonical::HexDigest;
use colibri_proof::chain::Content;
use colibri_proof::record::Preimage;

/// The last position, counted from a task's newest record, whose content stays in its row.
pub const HOT_MAX_POSITION: i64 = 100;

/// The last position whose content is kept at all.
pub const WARM_MAX_POSITION: i64 = 1000;

/// Records looked at between two transactions' ends.
const PAGE: i64 = 256;

/// Where a record's content is. Later zones compare greater; there is no way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetentionZone {
    /// In its row.
    Hot,
    /// Packed, in its row, with its digest.
    Warm,
    /// Gone but for its digest.
    Cold,
}

/// The zones, in the order in which a record goes through them.
pub const RETENTION_ZONES: [RetentionZone; 3] =
    [RetentionZone::Hot, RetentionZone::Warm, RetentionZone::Cold];

impl RetentionZone {
    /// The zone as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }

    /// The zone that a stored row is in: one that was never archived names none and is hot. `None`: it names
    /// something that is no zone.
    pub fn of(stored: Option<&str>) -> Option<Self> {
        match stored {
            None => Some(Self::Hot),
            Some(text) => RETENTION_ZONES.into_iter().find(|zone| zone.as_str() == text),
        }
    }
}

/// A position before the newest record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a position in a chain is counted from 1, the newest record; got {0}")]
pub struct NoPosition(pub i64);

/// The zone of a position, 1 being a task's newest record.
///
/// # Errors
/// [`NoPosition`] below 1.
pub fn zone_for_position(position: i64) -> Result<RetentionZone, NoPosition> {
    match position {
        ..=0 => Err(NoPosition(position)),
        1..=HOT_MAX_POSITION => Ok(RetentionZone::Hot),
        _ if position <= WARM_MAX_POSITION => Ok(RetentionZone::Warm),
        _ => Ok(RetentionZone::Cold),
    }
}

/// Why a record was neither archived nor retrieved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetentionError {
    /// There is no record of that id.
    #[error("No thought record has the id {0}")]
    RecordNotFound(String),
    /// The row does not hold what its hash or its zone says. Archiving it would hide the damage.
    #[error("Thought record {id}: {what}; its content is left as it is")]
    RetentionIntegrityError {
        /// The record.
        id: String,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// A record after it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The record.
    pub id: String,
    /// The zone it is in now.
    pub zone: RetentionZone,
    /// Whether it was moved there just now.
    pub changed: bool,
}

/// The content of a record, or what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retrieved {
    /// Still there.
    Content {
        /// The record.
        id: String,
        /// Hot or warm.
        zone: RetentionZone,
        /// The text.
        content: String,
    },
    /// Cold.
    HashOnly {
        /// The record.
        id: String,
        /// SHA-256 of the content.
        content_hash: String,
    },
}

/// Moves a record into the zone of its position, inside the caller's transaction. What would be dropped or
/// packed must fit the record's hash. Content of an open session is never dropped: no seal commits to it yet.
///
/// # Errors
/// A [`RetentionError`] before anything is written; storage faults.
pub fn archive_record(db: &Db, id: &str) -> Result<Archived, Failure<RetentionError>> {
    let mut plan = None;
    store::with_row(db, id, |row| {
        let position = store::position(db, row.task_id, row.seq, WARM_MAX_POSITION)?;
        plan = Some(planned(row, position));
        Ok(())
    })?;
    let plan = plan.unwrap_or_else(|| Err(RetentionError::RecordNotFound(id.to_owned())));
    let Plan { from, to, content, session_id } = plan.map_err(Failure::Domain)?;
    let archived = |zone, changed| Ok(Archived { id: id.to_owned(), zone, changed });
    let Some(content) = content else { return archived(from, false) };
    if to == RetentionZone::Cold
        && let Some(session_id) = session_id
        && proof::session_state(db, &session_id)? != Some(SessionState::Finalized)
    {
        return archived(from, false);
    }
    let packed = match to {
        RetentionZone::Warm => Some(pack(&content).map_err(|error| Fault::Other(error.to_string()))?),
        RetentionZone::Hot | RetentionZone::Cold => None,
    };
    let digest = HexDigest::of(content.as_bytes());
    store::archive(db, id, &Move { zone: to.as_str(), packed: packed.as_deref(), digest: digest.as_str() })?;
    archived(to, true)
}

/// What is to become of a record.
struct Plan {
    from: RetentionZone,
    to: RetentionZone,
    /// The content to be moved; `None` when the record stays where it is.
    content: Option<String>,
    session_id: Option<String>,
}

fn planned(row: &TrailRow<'_>, position: i64) -> Result<Plan, RetentionError> {
    let damaged = |what| RetentionError::RetentionIntegrityError { id: row.id.to_owned(), what };
    let from = RetentionZone::of(row.zone).ok_or_else(|| damaged("its zone is none"))?;
    let to = zone_for_position(position).map_err(|_| damaged("it has no position in its chain"))?;
    let session_id = row.session_id.map(str::to_owned);
    if to == from {
        return Ok(Plan { from, to, content: None, session_id });
    }
    if to < from {
        return Err(damaged("it is in a later zone than its position allows"));
    }
    let mut unpacker = Unpacker::default();
    let Content::Kept(content) = content_of(row, &mut unpacker) else {
        return Err(damaged("its stored content is lost"));
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
        return Err(damaged("its hash is not that of its content"));
    }
    Ok(Plan { from, to, content: Some(content.to_owned()), session_id })
}

/// The content of a record, from wherever it is.
///
/// # Errors
/// A [`RetentionError`]; storage faults.
pub fn retrieve_record(db: &Db, id: &str) -> Result<Retrieved, Failure<RetentionError>> {
    let mut found = None;
    store::with_row(db, id, |row| {
        found = Some(retrieved(row));
        Ok(())
    })?;
    found.unwrap_or_else(|| Err(RetentionError::RecordNotFound(id.to_owned()))).map_err(Failure::Domain)
}

fn retrieved(row: &TrailRow<'_>) -> Result<Retrieved, RetentionError> {
    let id = row.id.to_owned();
    let mut unpacker = Unpacker::default();
    match (RetentionZone::of(row.zone), content_of(row, &mut unpacker), row.content_hash) {
        (Some(zone), Content::Kept(content), _) => {
            Ok(Retrieved::Content { id, zone, content: content.to_owned() })
        }
        (_, Content::Dropped, Some(content_hash)) => {
            Ok(Retrieved::HashOnly { id, content_hash: content_hash.to_owned() })
        }
        _ => Err(RetentionError::RetentionIntegrityError { id, what: "its stored content is lost" }),
    }
}

/// What a run of retention did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Records packed.
    pub hot_to_warm: i64,
    /// Records dropped that had never been packed.
    pub hot_to_cold: i64,
    /// Records dropped that had been packed.
    pub warm_to_cold: i64,
    /// Records left as they are because they are damaged.
    pub damaged: i64,
    /// The first of those.
    pub first_damaged: Option<String>,
}

/// Archives every record of a task, or of all, whose position has left its zone: oldest first, each in a
/// transaction of its own, through the store that calls use. Other processes' calls come in between.
///
/// # Errors
/// The store's; what was archived before stays archived.
pub fn apply_retention(
    store: &mut impl Store<Cx = Cx>,
    task_id: Option<&str>,
) -> Result<Applied, StoreFault> {
    let mut applied = Applied::default();
    let result = match task_id {
        Some(task_id) => one_task(store, task_id, &mut applied),
        None => all_tasks(store, &mut applied),
    };
    store.sync()?;
    result.map(|()| applied)
}

fn all_tasks(store: &mut impl Store<Cx = Cx>, applied: &mut Applied) -> Result<(), StoreFault> {
    let mut last = None;
    while let Some(task_id) = read(store, |db| store::next_task(db, last.as_deref()))? {
        one_task(store, &task_id, applied)?;
        last = Some(task_id);
    }
    Ok(())
}

fn one_task(store: &mut impl Store<Cx = Cx>, task_id: &str, applied: &mut Applied) -> Result<(), StoreFault> {
    let mut after = i64::MIN;
    loop {
        let due =
            read(store, |db| store::due(db, task_id, after, (HOT_MAX_POSITION, WARM_MAX_POSITION), PAGE))?;
        let Some(last) = due.last() else { return Ok(()) };
        after = last.seq;
        for record in &due {
            one_record(store, &record.id, record.warm, applied)?;
        }
    }
}

fn one_record(
    store: &mut impl Store<Cx = Cx>,
    id: &str,
    was_warm: bool,
    applied: &mut Applied,
) -> Result<(), StoreFault> {
    store.wait_turn(colibri_runtime::chain::TURN_LIMIT)?;
    store.begin(Access::Write)?;
    let archived = store.cx().db().map_err(Failure::Fault).and_then(|db| archive_record(db, id));
    let ended = match archived {
        Ok(Archived { changed: true, zone, .. }) => store.commit().map(|()| match (was_warm, zone) {
            (true, _) => applied.warm_to_cold += 1,
            (false, RetentionZone::Cold) => applied.hot_to_cold += 1,
            (false, _) => applied.hot_to_warm += 1,
        }),
        Ok(_) => {
            store.roll_back();
            Ok(())
        }
        Err(Failure::Domain(_)) => {
            store.roll_back();
            applied.damaged += 1;
            applied.first_damaged.get_or_insert_with(|| id.to_owned());
            Ok(())
        }
        Err(Failure::Fault(fault)) => {
            store.roll_back();
            Err(StoreFault(fault.to_string()))
        }
    };
    store.leave_queue();
    ended
}

/// Reads in a transaction of its own.
fn read<T>(
    store: &mut impl Store<Cx = Cx>,
    work: impl FnOnce(&Db) -> Result<T, Fault>,
) -> Result<T, StoreFault> {
    store.begin(Access::Read)?;
    let done = store.cx().db().and_then(work);
    store.roll_back();
    done.map_err(|fault| StoreFault(fault.to_string()))
}
