//! What a checkpoint keeps of reputation: the ledger with what its own hashes leave out (the clock, when and by which call
//! an entry was written), and the ids of tokens. Standings and events follow from the ledger, so they need no pin.

use serde::{Deserialize, Serialize};

use colibri_canonical::HexDigest;
use colibri_canonical::object::{number, text};

/// The ledger up to one entry, with its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReputationPin {
    /// How many entries.
    pub entries: i64,
    /// The digest of the clock and of all of them, see [`ReputationPin::add_entry`].
    pub digest: HexDigest,
    /// The tokens.
    pub tokens: TokensPin,
}

/// Experience tokens up to one, in the order in which they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokensPin {
    /// How many.
    pub count: i64,
    /// The digest of their ids, see [`TokensPin::add`].
    pub digest: HexDigest,
}

/// An entry as a checkpoint pins it.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // The columns of reputation#epochs, under their names.
pub struct PinnedEntry<'a> {
    pub entry_hash: &'a str,
    pub history_id: i64,
    pub recorded_at: i64,
    pub sequence_no: Option<i64>,
}

impl ReputationPin {
    /// No entry.
    pub const NONE: Self = Self { entries: 0, digest: HexDigest::ZERO, tokens: TokensPin::NONE };

    /// Returns the pin before the first entry: the digest of the clock, that is the seconds of an epoch and when they were set.
    pub fn begin(clock: Option<(i64, i64)>) -> Self {
        let Some((epoch_seconds, set_at)) = clock else { return Self::NONE };
        let mut scratch = Vec::new();
        number(&mut scratch, b"{\"epoch_seconds\":", Some(epoch_seconds));
        number(&mut scratch, b",\"set_at\":", Some(set_at));
        scratch.push(b'}');
        Self { digest: HexDigest::of(&scratch), ..Self::NONE }
    }

    /// Adds one entry: the digest becomes SHA-256 of the digest so far, a line feed, and the entry's pinned columns as
    /// canonical JSON. `scratch` is reused from entry to entry.
    pub fn add_entry(&mut self, entry: &PinnedEntry<'_>, scratch: &mut Vec<u8>) {
        after(scratch, &self.digest);
        text(scratch, b"{\"entry_hash\":", Some(entry.entry_hash));
        number(scratch, b",\"history_id\":", Some(entry.history_id));
        number(scratch, b",\"recorded_at\":", Some(entry.recorded_at));
        number(scratch, b",\"sequence_no\":", entry.sequence_no);
        scratch.push(b'}');
        self.digest = HexDigest::of(scratch);
        self.entries += 1;
    }
}

impl TokensPin {
    /// No token.
    pub const NONE: Self = Self { count: 0, digest: HexDigest::ZERO };

    /// Adds one token: the digest becomes SHA-256 of the digest so far, a line feed, and the id as canonical JSON.
    pub fn add(&mut self, id: &str, scratch: &mut Vec<u8>) {
        after(scratch, &self.digest);
        text(scratch, b"{\"id\":", Some(id));
        scratch.push(b'}');
        self.digest = HexDigest::of(scratch);
        self.count += 1;
    }
}

fn after(scratch: &mut Vec<u8>, digest: &HexDigest) {
    scratch.clear();
    scratch.extend_from_slice(digest.as_str().as_bytes());
    scratch.push(b'\n');
}

/// The pin in the file. Files older than the ledger do not have it: they pin no entry.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReputationText {
    entries: i64,
    ledger_digest: String,
    tokens: i64,
    tokens_digest: String,
}

impl Default for ReputationText {
    fn default() -> Self {
        Self::from(&ReputationPin::NONE)
    }
}

impl From<&ReputationPin> for ReputationText {
    fn from(pin: &ReputationPin) -> Self {
        Self {
            entries: pin.entries,
            ledger_digest: pin.digest.as_str().to_owned(),
            tokens: pin.tokens.count,
            tokens_digest: pin.tokens.digest.as_str().to_owned(),
        }
    }
}

impl ReputationText {
    /// Returns the pin; `None` if a digest is malformed.
    pub(super) fn pin(&self) -> Option<ReputationPin> {
        let tokens = TokensPin { count: self.tokens, digest: HexDigest::parse(&self.tokens_digest)? };
        Some(ReputationPin { entries: self.entries, digest: HexDigest::parse(&self.ledger_digest)?, tokens })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pinned_column_changes_the_digest() {
        let entry = PinnedEntry { entry_hash: "a", history_id: 1, recorded_at: 2, sequence_no: Some(3) };
        let pinned = |clock, entry: PinnedEntry<'_>| {
            let mut pin = ReputationPin::begin(clock);
            pin.add_entry(&entry, &mut Vec::new());
            pin.digest
        };
        let clock = Some((86_400, 7));
        let others = [
            (Some((86_401, 7)), entry),
            (Some((86_400, 8)), entry),
            (None, entry),
            (clock, PinnedEntry { entry_hash: "b", ..entry }),
            (clock, PinnedEntry { history_id: 2, ..entry }),
            (clock, PinnedEntry { recorded_at: 3, ..entry }),
            (clock, PinnedEntry { sequence_no: None, ..entry }),
        ];
        for (clock_then, other) in others {
            assert_ne!(pinned(clock_then, other), pinned(clock, entry), "{clock_then:?} {other:?}");
        }
    }
}
