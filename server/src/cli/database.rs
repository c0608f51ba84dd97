//! What a command reads: a database, from `--db` or the configuration, which is a file or a shared one, or the backup that the user names.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use crate::lifecycle::preflight::database::database_in;
use crate::migrations::MIGRATIONS;
use crate::settings::config::{Config, load_config, load_sharing};
use crate::settings::environment::Environment;
use crate::settings::keys;
use crate::settings::mode::Mode;
use crate::settings::place::{Place, Sharing, is_url};
use crate::shared_schema::SCHEMA;
use colibri_store::DatabaseUrl;
use colibri_store::db::Db;
use colibri_store::shared_look::{self, LookError};
use colibri_store::sqlite::look::snapshot::open_snapshot;
use colibri_store::sqlite::open::error::OpenError;
use colibri_store::sqlite::open::rights;
use colibri_visible::printable;

/// What a file is for, and so how the user names another one.
#[derive(Clone, Copy)]
pub enum Role {
    /// `--db`, or the configured file.
    Database,
    /// The configured file, of a command without `--db`.
    Configured,
    /// The first argument of `copy`.
    Copied,
    /// The argument of `restore`, whose `--db` is the file to be replaced.
    Backup,
}

impl Role {
    fn noun(self) -> &'static str {
        match self {
            Self::Database | Self::Configured | Self::Copied => "database",
            Self::Backup => "backup",
        }
    }

    fn name_another(self) -> &'static str {
        match self {
            Self::Database => "check --db and COLIBRI_DB_PATH",
            Self::Configured => "set COLIBRI_DB_PATH to yours",
            Self::Copied => "check FROM",
            Self::Backup => "name a backup file",
        }
    }

    /// Returns the refusal of a file of another kind.
    pub fn foreign(self, path: &Path) -> Failure {
        let (path, another) = (path.display(), self.name_another());
        Failure::Usage(match self {
            Self::Database | Self::Configured | Self::Copied => {
                format!("{path} is not a Colibri database; {another}")
            }
            Self::Backup => format!("{path} is not a backup of a Colibri database; {another}"),
        })
    }
}

/// Opens the database of a command for reading, inside one read transaction that ends with the handle.
///
/// # Errors
/// [`Failure::Usage`] if the place has no database that this release can read, [`Failure::Failed`] if
/// it has one that does not open.
pub fn open_for_reading(env: &Environment, db: Option<&Path>) -> Result<Db, Failure> {
    let (place, sharing) = place_of(env, db)?;
    open_and_tell(&place, &sharing, Role::Database)
}

/// Opens the configured database for reading, in the same way.
///
/// # Errors
/// As [`open_for_reading`].
pub fn open_configured(env: &Environment) -> Result<Db, Failure> {
    let (place, sharing) = place_of(env, None)?;
    open_and_tell(&place, &sharing, Role::Configured)
}

/// Opens a database for reading, in the same way, and says on stderr if calls may be missing from it.
///
/// # Errors
/// As [`open_for_reading`].
pub fn open_and_tell(place: &Place, sharing: &Sharing, role: Role) -> Result<Db, Failure> {
    let db = open_place(place, sharing, role)?;
    if let Some((path, gap)) = place.file().zip(db.log_gap()) {
        // A closed stderr changes nothing about the command.
        let _ = writeln!(io::stderr(), "colibri: {}: {gap}", printable(&path.to_string_lossy()));
    }
    Ok(db)
}

/// Opens the database at a place for reading, in the same way, and says nothing.
///
/// # Errors
/// As [`open_for_reading`].
pub fn open_place(place: &Place, sharing: &Sharing, role: Role) -> Result<Db, Failure> {
    match place {
        Place::File(path) => open(path, role),
        Place::Shared(url) => {
            shared_look::open_snapshot(url, &sharing.whole(), &SCHEMA).map_err(|error| unreadable(&error))
        }
    }
}

/// Returns why a shared database cannot be read.
pub fn unreadable(error: &LookError) -> Failure {
    Failure::Usage(error.to_string())
}

/// Opens a backup for reading, in the same way.
///
/// # Errors
/// As [`open_for_reading`].
pub fn open_backup(path: &Path) -> Result<Db, Failure> {
    open(path, Role::Backup)
}

fn open(path: &Path, role: Role) -> Result<Db, Failure> {
    must_be_file(path, role)?;
    open_snapshot(path, MIGRATIONS).map_err(|error| explain(path, role, &error))
}

/// Returns the place of the database that a command is about, which may be missing, and how shared ones are reached.
///
/// # Errors
/// [`Failure::Usage`] if the configuration is needed and names none, or if a URL is wrong.
pub fn place_of(env: &Environment, db: Option<&Path>) -> Result<(Place, Sharing), Failure> {
    let Some(named) = db else { return configured(env) };
    // `--db` needs the settings of shared databases alone, so that a broken configuration cannot stand in the way.
    let (sharing, problems) = load_sharing(env);
    let place = Place::read(named, sharing.tls)
        .map_err(|reason| Failure::Usage(format!("the URL of --db {reason}")))?;
    if place.file().is_none() && !problems.is_empty() {
        return Err(Failure::Usage(problems.join("; ")));
    }
    Ok((place, sharing))
}

/// Returns the environment with another database.
pub fn on_database(env: &Environment, db: &Path) -> Environment {
    let (named, other) = match is_url(db) {
        true => (keys::DATABASE_URL.name, keys::DB_PATH.name),
        false => (keys::DB_PATH.name, keys::DATABASE_URL.name),
    };
    env.without(other).with(named, db)
}

/// Returns the file that a command is about, which may be missing.
///
/// # Errors
/// As [`place_of`]; [`Failure::Usage`] for a shared database.
pub fn file_of(env: &Environment, db: Option<&Path>, instead: &str) -> Result<PathBuf, Failure> {
    match place_of(env, db)?.0 {
        Place::File(path) => Ok(path),
        Place::Shared(_) => Err(Failure::Usage(instead.to_owned())),
    }
}

/// Checks that the path is a file that this process may read, and that it is not empty.
///
/// # Errors
/// [`Failure::Usage`], in a command's words.
pub fn must_be_file(path: &Path, role: Role) -> Result<(), Failure> {
    let (shown, another) = (path.display(), role.name_another());
    let text = match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => match (role, database_in(path)) {
            (Role::Backup, _) | (Role::Configured | Role::Copied, None) => {
                format!("{shown} is not a file; {another}")
            }
            (Role::Database, None) => format!("{shown} is not a file; name the database's file with --db"),
            (_, Some(file)) => format!("{shown} is a folder; did you mean {}?", file.display()),
        },
        Ok(found) if found.len() == 0 => match role {
            Role::Database | Role::Configured | Role::Copied => {
                format!("{shown} is empty: no server has written to it yet; {another}")
            }
            Role::Backup => format!("{shown} is empty and not a backup; {another}"),
        },
        Ok(_) => match rights::refused_to_read(path) {
            Some((file, error)) => format!(
                "{} cannot be read: {error}; run the command as the file's owner, or let this user read the file",
                file.display()
            ),
            None => return Ok(()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(path, role)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => format!(
            "{shown} cannot be read: {error}; run the command as the file's owner, or let this user enter its folder"
        ),
        Err(error) => format!("{shown} cannot be read: {error}; {another}"),
    };
    Err(Failure::Usage(text))
}

/// Returns the refusal of a file that is missing.
fn missing(path: &Path, role: Role) -> Failure {
    let (shown, noun, another) = (path.display(), role.noun(), role.name_another());
    let first = match role {
        Role::Database | Role::Configured => " (the first start of a server creates it)",
        Role::Copied | Role::Backup => "",
    };
    Failure::Usage(format!("there is no {noun} at {shown}{first}; {another}"))
}

/// Returns the configured place.
fn configured(env: &Environment) -> Result<(Place, Sharing), Failure> {
    let (config, _warnings) = load_config(env, std::process::id()).map_err(|problems| {
        Failure::Usage(format!("{}; correct the variable, or name the file with --db", sentence(&problems)))
    })?;
    if config.place.is_memory() {
        let text = "the configured database is in memory and keeps nothing; name a file with --db";
        return Err(Failure::Usage(text.to_owned()));
    }
    if let Some(path) = config.place.file().filter(|path| !path.exists())
        && let Some(why) = makes_none(&config)
    {
        return Err(Failure::Usage(format!(
            "there is no database at {}, and {why}; name a file with --db",
            path.display()
        )));
    }
    Ok((config.place, config.sharing))
}

/// Returns why no start with this configuration leaves a database there.
fn makes_none(config: &Config) -> Option<&'static str> {
    match config.mode {
        Mode::Minimal => Some("a server in MINIMAL opens none"),
        Mode::Readonly => Some("a server in READONLY creates none"),
        Mode::Test if config.ephemeral_db => {
            Some("each server in TEST creates its own and removes it when it stops")
        }
        _ => None,
    }
}

/// Returns problems as the beginning of a sentence. Some of them end in a full stop.
pub fn sentence(problems: &[String]) -> String {
    let problems: Vec<&str> = problems.iter().map(|problem| problem.trim_end_matches('.')).collect();
    problems.join("; ")
}

/// Returns the shared database that a command is about, from `--db` or the configuration.
///
/// # Errors
/// [`Failure::Usage`] if none is named, or something else is.
pub fn shared(env: &Environment, db: Option<&Path>) -> Result<(DatabaseUrl, Sharing), Failure> {
    let (place, sharing) = place_of(env, db)?;
    match (place, db) {
        (Place::Shared(url), _) => Ok((url, sharing)),
        (Place::File(_), None) => {
            let text = "COLIBRI_DATABASE_URL is not set; set it to postgres://user:password@host/database";
            Err(Failure::Usage(text.to_owned()))
        }
        // It is not repeated: a URL with a mistake at its beginning may hold a password.
        (Place::File(_), Some(_)) => {
            let text = "--db is not the URL of a PostgreSQL database; write postgres://user@host/database";
            Err(Failure::Usage(text.to_owned()))
        }
    }
}

/// Returns the failure for a file that another program has locked.
pub fn locked(path: &Path) -> Failure {
    Failure::Failed(format!(
        "{} is locked by another program; run the command again when that program has finished",
        path.display()
    ))
}

/// Returns why a file cannot be opened, in a command's words.
fn explain(path: &Path, role: Role, error: &OpenError) -> Failure {
    let named = path;
    let path = path.display();
    match error {
        OpenError::Missing { .. } => missing(named, role),
        OpenError::Foreign { .. } => role.foreign(named),
        OpenError::Newer { found, supported } => Failure::Usage(format!(
            "{path} has schema version {found}, and this release reads up to {supported}; use the release that \
             wrote it, or a later one"
        )),
        OpenError::Older { found, latest } => Failure::Usage(format!(
            "{path} has schema version {found}, and this release reads {latest}; start a server in FULL on a copy \
             to migrate the copy, or on the file itself"
        )),
        OpenError::Network { kind, .. } => Failure::Usage(format!(
            "{path} is on a {kind}; copy it with its -wal file to a local disk and name the copy{}",
            match role {
                Role::Database => " with --db",
                Role::Configured => " in COLIBRI_DB_PATH",
                Role::Copied | Role::Backup => "",
            }
        )),
        OpenError::Locked { .. } => locked(named),
        OpenError::Corrupt { first } => {
            Failure::Failed(format!("{path} is damaged: {first}; keep a copy of it as evidence"))
        }
        other => Failure::Failed(other.to_string()),
    }
}
