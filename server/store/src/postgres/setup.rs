//! What the operator of a shared database runs (postgres#start): setup makes the roles and the schema, migrations fill it. Both may run
//! again. A server does neither.

use std::collections::BTreeSet;

use crate::Migration;
use crate::db::postgres::{DatabaseUrl, Limit, PgError, ServerError, Session, SessionOptions, Target};
use crate::params;
use crate::postgres::ask;
use crate::postgres::flight::{LOCK_CLASS, text};
use crate::postgres::schema::{self, SharedSchema, Stage, Unfit};
use crate::sqlite::open::migrate::{is_effectively_empty, ordered};

/// What setup makes: the sort of each thing, and its name.
const MADE: [(&str, &str); 4] =
    [("role", "colibri_owner"), ("role", "colibri_app"), ("role", "colibri_read"), ("schema", "colibri")];
/// The second key of the lock that keeps two runs from getting in each other's way; servers take 1 and 2.
const LOCK: i64 = 3;

/// Why a database could not be set up or migrated. The texts say what to do.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The server is of another version.
    #[error("{0}")]
    Version(String),
    /// The roles or the schema are missing.
    #[error("the database has no schema of Colibri's; run `colibri postgres setup` first")]
    NotSetUp,
    /// The schema is another program's.
    #[error(
        "the schema colibri belongs to the role {0} and not to colibri_owner, so it may be another program's, and nothing in it is \
         changed; name another database"
    )]
    Foreign(String),
    /// The login role may not do it.
    #[error(
        "the login role may not set the database up; name a superuser, or the database's owner with the right to create roles. \
         `colibri postgres setup --print` prints what the role would run"
    )]
    MayNotSetUp,
    /// The login role may not become the owner.
    #[error(
        "the login role is no member of colibri_owner; name the role that ran setup, or let that role run: GRANT colibri_owner TO \
         the role"
    )]
    MayNotMigrate,
    /// A later release has migrated it.
    #[error("{0}")]
    Newer(Unfit),
    /// Setup's own text was refused.
    #[error("setup was refused, and nothing was changed: {0}")]
    Setup(Box<ServerError>),
    /// A migration was refused.
    #[error("migration {name} was refused, and nothing of it was kept: {error}")]
    Migration {
        /// `NNN_name`.
        name: String,
        /// The server's error.
        error: Box<ServerError>,
    },
    /// Another run holds the lock.
    #[error(
        "another setup or migration is running on this database; run the command again when it has ended"
    )]
    Busy,
    /// The server or the connection.
    #[error("{0}")]
    Server(#[from] PgError),
}

/// A thing that setup makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// `role` or `schema`.
    pub sort: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Whether this run made it.
    pub new: bool,
}

/// Makes the roles and the schema, or puts their rights in order again; returns them, and how far the schema is.
///
/// # Errors
/// [`SetupError`]. Nothing is changed then.
pub fn set_up(
    url: &DatabaseUrl,
    options: &SessionOptions,
    schema: &SharedSchema,
) -> Result<(Vec<Made>, Stage), SetupError> {
    let mut session = connect(url, options)?;
    begin(&mut session)?;
    let before = present(&mut session)?;
    own(&mut session)?;
    session.simple(schema.setup).map_err(|error| match error {
        PgError::Server(error) if error.code == "42501" => SetupError::MayNotSetUp,
        PgError::Server(error) => SetupError::Setup(error),
        other => SetupError::Server(other),
    })?;
    session.simple("COMMIT")?;
    let made = MADE.map(|(sort, name)| Made { sort, name, new: !before.contains(&format!("{sort} {name}")) });
    Ok((made.to_vec(), schema::stage(&mut session)?))
}

/// What a run of the migrations did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// How far the schema was.
    pub before: Stage,
    /// The migrations of this run, `NNN_name`.
    pub applied: Vec<&'static str>,
    /// What differs from the schema that the migrations make, a sentence each.
    pub differences: Vec<String>,
}

/// Runs the migrations that the database lacks, each in a transaction of its own, as `colibri_owner`.
///
/// # Errors
/// [`SetupError`]. Earlier migrations stay, nothing of a failed one does.
pub fn migrate(
    url: &DatabaseUrl,
    options: &SessionOptions,
    schema: &SharedSchema,
) -> Result<Migrated, SetupError> {
    let mut session = connect(url, options)?;
    become_owner(&mut session)?;
    let before = schema::stage(&mut session)?;
    session.simple("ROLLBACK")?;
    if let Err(newer @ Unfit::Newer { .. }) = before.fits(schema.version()) {
        return Err(SetupError::Newer(newer));
    }
    let list = ordered(schema.migrations).map_err(|error| PgError::Setting(error.to_string()))?;
    let mut applied = Vec::new();
    for (number, migration) in list {
        if apply(&mut session, i64::from(number), &migration)? {
            applied.push(migration.name());
        }
    }
    let differences = schema::differences(&mut session, schema)?;
    let differences = differences.iter().map(|(object, how)| how.sentence(object)).collect();
    Ok(Migrated { before, applied, differences })
}

pub(crate) fn connect(url: &DatabaseUrl, options: &SessionOptions) -> Result<Session, SetupError> {
    let options = SessionOptions { target: Target::ReadWrite, ..options.clone() };
    let mut session = Session::establish(url, &options)?;
    ask::version(&mut session).map_err(SetupError::Version)?;
    Ok(session)
}

/// Opens a transaction that only one run has at a time.
fn begin(session: &mut Session) -> Result<(), SetupError> {
    session.simple("BEGIN")?;
    let sql = "SELECT pg_advisory_xact_lock(CAST(?1 AS int), CAST(?2 AS int))";
    session.query(sql, params![LOCK_CLASS, LOCK], Limit::ALL).map(drop).map_err(|error| {
        match error.sqlstate() {
            Some("55P03") => SetupError::Busy,
            _ => SetupError::Server(error),
        }
    })
}

/// Refuses a schema of that name that setup did not make.
fn own(session: &mut Session) -> Result<(), SetupError> {
    let sql = "SELECT CAST(pg_get_userbyid(nspowner) AS text) FROM pg_namespace WHERE nspname = 'colibri'";
    let rows = session.query(sql, &[], Limit::ONE)?;
    match rows.row(0).as_ref().and_then(|row| text(row, 0)) {
        Some(owner) if owner != "colibri_owner" => Err(SetupError::Foreign(owner.to_owned())),
        _ => Ok(()),
    }
}

/// The same, as the owner of the schema, whose tables the migrations make.
pub(crate) fn become_owner(session: &mut Session) -> Result<(), SetupError> {
    begin(session)?;
    own(session)?;
    session.simple("SET LOCAL ROLE colibri_owner").map_err(|error| match error.sqlstate() {
        Some("22023") => SetupError::NotSetUp,
        Some("42501") => SetupError::MayNotMigrate,
        _ => SetupError::Server(error),
    })?;
    match schema::stage(session)? {
        Stage::Absent => Err(SetupError::NotSetUp),
        Stage::Hidden => Err(SetupError::MayNotMigrate),
        Stage::Empty | Stage::At(_) => Ok(session.simple("SET LOCAL search_path = colibri")?),
    }
}

/// Runs one migration unless the database has it by now; returns whether it ran.
fn apply(session: &mut Session, number: i64, migration: &Migration) -> Result<bool, SetupError> {
    become_owner(session)?;
    if matches!(schema::stage(session)?, Stage::At(found) if found >= number) {
        session.simple("ROLLBACK")?;
        return Ok(false);
    }
    let refused = |error| match error {
        PgError::Server(error) => SetupError::Migration { name: migration.name().to_owned(), error },
        other => SetupError::Server(other),
    };
    if !is_effectively_empty(migration.sql) {
        session.simple(migration.sql).map_err(refused)?;
    }
    let version = format!("INSERT INTO colibri.schema_version (version) VALUES ({number}); COMMIT");
    session.simple(&version).map_err(refused)?;
    Ok(true)
}

/// Returns what is there of the things that setup makes.
fn present(session: &mut Session) -> Result<BTreeSet<String>, PgError> {
    let sql = "SELECT 'role ' || rolname FROM pg_catalog.pg_roles UNION ALL \
               SELECT 'schema ' || nspname FROM pg_catalog.pg_namespace";
    let rows = session.query(sql, &[], Limit::ALL)?;
    Ok(rows.iter().filter_map(|row| text(&row, 0).map(str::to_owned)).collect())
}
