//! Matches the tools of the old state with those of the new one.

use colibri_suggest::distance;

use super::changes::compare;
use crate::schema::Direction;
use crate::snapshot::{Contract, Snapshot, Tool};

/// Two states side by side.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// Before.
    pub old: &'a Snapshot,
    /// After.
    pub new: &'a Snapshot,
    /// The tools that are in both, in the new order.
    pub pairs: Vec<Pair<'a>>,
    /// The tools that are gone, in the old order.
    pub removed: Vec<&'a Tool>,
    /// The tools that are new, in the new order.
    pub added: Vec<&'a Tool>,
}

/// One tool before and after.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// Before.
    pub old: &'a Tool,
    /// After; its name differs when it was renamed.
    pub new: &'a Tool,
}

impl<'a> Pair<'a> {
    /// Returns the name that clients know it by.
    #[must_use]
    pub fn name(&self) -> &'a str {
        &self.old.name
    }

    /// Returns whether its name has changed.
    #[must_use]
    pub fn renamed(&self) -> bool {
        self.old.name != self.new.name
    }

    /// Returns the contracts of both sides, if both are locks.
    #[must_use]
    pub fn contracts(&self) -> Option<(&'a Contract, &'a Contract)> {
        Some((self.old.contract.as_ref()?, self.new.contract.as_ref()?))
    }
}

/// How many pairs of a tool that is gone and one of the new list are looked at. Where more changed, each is reported alone.
const MAX_PAIRS: usize = 250_000;

impl<'a> Comparison<'a> {
    /// Finds the pairs: by name first, then by equal schemas under a similar name.
    #[must_use]
    pub fn new(old: &'a Snapshot, new: &'a Snapshot) -> Self {
        let mut removed: Vec<&Tool> =
            old.tools.iter().filter(|tool| new.tool(&tool.name).is_none()).collect();
        let mut added = Vec::new();
        let mut pairs = Vec::new();
        let may_be_renamed = removed.len().saturating_mul(new.tools.len()) <= MAX_PAIRS;
        for tool in &new.tools {
            if let Some(before) = old.tool(&tool.name) {
                pairs.push(Pair { old: before, new: tool });
            } else if let Some(index) =
                removed.iter().position(|gone| may_be_renamed && is_rename(gone, tool))
            {
                pairs.push(Pair { old: removed.remove(index), new: tool });
            } else {
                added.push(tool);
            }
        }
        Self { old, new, pairs, removed, added }
    }
}

fn is_rename(old: &Tool, new: &Tool) -> bool {
    if !are_near(&old.name, &new.name) {
        return false;
    }
    let outputs = match (&old.output, &new.output) {
        (Some(old), Some(new)) => compare(old, new, Direction::Output).is_empty(),
        (old, new) => old.is_none() && new.is_none(),
    };
    outputs && compare(&old.input, &new.input, Direction::Input).is_empty()
}

/// Returns whether a name may have become the other: they differ by a typing slip, or share half of their words.
pub(crate) fn are_near(old: &str, new: &str) -> bool {
    let (before, after) = (words(old), words(new));
    let common = before.iter().filter(|word| after.contains(word)).count();
    is_slip(old, new) || 2 * common >= before.len().max(after.len())
}

/// Longer names do not count as typing slips, and comparing them would take long.
const MAX_LETTERS: usize = 64;

/// Returns whether `old` has three letters or more and at most a third of them differ.
fn is_slip(old: &str, new: &str) -> bool {
    let letters = old.chars().count();
    (3..=MAX_LETTERS).contains(&letters) && distance(old, new) <= letters / 3
}

/// Returns the words of a name in snake, kebab or camel case, in lower case.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && after_small) {
            words.push(String::new());
        }
        after_small = letter.is_lowercase() || letter.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_nothing_else() {
        for (old, new) in [("minLenght", "minLength"), ("minlength", "minLength"), ("patern", "pattern")] {
            assert!(is_slip(old, new), "{old} {new}");
        }
        for (old, new) in [("format", "pattern"), ("", "pattern"), ("C", "A")] {
            assert!(!is_slip(old, new), "{old} {new}");
        }
    }

    #[test]
    fn near_names_are_slips_or_share_half_of_their_words() {
        for (old, new) in [
            ("note_add", "add_note"),
            ("note_ad", "note_add"),
            ("read-file", "read_text_file"),
            ("getTinyImage", "get-tiny-image"),
            ("ERR_EMPTY", "ERR_IS_EMPTY"),
        ] {
            assert!(are_near(old, new), "{old} {new}");
        }
        for (old, new) in [("note_add", "vault_open"), ("a", "b"), ("read_file", "list_all_file_sizes")] {
            assert!(!are_near(old, new), "{old} {new}");
        }
    }
}
