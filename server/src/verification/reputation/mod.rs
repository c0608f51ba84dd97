//! Reputation (reputation#replay): the ledger replayed from empty, the resulting standings, the related events and
//! tokens, and the calls that wrote all of them.
//!
//! [`entries`] is one walk along the ledger; its memory grows only with the number of standings, which each entry
//! must continue. [`calls`] compares entries with the log, [`tokens`] with the tokens of finished tasks. A row of
//! standings without an entry was not written by the server. It causes a warning, because a first standing may be set
//! by hand.

mod calls;
mod entries;
mod tokens;

use self::entries::Entries;
use super::counters;
use super::run::Run;
use crate::domains::reputation::replay::RowVerdict;
use crate::domains::reputation::ties::{
    HISTORY, clocks, count_entries, each_entry, each_event_without_entry, each_standing, unledgered,
    witnesses,
};
use colibri_proof::checkpoint::{Checkpoint, ReputationPin};
use colibri_store::walk::Stop;

/// The check's name.
pub const NAME: &str = "reputation";

/// Checks everything and returns the values for a checkpoint.
///
/// # Errors
/// The engine's error.
pub fn check(run: &mut Run<'_>, checkpoint: Option<&Checkpoint>) -> Result<ReputationPin, Stop> {
    let db = run.db;
    run.begin(NAME, count_entries(db)?.unsigned_abs());
    let by_hand = unledgered(db)?;
    let clocks = clocks(db)?;
    let mut entries = Entries::new(by_hand, clocks.first().copied(), checkpoint);
    each_entry(db, |row| {
        run.step()?;
        entries.take(run, row)
    })?;
    each_event_without_entry(db, |id| {
        run.found("EVENT_STRAY", || {
            (format!("{HISTORY} {id}"), format!("event {id} of the history has no entry in the ledger"))
        });
        Ok(())
    })?;
    entries.finish_clock(run, &clocks);
    counters::check(run, HISTORY, entries.last_id())?;
    calls::missing_entries(run, entries.of_imports())?;
    standings(run, &mut entries)?;
    entries.tokens.finish(run)?;
    for id in witnesses(db)? {
        run.found("WITNESS_STRAY", || {
            (format!("mcp_witnesses {id}"), format!("witness {id} belongs to no token that the server makes"))
        });
    }
    let pin = entries.finish(run);
    Ok(pin)
}

/// Compares the stored rows with the ledger's last entry for each.
fn standings(run: &mut Run<'_>, entries: &mut Entries<'_>) -> Result<(), Stop> {
    let mut rows = 0;
    each_standing(run.db, |standing| {
        rows += 1;
        let standing = match standing {
            Ok(standing) => standing,
            Err(invalid) => {
                run.found("STANDING_INVALID", || {
                    (format!("reputations {}/{}", invalid.node_id, invalid.domain), invalid.to_string())
                });
                return Ok(());
            }
        };
        let name = format!("{}/{}", standing.node_id, standing.domain);
        match entries.replay.check_row(&standing) {
            RowVerdict::Sound => {}
            RowVerdict::Unledgered => run.warned("UNLEDGERED", || {
                let message =
                    format!("the standing of {name} has no entry in the ledger: another program wrote it");
                (format!("reputations {name}"), message)
            }),
            RowVerdict::Differs(fault) => run.found("STANDING_CHANGED", || {
                let message = format!("the standing of {name} does not follow from its last entry: {fault}");
                (format!("reputations {name}"), message)
            }),
        }
        Ok(())
    })?;
    for standing in entries.replay.rows_left() {
        let name = format!("{}/{}", standing.node_id, standing.domain);
        run.found("STANDING_MISSING", || {
            (
                format!("reputations {name}"),
                format!("the ledger has entries about {name}, which has no standing"),
            )
        });
    }
    run.count("standings", rows);
    Ok(())
}
