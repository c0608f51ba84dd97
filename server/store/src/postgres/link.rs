//! The way to the server: how to connect, and how to connect anew when a connection is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_runtime::chain::store::StoreFault;

use crate::db::postgres::{DatabaseUrl, Limit, PgError, Session, SessionOptions};
use crate::params;
use crate::postgres::flight::{integer, only, text};

/// The first pause between two attempts, which doubles, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// How long the server may take to end a connection of ours.
const END_MS: i64 = 2_000;

/// How to reach the database.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub url: Arc<DatabaseUrl>,
    pub options: SessionOptions,
    /// How long calls wait for a lock, and for a connection.
    pub patience: Duration,
    /// A server must wait for a standby, also one that has taken over.
    pub replicated: bool,
}

/// What is said of it.
pub(super) const NO_STANDBY: &str = "COLIBRI_DURABILITY is replicated, and the server waits for no standby: set its \
                                     synchronous_standby_names, or COLIBRI_DURABILITY=full";

/// What tells a connection from all others, also from one that gets its number after a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pid: i64,
    since: String,
    /// When it has last read the server's settings, as far as this process knows.
    pub loaded: String,
}

impl Link {
    /// Connects once.
    pub(super) fn connect(&self) -> Result<(Session, Name), PgError> {
        let mut session = Session::establish(&self.url, &self.options)?;
        let (name, waits) = name(&mut session)?;
        match self.replicated && !waits {
            true => Err(PgError::Unreachable(NO_STANDBY.to_owned())),
            false => Ok((session, name)),
        }
    }

    /// Connects, trying again until `until`.
    pub(super) fn connect_until(&self, until: Instant) -> Result<(Session, Name), PgError> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.connect() {
                Err(PgError::Unreachable(_) | PgError::Lost(_) | PgError::Server(_))
                    if Instant::now() + pause < until =>
                {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                other => return other,
            }
        }
    }
}

/// Returns the name of this connection, and whether commits wait for a standby. For a standby the second is true: it commits nothing, and the
/// start refuses it in words of its own.
fn name(session: &mut Session) -> Result<(Name, bool), PgError> {
    let sql = "SELECT pid, CAST(backend_start AS text), \
               CAST(pg_is_in_recovery() OR current_setting('synchronous_standby_names') <> '' AS int), \
               CAST(pg_conf_load_time() AS text) \
               FROM pg_stat_activity WHERE pid = pg_backend_pid()";
    let rows = session.query(sql, &[], Limit::ONE)?;
    let row = only(&rows)?;
    let name = Name {
        pid: integer(&row, 0).unwrap_or_default(),
        since: text(&row, 1).unwrap_or_default().to_owned(),
        loaded: text(&row, 3).unwrap_or_default().to_owned(),
    };
    Ok((name, integer(&row, 2) == Some(1)))
}

/// Ends a connection that this process has given up, so that nothing that was sent on it is still carried out. Does nothing if the
/// server does not know it.
pub(super) fn end(session: &mut Session, name: &Name) -> Result<(), PgError> {
    let sql = "SELECT pg_terminate_backend(pid, ?3) FROM pg_stat_activity \
               WHERE pid = CAST(?1 AS int) AND CAST(backend_start AS text) = ?2";
    session.query(sql, params![name.pid, name.since.as_str(), END_MS], Limit::ALL).map(drop)
}

/// What is said when the server cannot be reached. The word in front is for people and logs. The catalogue does not declare it: a reply
/// has the code of the stage that failed, whose remedy holds here, too (postgres#lost).
pub(super) fn unavailable(error: &PgError) -> StoreFault {
    StoreFault(format!("STORE_UNAVAILABLE: {error}"))
}
