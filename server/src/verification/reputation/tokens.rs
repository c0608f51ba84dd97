//! Compares experience tokens (reputation#tokens) with their entries: a finished task leaves a raw token, and a
//! confirmed one if a peer acknowledged it. Only their ids are random; a checkpoint pins those.

use super::super::run::Run;
use crate::domains::reputation::ledger::Entry;
use crate::domains::reputation::ties::{TokenPlace, next_token, tokens_of};
use colibri_proof::checkpoint::{Checkpoint, TokensPin};
use colibri_store::walk::Stop;

/// The table.
const TOKENS: &str = "experience_tokens";

/// The state of the walk over the tokens.
pub struct Tokens {
    rowid: i64,
    pinned: TokensPin,
    /// The number that the checkpoint counts.
    wanted: i64,
    then: TokensPin,
    scratch: Vec<u8>,
}

impl Tokens {
    pub fn new(checkpoint: Option<&Checkpoint>) -> Self {
        let wanted = checkpoint.map_or(0, |checkpoint| checkpoint.reputation.tokens.count);
        Self { rowid: i64::MIN, pinned: TokensPin::NONE, wanted, then: TokensPin::NONE, scratch: Vec::new() }
    }

    /// Checks that the tokens of an entry come next.
    pub fn take(&mut self, run: &mut Run<'_>, entry: &Entry, recorded_at: i64) -> Result<(), Stop> {
        let mut raw: Option<String> = None;
        for mut expected in tokens_of(entry, recorded_at) {
            expected.promoted_from.clone_from(&raw);
            let id = entry.history_id;
            let Some(place) = self.next(run)? else {
                run.found("TOKEN_MISSING", || {
                    (
                        format!("reputation_ledger {id}"),
                        format!("the event of entry {id} left no {} token", expected.level),
                    )
                });
                return Ok(());
            };
            if place.token.as_ref() != Some(&expected) {
                run.found("TOKEN_CHANGED", || {
                    let message =
                        format!("token {} differs from the one that the event of entry {id} left", place.id);
                    (format!("{TOKENS} {}", place.id), message)
                });
            }
            raw = Some(place.id);
        }
        Ok(())
    }

    /// Reports tokens after the last entry's.
    pub fn finish(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        while let Some(place) = self.next(run)? {
            run.step()?;
            run.found("TOKEN_STRAY", || {
                (format!("{TOKENS} {}", place.id), format!("no event of the ledger left token {}", place.id))
            });
        }
        Ok(())
    }

    fn next(&mut self, run: &mut Run<'_>) -> Result<Option<TokenPlace>, Stop> {
        let Some(place) = next_token(run.db, self.rowid)? else { return Ok(None) };
        self.rowid = place.rowid;
        if !place.id.starts_with("tok_") {
            run.found("TOKEN_CHANGED", || {
                (format!("{TOKENS} {}", place.id), format!("{:?} is not a token's id", place.id))
            });
        }
        self.pinned.add(&place.id, &mut self.scratch);
        if self.pinned.count == self.wanted {
            self.then = self.pinned;
        }
        Ok(Some(place))
    }

    pub fn count(&self) -> i64 {
        self.pinned.count
    }

    pub fn pin(&self) -> TokensPin {
        self.pinned
    }

    /// Returns the pin of the tokens that the checkpoint counts, as far as they exist.
    pub fn pin_then(&self) -> TokensPin {
        if self.pinned.count < self.wanted { self.pinned } else { self.then }
    }
}
