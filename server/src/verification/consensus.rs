//! Consensus rounds replayed from their signed votes (consensus#persistence).

use super::run::Run;
use crate::domains::consensus::verify_rounds;
use colibri_store::walk::Stop;

/// The check's name.
pub const NAME: &str = "consensus";

/// Verifies all rounds.
///
/// # Errors
/// The engine's error.
pub fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    run.begin(NAME, 0);
    let rounds = verify_rounds(run.db, |mismatched| -> Result<(), Stop> {
        if let Some(found) = mismatched {
            run.found(found.code, || {
                let message = format!("{}: {}", found.subject, found.what);
                (found.subject, message)
            });
        }
        run.step()
    })?;
    run.count("rounds", rounds.unsigned_abs());
    Ok(())
}
