//! The results of a walk along the ledger, each naming the first difference. Pure.

use std::fmt;

use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::ledger::Entry;
use crate::domains::reputation::penalty::Band;
use crate::domains::reputation::standing::Standing;

/// The extent to which an entry could be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// It follows from the entries before it.
    Whole,
    /// It was made under other rules, so only its place in the chain and the state before it were checked.
    ChainOnly,
}

/// A contradiction between an entry, or a row, and the entries before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A field with another value.
    Differs {
        /// The field.
        field: &'static str,
        /// The value that follows from the entries before.
        expected: String,
        /// The stored value.
        actual: String,
    },
    /// No such event can have been recorded; the text says why.
    Impossible(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs { field, expected, actual } => write!(out, "{field} is {actual}, not {expected}"),
            Self::Impossible(why) => out.write_str(why),
        }
    }
}

/// An entry that does not follow from the entries before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {history_id}, {node_id}/{domain}: {fault}")]
pub struct Mismatch {
    /// The entry.
    pub history_id: i64,
    /// Its node.
    pub node_id: String,
    /// Its domain.
    pub domain: Domain,
    /// The first fault.
    pub fault: Fault,
}

/// The result of comparing a stored row with the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowVerdict {
    /// It matches its last entry.
    Sound,
    /// It has no entry, so the server did not write it.
    Unledgered,
    /// It differs from its last entry.
    Differs(Fault),
}

/// Returns nothing if the two are equal; otherwise that `field` differs.
pub(super) fn same<T: fmt::Display + PartialEq + ?Sized>(
    field: &'static str,
    expected: &T,
    actual: &T,
) -> Result<(), Fault> {
    if expected == actual {
        return Ok(());
    }
    Err(Fault::Differs { field, expected: expected.to_string(), actual: actual.to_string() })
}

/// A field's name and value.
pub(super) type Field = (&'static str, String);

/// Returns the first field that differs, of two lists that do differ.
pub(super) fn first_difference<const N: usize>(expected: [Field; N], actual: [Field; N]) -> Fault {
    let pairs = expected.into_iter().zip(actual);
    let found = pairs.into_iter().find(|((_, expected), (_, actual))| expected != actual);
    match found {
        Some(((field, expected), (_, actual))) => Fault::Differs { field, expected, actual },
        None => Fault::Impossible("it does not follow from the entries before it".to_owned()),
    }
}

/// Returns the fields of an entry that the arithmetic determines; the others are given or were compared before.
pub(super) fn entry_fields(entry: &Entry) -> [Field; 12] {
    [
        ("source", entry.source.as_str().to_owned()),
        ("band", shown(entry.band.map(Band::as_str))),
        ("nominal_delta", entry.nominal_delta.to_string()),
        ("acker_id", shown(entry.acker_id.as_ref())),
        ("weight_bps", entry.weight_bps.to_string()),
        ("idle_epochs", entry.idle_epochs.to_string()),
        ("score_settled", entry.score_settled.to_string()),
        ("score_after", entry.score_after.to_string()),
        ("delta", entry.delta.to_string()),
        ("scar_after", entry.scar_after.to_string()),
        ("ban_after", shown(entry.ban_after)),
        ("reason", entry.reason.clone()),
    ]
}

/// Returns the fields of a row that its entry determines.
pub(super) fn row_fields(row: &Standing) -> [Field; 4] {
    [
        ("score", row.score.to_string()),
        ("scar_bps", row.scar_bps.to_string()),
        ("ban_until_epoch", shown(row.ban_until_epoch)),
        ("last_activity_epoch", row.last_activity_epoch.to_string()),
    ]
}

fn shown(value: Option<impl fmt::Display>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}
