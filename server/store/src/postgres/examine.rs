//! What `colibri doctor` asks of the server of a shared database, in one go. Nothing is changed.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::db::postgres::{DatabaseUrl, Limit, PgError, Session, SessionOptions};
use crate::postgres::flight::{integer, only, text};
use crate::postgres::link::Link;
use crate::postgres::probe;
use crate::postgres::schema::{self, SharedSchema, Stage};

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
    /// What differs from the schema that the migrations make, a sentence each.
    pub differences: Vec<String>,
    /// The login's rights.
    pub rights: Rights,
    /// Why writers could fork the log. `None` if the locks hold, or could not be tried on a standby.
    pub loose_locks: Option<String>,
    /// The settings `fsync` and `full_page_writes` that are not `on`.
    pub unsafe_settings: Vec<String>,
    /// Its `synchronous_standby_names`.
    pub standby_names: String,
    /// How far this machine's clock is ahead of the server's, in milliseconds.
    pub clock_ahead_ms: i64,
    /// How long the oldest open transaction that this login may see has lasted, in seconds.
    pub oldest_transaction_s: i64,
    /// Processes whose lease runs, and those whose lease has ended; `None` without the schema.
    pub leases: Option<(i64, i64)>,
    /// How many bytes the database takes.
    pub bytes: i64,
}

/// What a login may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// It is a superuser.
    pub superuser: bool,
    /// It is a member of `colibri_owner`.
    pub owner: bool,
    /// It is a member of `colibri_app`.
    pub app: bool,
    /// It is a member of `colibri_read`.
    pub read: bool,
}

/// Asks the server.
///
/// # Errors
/// It cannot be reached, refuses the login, or does not answer.
pub fn examination(
    url: &DatabaseUrl,
    options: &SessionOptions,
    schema: &SharedSchema,
) -> Result<Examination, PgError> {
    let link = Link { url: Arc::new(url.clone()), options: options.clone(), patience: options.connect };
    let (mut session, _) = link.connect()?;
    let standby = session.parameter("in_hot_standby") == Some("on");
    let version = session.parameter("server_version").unwrap_or("of an unknown version").to_owned();
    let stage = schema::stage(&mut session)?;
    let readable = matches!(stage, Stage::At(_) | Stage::Empty);
    let differences = match stage == Stage::At(schema.version()) {
        true => schema::differences(&mut session, schema)?,
        false => Vec::new(),
    };
    let leases = if readable { leases(&mut session) } else { None };
    Ok(Examination {
        version,
        refused_version: probe::version(&mut session).err(),
        tls: tls(&mut session)?,
        standby,
        stage,
        differences: differences.iter().map(|(object, how)| how.sentence(object)).collect(),
        rights: rights(&mut session)?,
        loose_locks: if standby { None } else { probe::locks_exclude(&mut session, &link)?.err() },
        unsafe_settings: unsafe_settings(&mut session)?,
        standby_names: shown(&mut session, "SELECT current_setting('synchronous_standby_names')")?,
        clock_ahead_ms: clock(&mut session)?,
        oldest_transaction_s: number(
            &mut session,
            "SELECT CAST(coalesce(extract(epoch FROM now() - min(xact_start)), 0) AS bigint) \
             FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        )?,
        leases,
        bytes: number(&mut session, "SELECT pg_database_size(current_database())")?,
    })
}

fn number(session: &mut Session, sql: &str) -> Result<i64, PgError> {
    let rows = session.query(sql, &[], Limit::ONE)?;
    Ok(integer(&only(&rows)?, 0).unwrap_or_default())
}

fn shown(session: &mut Session, sql: &str) -> Result<String, PgError> {
    let rows = session.query(sql, &[], Limit::ONE)?;
    Ok(text(&only(&rows)?, 0).unwrap_or_default().to_owned())
}

fn tls(session: &mut Session) -> Result<Option<String>, PgError> {
    let version =
        shown(session, "SELECT coalesce(version, '') FROM pg_stat_ssl WHERE pid = pg_backend_pid()")?;
    Ok((!version.is_empty()).then_some(version))
}

fn rights(session: &mut Session) -> Result<Rights, PgError> {
    let sql = "SELECT coalesce(bool_or(r.rolsuper), false), \
                      coalesce(bool_or(g.rolname = 'colibri_owner'), false), coalesce(bool_or(g.rolname = 'colibri_app'), false), \
                      coalesce(bool_or(g.rolname = 'colibri_read'), false) \
               FROM pg_catalog.pg_roles AS r LEFT JOIN pg_catalog.pg_roles AS g \
                 ON g.rolname IN ('colibri_owner', 'colibri_app', 'colibri_read') AND pg_has_role(r.oid, g.oid, 'MEMBER') \
               WHERE r.rolname = current_user";
    let rows = session.query(sql, &[], Limit::ONE)?;
    let row = only(&rows)?;
    let has = |at| integer(&row, at) == Some(1);
    Ok(Rights { superuser: has(0), owner: has(1), app: has(2), read: has(3) })
}

fn unsafe_settings(session: &mut Session) -> Result<Vec<String>, PgError> {
    let sql = "SELECT name || ' = ' || setting FROM pg_catalog.pg_settings \
               WHERE name IN ('fsync', 'full_page_writes') AND setting <> 'on' ORDER BY name";
    let rows = session.query(sql, &[], Limit::ALL)?;
    Ok(rows.iter().filter_map(|row| text(&row, 0).map(str::to_owned)).collect())
}

fn clock(session: &mut Session) -> Result<i64, PgError> {
    let theirs = number(session, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)")?;
    let ours = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Ok(i64::try_from(ours).unwrap_or(i64::MAX).saturating_sub(theirs))
}

fn leases(session: &mut Session) -> Option<(i64, i64)> {
    let sql = "SELECT count(*) FILTER (WHERE lease_until > now()), count(*) FILTER (WHERE lease_until <= now()) FROM colibri.processes";
    let rows = session.query(sql, &[], Limit::ONE).ok()?;
    let row = rows.row(0)?;
    Some((integer(&row, 0)?, integer(&row, 1)?))
}
