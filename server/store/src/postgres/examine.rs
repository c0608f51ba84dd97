//! What `colibri doctor` asks of the server of a shared database, in one go. Nothing is changed.

use std::path::Path;
use std::sync::Arc;

use crate::db::postgres::{DatabaseUrl, Limit, PgError, Session, SessionOptions};
use crate::postgres::ask;
pub use crate::postgres::ask::Rights;
use crate::postgres::flight::{integer, only, text};
use crate::postgres::link::{Link, NO_STANDBY};
use crate::postgres::probe;
use crate::postgres::schema::{self, SharedSchema, Stage};
use crate::postgres::witness::{Witness, WitnessError};

/// Why a server was not examined, in the words of a start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// No server could be reached.
    #[error("{0}")]
    Unreachable(String),
    /// The server refused the login.
    #[error("{0}")]
    Refused(String),
    /// It ended the connection, or refused a statement.
    #[error("{0}")]
    Broken(String),
}

impl From<PgError> for Unanswered {
    fn from(error: PgError) -> Self {
        match error {
            PgError::Unreachable(text) => Self::Unreachable(text),
            PgError::Refused(text) => Self::Refused(text),
            other => Self::Broken(other.to_string()),
        }
    }
}

/// What a server says of itself, of this login, and of the database.
#[derive(Debug, Clone)]
pub struct Examination {
    /// Its version, in its own words.
    pub version: String,
    /// Why this release does not work with that version.
    pub refused_version: Option<String>,
    /// The version of TLS on this connection; `None` without TLS.
    pub tls: Option<String>,
    /// It takes no writes.
    pub standby: bool,
    /// How far the schema is.
    pub stage: Stage,
    /// Why this release does not work with a schema that is so far.
    pub unfit: Option<String>,
    /// Why this release does not work with what differs from the schema that the migrations make.
    pub altered: Option<String>,
    /// What differs from that schema without a promise that rests on it, a sentence each.
    pub beside: Vec<String>,
    /// The login's rights.
    pub rights: Rights,
    /// Why writers could fork the log. `None` if the locks hold, or could not be tried on a standby.
    pub loose_locks: Option<String>,
    /// Why the server's settings lose calls.
    pub lax: Option<String>,
    /// Its `synchronous_standby_names`.
    pub standby_names: String,
    /// How many standbys follow it. Which of them are synchronous is for more rights than a server's to see.
    pub standbys: i64,
    /// Why this machine's witness stops a start.
    pub witness: Option<String>,
    /// How far this machine's clock is ahead of the server's, in milliseconds.
    pub clock_ahead_ms: i64,
    /// How long the oldest open transaction that this login may see has lasted, in seconds.
    pub oldest_transaction_s: i64,
    /// Processes whose lease runs, and those whose lease has ended; `None` without the schema.
    pub leases: Option<(i64, i64)>,
    /// How many bytes the database takes.
    pub bytes: i64,
}

impl Examination {
    /// Returns why a start refuses the server because it is a standby.
    pub fn refused_standby(&self) -> Option<&'static str> {
        self.standby.then_some(probe::STANDBY)
    }

    /// Returns why a start refuses the rights of this login.
    pub fn lacking(&self, read_only: bool) -> Option<String> {
        probe::lacking(self.rights, read_only)
    }

    /// Returns a warning if this login may do more than a server needs.
    pub fn excessive(&self) -> Option<String> {
        probe::excessive(self.rights)
    }

    /// Returns a warning if the clocks are apart.
    pub fn clocks_apart(&self) -> Option<String> {
        probe::clocks_apart(self.clock_ahead_ms)
    }

    /// Returns why a start that is to wait for standbys refuses the server.
    pub fn without_standby(&self) -> Option<&'static str> {
        self.standby_names.is_empty().then_some(NO_STANDBY)
    }
}

/// Asks the server.
///
/// # Errors
/// It cannot be reached, refuses the login, or does not answer.
pub fn examination(
    url: &DatabaseUrl,
    options: &SessionOptions,
    schema: &SharedSchema,
    witness: Option<&Path>,
) -> Result<Examination, Unanswered> {
    let link = Link {
        url: Arc::new(url.clone()),
        options: options.clone(),
        patience: options.connect,
        replicated: false,
    };
    let (mut session, _) = link.connect()?;
    let standby = ask::is_standby(&session);
    let version = session.parameter("server_version").unwrap_or("of an unknown version").to_owned();
    let stage = schema::stage(&mut session)?;
    let readable = matches!(stage, Stage::At(_) | Stage::Empty);
    let ours = stage == Stage::At(schema.version());
    let differences = if ours { schema::all_differences(&mut session, schema)? } else { Vec::new() };
    let (beside, differences): (Vec<_>, Vec<_>) =
        differences.into_iter().partition(|(object, _)| schema::is_harmless(object));
    let leases = if readable { leases(&mut session) } else { None };
    Ok(Examination {
        version,
        refused_version: ask::version(&mut session).err(),
        tls: tls(&mut session)?,
        standby,
        stage,
        unfit: stage.fits(schema.version()).err().map(|unfit| unfit.to_string()),
        altered: probe::altered(&differences),
        beside: beside.iter().map(|(object, how)| how.sentence(object)).collect(),
        rights: ask::rights(&mut session)?,
        loose_locks: if standby { None } else { probe::locks_exclude(&mut session, &link)?.err() },
        lax: probe::lax(&ask::unsafe_settings(&mut session)?),
        standby_names: ask::setting(&mut session, "synchronous_standby_names")?,
        standbys: ask::number(&mut session, "SELECT count(*) FROM pg_stat_replication")?,
        witness: if ours { testify(witness, &mut session)? } else { None },
        clock_ahead_ms: ask::clock_ahead_ms(&mut session)?,
        oldest_transaction_s: ask::number(
            &mut session,
            "SELECT CAST(coalesce(extract(epoch FROM now() - min(xact_start)), 0) AS bigint) \
             FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        )?,
        leases,
        bytes: ask::number(&mut session, "SELECT pg_database_size(current_database())")?,
    })
}

/// Asks the witness of this machine, if it has one.
fn testify(folder: Option<&Path>, session: &mut Session) -> Result<Option<String>, PgError> {
    match folder.map(|folder| Witness::look(folder, session)) {
        None => Ok(None),
        Some(Err(WitnessError::File(reason))) => Ok(Some(reason)),
        Some(Err(WitnessError::Server(error))) => Err(error),
        Some(Ok(witness)) => witness.loss_in(session, true),
    }
}

fn tls(session: &mut Session) -> Result<Option<String>, PgError> {
    let sql = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let rows = session.query(sql, &[], Limit::ONE)?;
    Ok(text(&only(&rows)?, 0).map(str::to_owned))
}

fn leases(session: &mut Session) -> Option<(i64, i64)> {
    let sql = "SELECT count(*) FILTER (WHERE lease_until > now()), count(*) FILTER (WHERE lease_until <= now()) FROM colibri.processes";
    let rows = session.query(sql, &[], Limit::ONE).ok()?;
    let row = rows.row(0)?;
    Some((integer(&row, 0)?, integer(&row, 1)?))
}
