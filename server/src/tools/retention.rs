//! A run of retention over many records, each in its own transaction.

use colibri_runtime::chain::store::{Access, Store, StoreFault};
use colibri_runtime::handler::{Failure, Fault};

use super::cx::Cx;
use crate::domains::retention::{Archived, archive_record};
use crate::domains::trail::store;
use crate::domains::trail::zone::{HOT_MAX_POSITION, RetentionZone, WARM_MAX_POSITION};
use crate::store::db::Db;

/// Records examined per transaction.
const PAGE: i64 = 256;

/// The result of a run of retention.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Records packed.
    pub hot_to_warm: i64,
    /// Records pruned without having been packed.
    pub hot_to_cold: i64,
    /// Packed records that were pruned.
    pub warm_to_cold: i64,
    /// Damaged records, which stay unchanged.
    pub damaged: i64,
    /// The first damaged record.
    pub first_damaged: Option<String>,
}

/// Archives every record of a task, or of all, whose position has left its zone. It proceeds oldest first, each
/// record in its own transaction, through the store that calls use. Other processes' calls may come in between.
///
/// # Errors
/// The store's error; records archived before stay archived.
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

/// Reads in its own transaction.
fn read<T>(
    store: &mut impl Store<Cx = Cx>,
    work: impl FnOnce(&Db) -> Result<T, Fault>,
) -> Result<T, StoreFault> {
    store.begin(Access::Read)?;
    let done = store.cx().db().and_then(work);
    store.roll_back();
    done.map_err(|fault| StoreFault(fault.to_string()))
}
