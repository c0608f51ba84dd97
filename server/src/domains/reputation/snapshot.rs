//! Scores for other domains (reputation#not-built): with decay applied, at an epoch that the caller names. Pure.

use std::collections::BTreeMap;

use super::decay::decayed_score;
use super::domain::Domain;
use super::standing::Standing;
use crate::rules::integer::IntegerError;

/// Returns the scores of all nodes in `domain` at `epoch`, by node. Skips rows of other domains.
///
/// # Errors
/// Only for a score outside 0..=10000.
pub fn snapshot<'a>(
    rows: impl IntoIterator<Item = &'a Standing>,
    domain: Domain,
    epoch: i64,
) -> Result<BTreeMap<String, i64>, IntegerError> {
    let rows = rows.into_iter().filter(|row| row.domain == domain);
    rows.map(|row| Ok((row.node_id.clone(), decayed_score(row, epoch)?))).collect()
}

/// Returns the node that holds a model's reliability.
pub fn model_node(model_id: &str) -> String {
    format!("model:{model_id}")
}

/// Returns a model's reliability in basis points: the execution score of its node, 0 without a row.
///
/// # Errors
/// As [`snapshot`].
pub fn reliability_bps(execution: Option<&Standing>, epoch: i64) -> Result<i64, IntegerError> {
    execution.map_or(Ok(0), |row| decayed_score(row, epoch))
}
