//! Reads of reputation (reputation#reading, reputation#not-built). Rows are decayed when read; nothing is stored.

use std::collections::BTreeMap;

use colibri_runtime::handler::{Failure, Fault};

use super::decay::decayed;
use super::domain::Domain;
use super::gates::{self, Gates};
use super::snapshot::{self, model_node};
use super::standing::{RowInvalid, Standing};
use super::store::{self, HistoryEvent};
use crate::rules::integer::IntegerError;
use crate::store::db::Db;

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

/// Returns the decayed score of every node of a domain, by id (reputation#not-built: who may publish time anchors).
///
/// # Errors
/// As [`standing`].
pub fn snapshot(db: &Db, domain: Domain, epoch: i64) -> Result<BTreeMap<String, i64>, Failure<RowInvalid>> {
    let mut rows = Vec::new();
    store::each_by_score(db, domain, |row| {
        rows.push(row.check().map_err(Failure::Domain)?);
        Ok::<_, Failure<RowInvalid>>(true)
    })?;
    snapshot::snapshot(&rows, domain, epoch).map_err(fault)
}

/// Returns the reliability of a model: the decayed execution score of its node, 0 if it has no row
/// (reputation#not-built).
///
/// # Errors
/// As [`standing`].
pub fn reliability_bps(db: &Db, model_id: &str, epoch: i64) -> Result<i64, Failure<RowInvalid>> {
    let row = store::standing(db, &model_node(model_id), Domain::Execution)?;
    snapshot::reliability_bps(row.as_ref(), epoch).map_err(fault)
}

/// Converts an integer error, which only a damaged row can cause.
fn fault(error: IntegerError) -> Failure<RowInvalid> {
    Failure::Fault(Fault::Other(error.to_string()))
}
