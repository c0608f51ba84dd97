//! The mark behind a batch's commits, and what it covers (postgres#batch).
//!
//! With `COLIBRI_DURABILITY=replicated` a mark counts only if it has waited for a standby. An operator, or a cluster manager, may empty
//! `synchronous_standby_names` while the server runs: commits that wait are released then, without a warning. So a question follows each
//! mark in the same flight: whether the names are set, and when this connection has last read the server's settings. The postmaster
//! signals connections before it signals the process that releases them, so a connection that was released reads the new settings before it
//! answers the question. Names that were emptied and set again show in the time.

use crate::db::postgres::{Held, PgError, Session};
use crate::postgres::flight::MARK;
use crate::postgres::link::Name;
use crate::postgres::watch::Watch;

/// What a mark covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cover {
    /// All that was committed before it.
    All,
    /// Unknown, because the server read its settings again during the mark. Another mark decides.
    Unknown,
    /// It waited for no standby.
    OneServer,
}

/// Sends a mark behind what is queued, and the question what holds (postgres#conditions). Returns what the mark covers.
pub(super) fn send(
    session: &mut Session,
    name: &mut Name,
    watch: &mut Watch,
    replicated: bool,
) -> Result<Cover, PgError> {
    session.queue(MARK, &[])?;
    // Whether a standby was waited for is asked when the wait is over. All else may be asked in the mark's own transaction.
    let mark = replicated.then(|| session.boundary());
    let asked = session.ask_what_holds(true, watch.due());
    mark.map_or(Ok(()), |mark| session.wait(mark).map(drop))?;
    let Held { has_standby, loaded, besides } = asked?;
    watch.came(besides);
    if !replicated {
        return Ok(Cover::All);
    }
    let before = std::mem::replace(&mut name.loaded, loaded);
    Ok(match has_standby {
        true if before == name.loaded => Cover::All,
        true => Cover::Unknown,
        false => Cover::OneServer,
    })
}
