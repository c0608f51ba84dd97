//! Decisions as people see them in the overview.

mod store;

use colibri_runtime::handler::Fault;

use super::service::{StoredThought, get_thought_record};
use colibri_store::db::Db;

/// The decisions of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decisions {
    /// How many there are.
    pub total: i64,
    /// The newest, newest first.
    pub shown: Vec<StoredThought>,
}

/// Returns each agent that recorded a thought since a time, with each of its callers.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn agents_since(db: &Db, since: &str, first: i64) -> Result<Vec<(String, i64)>, Fault> {
    store::agents_since(db, since, first)
}

/// Returns the callers that recorded thoughts of an agent.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn callers_of(db: &Db, agent_id: &str) -> Result<Vec<i64>, Fault> {
    store::callers_of(db, agent_id)
}

/// Returns the decisions since a time.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn decisions_since(db: &Db, since: &str, most: usize) -> Result<Decisions, Fault> {
    let (mut total, mut ids) = (0, Vec::new());
    store::each_decision_since(db, since, |id| {
        total += 1;
        if ids.len() < most {
            ids.push(id.to_owned());
        }
    })?;
    let mut shown = Vec::with_capacity(ids.len());
    for id in &ids {
        shown.extend(get_thought_record(db, id)?);
    }
    Ok(Decisions { total, shown })
}
