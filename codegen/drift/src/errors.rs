//! What the rules about errors ask: which code is which, and whether calls are possible that were not.

use crate::Severity;
use crate::pairing::{Comparison, Pair, are_near};
use crate::schema::{Direction, compare};
use crate::snapshot::{ChainCode, ToolError};

/// The codes of a tool, before and after.
pub(crate) struct Codes<'a> {
    pub added: Vec<&'a ToolError>,
    pub removed: Vec<&'a ToolError>,
    pub renamed: Vec<(&'a ToolError, &'a ToolError)>,
}

/// Finds what came, went, and goes by another name: a near one with the same details.
pub(crate) fn pair<'a>(old: &'a [ToolError], new: &'a [ToolError]) -> Codes<'a> {
    let lacks = |list: &[ToolError], code: &str| list.iter().all(|error| error.code != code);
    let mut removed: Vec<&ToolError> = old.iter().filter(|error| lacks(new, &error.code)).collect();
    let (mut added, mut renamed) = (Vec::new(), Vec::new());
    for error in new.iter().filter(|error| lacks(old, &error.code)) {
        let same = |gone: &&ToolError| gone.fields == error.fields && are_near(&gone.code, &error.code);
        match removed.iter().position(same) {
            Some(index) => renamed.push((removed.remove(index), error)),
            None => added.push(error),
        }
    }
    Codes { added, removed, renamed }
}

/// Whether the input takes what it did not: then a new code may be for that alone.
pub(crate) fn input_is_wider(pair: &Pair<'_>) -> bool {
    // In the other direction a widened input is a narrowed one, which breaks.
    compare(&pair.new.input, &pair.old.input, Direction::Input)
        .iter()
        .any(|change| change.severity == Severity::Break)
}

/// The chain's roles that both states have.
pub(crate) fn roles<'a>(change: &Comparison<'a>) -> impl Iterator<Item = (&'a ChainCode, &'a ChainCode)> {
    let (old, new) = (change.old.chain.as_deref(), change.new.chain.as_deref().unwrap_or_default());
    old.unwrap_or_default()
        .iter()
        .filter_map(|before| Some((before, new.iter().find(|after| after.role == before.role)?)))
}

/// What stands before the first colon of a message that starts with its code.
pub(crate) fn prefix(code: &ChainCode) -> Option<&str> {
    code.message.split_once(':').map(|(prefix, _)| prefix).filter(|prefix| *prefix == code.code)
}
