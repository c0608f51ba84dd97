//! Reads of reputation (reputation#reading). Rows are decayed when read; nothing is stored.

use colibri_runtime::handler::{Failure, Fault};

use super::decay::decayed;
use super::domain::Domain;
use super::gates::{self, Gates};
use super::standing::{RowInvalid, Standing};
use super::store::{self, HistoryEvent};
use crate::rules::integer::IntegerError;
use colibri_store::db::Db;

/// Returns a node's standing in a domain at an epoch.
///
/// # Errors
/// [`RowInvalid`]; storage faults.
pub fn standing(
    db: &Db,
    node_id: &str,
    domain: Domain,
    current_epoch: i64,
) -> Result<Option<Standing>, Failure<RowInvalid>> {
    let stored = store::standing(db, node_id, domain)?;
    stored.map(|row| decayed(&row, current_epoch).map_err(fault)).transpose()
}

/// Returns a node's standings at an epoch, ordered by the names of their domains.
///
/// # Errors
/// As [`standing`].
pub fn standings(db: &Db, node_id: &str, current_epoch: i64) -> Result<Vec<Standing>, Failure<RowInvalid>> {
    let rows = store::standings(db, node_id)?;
    rows.iter().map(|row| decayed(row, current_epoch).map_err(fault)).collect()
}

/// A page of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPage {
    /// The events, newest first.
    pub events: Vec<HistoryEvent>,
    /// The offset of the next page; `None` on the last one.
    pub next_offset: Option<i64>,
}

/// Returns a page of the events that changed a node's standing in a domain, newest first.
///
/// # Errors
/// As [`standing`].
pub fn history(
    db: &Db,
    node_id: &str,
    domain: Domain,
    limit: i64,
    offset: i64,
) -> Result<HistoryPage, Failure<RowInvalid>> {
    // One row beyond the page shows whether another page follows.
    let mut events = store::history(db, node_id, domain, limit.saturating_add(1), offset)?;
    let page = usize::try_from(limit).unwrap_or_default();
    let more = events.len() > page;
    events.truncate(page);
    let next_offset = more.then(|| offset.saturating_add(limit));
    Ok(HistoryPage { events, next_offset })
}

/// Returns the gates that a node's standings open at an epoch.
///
/// # Errors
/// As [`standing`].
pub fn check_gates(db: &Db, node_id: &str, current_epoch: i64) -> Result<Gates, Failure<RowInvalid>> {
    let rows = store::standings(db, node_id)?;
    gates::evaluate(node_id, &rows, current_epoch).map_err(fault)
}

/// Converts an integer error, which only a damaged row can cause.
fn fault(error: IntegerError) -> Failure<RowInvalid> {
    Failure::Fault(Fault::Other(error.to_string()))
}
