//! Rounds that need not be replayed, because their rows have not changed since (consensus#persistence). Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::history::History;
use super::stored::Mark;

/// The most rounds kept; the least recently used one is dropped first.
pub const CAPACITY: usize = 1_024;

/// See the module's text.
#[derive(Debug, Default)]
pub struct Cache {
    entries: BTreeMap<i64, Entry>,
    /// Rounds that votes have changed since the last rollback.
    touched: BTreeSet<i64>,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    mark: Mark,
    history: History,
    last_use: u64,
}

impl Cache {
    /// Takes a round out if it is as it was put in; otherwise forgets it.
    pub fn take(&mut self, round_id: i64, mark: &Mark) -> Option<History> {
        self.entries.remove(&round_id).filter(|entry| entry.mark == *mark).map(|entry| entry.history)
    }

    /// Stores a round whose rows have that mark.
    pub fn put(&mut self, round_id: i64, mark: Mark, history: History) {
        if self.entries.len() >= CAPACITY && !self.entries.contains_key(&round_id) {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last_use).map(|(id, _)| *id);
            oldest.and_then(|id| self.entries.remove(&id));
        }
        self.uses = self.uses.saturating_add(1);
        self.entries.insert(round_id, Entry { mark, history, last_use: self.uses });
    }

    /// Like [`Cache::put`], for a round that the running call has changed: its rows may yet be rolled back.
    pub fn put_changed(&mut self, round_id: i64, mark: Mark, history: History) {
        self.put(round_id, mark, history);
        self.touched.insert(round_id);
        // A round that was dropped need not be forgotten.
        let entries = &self.entries;
        self.touched.retain(|id| entries.contains_key(id));
    }

    /// Forgets all rounds that have changed: the rows of some of them were rolled back.
    pub fn forget_changed(&mut self) {
        for round_id in std::mem::take(&mut self.touched) {
            self.entries.remove(&round_id);
        }
    }

    /// Returns how many rounds are cached.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Checks whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
