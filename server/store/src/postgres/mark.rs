//! The mark behind a batch's commits, and what it covers (postgres#batch).
//!
//! With `COLIBRI_DURABILITY=replicated` a mark counts only if it has waited for a standby. An operator, or a cluster manager, may empty
//! `synchronous_standby_names` while the server runs: commits that wait are released then, without a warning. So a question follows each
//! mark in the same flight: whether the names are set, and when this connection has last read the server's settings. The postmaster
//! signals connections before it signals the process that releases them, so a connection that was released reads the new settings before it
//! answers the question. Names that were emptied and set again show in the time.

use crate::db::postgres::{Limit, PgError, Session};
use crate::postgres::flight::{MARK, integer, only, text};
use crate::postgres::link::Name;

/// The question behind a mark. `link::name` asks the second half when the connection is new.
const QUESTION: &str = "SELECT CAST(current_setting('synchronous_standby_names') <> '' AS int), CAST(pg_conf_load_time() AS text)";

/// What a mark covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cover {
    /// All that was committed before it.
    All,
    /// That is unknown, since the server has read its settings again meanwhile. Another mark tells.
    Unknown,
    /// It waited for no standby.
    OneServer,
}

/// Sends a mark behind what is queued, and the question where it counts. Returns what the mark covers.
pub(super) fn send(session: &mut Session, name: &mut Name, replicated: bool) -> Result<Cover, PgError> {
    session.queue(MARK, &[])?;
    let mark = session.boundary();
    let asked = replicated.then(|| session.query(QUESTION, &[], Limit::ONE));
    session.send()?;
    session.wait(mark)?;
    let Some(asked) = asked else { return Ok(Cover::All) };
    let rows = asked?;
    let row = only(&rows)?;
    let loaded = text(&row, 1).unwrap_or_default();
    let before = std::mem::replace(&mut name.loaded, loaded.to_owned());
    Ok(match integer(&row, 0) {
        Some(1) if before == loaded => Cover::All,
        Some(1) => Cover::Unknown,
        _ => Cover::OneServer,
    })
}
