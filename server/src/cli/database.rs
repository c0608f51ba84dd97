//! The file that a command reads: a database, from `--db FILE` or the configuration, or the backup that the user names.

use std::io;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::migrations::MIGRATIONS;
use crate::settings::config::{load_config, load_sharing};
use crate::settings::environment::Environment;
use crate::settings::place::{Place, Sharing};
use colibri_store::DatabaseUrl;
use colibri_store::db::Db;
use colibri_store::sqlite::look::snapshot::open_snapshot;
use colibri_store::sqlite::open::error::OpenError;
use colibri_store::sqlite::open::rights;

/// What a file is for, and so how the user names another one.
#[derive(Clone, Copy)]
pub enum Role {
    /// `--db`, or the configured file.
    Database,
    /// The configured file, of a command without `--db`.
    Configured,
    /// The argument of `restore`, whose `--db` is the file to be replaced.
    Backup,
}

impl Role {
    fn noun(self) -> &'static str {
        match self {
            Self::Database | Self::Configured => "database",
            Self::Backup => "backup",
        }
    }

    fn name_another(self) -> &'static str {
        match self {
            Self::Database => "name another with --db",
            Self::Configured => "set COLIBRI_DB_PATH to yours",
            Self::Backup => "name a backup file",
        }
    }

    /// Returns the refusal of a file of another kind.
    pub fn foreign(self, path: &Path) -> Failure {
        let (path, another) = (path.display(), self.name_another());
        Failure::Usage(match self {
            Self::Database | Self::Configured => format!("{path} is not a Colibri database; {another}"),
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
    open(&place_of(env, db)?, Role::Database)
}

/// Opens the configured database for reading, in the same way.
///
/// # Errors
/// As [`open_for_reading`].
pub fn open_configured(env: &Environment) -> Result<Db, Failure> {
    open(&place_of(env, None)?, Role::Configured)
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

/// Returns the path of the database that a command is about, which may be missing.
///
/// # Errors
/// [`Failure::Usage`] if the configuration is needed and does not name a file.
pub fn place_of(env: &Environment, db: Option<&Path>) -> Result<PathBuf, Failure> {
    db.map_or_else(|| configured(env), |path| Ok(path.to_owned()))
}

/// Checks that the path is a file that this process may read, and that it is not empty.
///
/// # Errors
/// [`Failure::Usage`], in a command's words.
pub fn must_be_file(path: &Path, role: Role) -> Result<(), Failure> {
    let (shown, noun, another) = (path.display(), role.noun(), role.name_another());
    let text = match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => match role {
            Role::Database => format!("{shown} is not a file; name the database's file with --db"),
            Role::Configured | Role::Backup => format!("{shown} is not a file; {another}"),
        },
        Ok(found) if found.len() == 0 => match role {
            Role::Database | Role::Configured => {
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
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("there is no {noun} at {shown}; {another}")
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => format!(
            "{shown} cannot be read: {error}; run the command as the file's owner, or let this user enter its folder"
        ),
        Err(error) => format!("{shown} cannot be read: {error}; {another}"),
    };
    Err(Failure::Usage(text))
}

/// Returns the configured path. A `--db` file needs no configuration, so that a broken one cannot stand in the way.
fn configured(env: &Environment) -> Result<PathBuf, Failure> {
    let (config, _warnings) = load_config(env, std::process::id()).map_err(|problems| {
        Failure::Usage(format!("{}; correct the variable, or name the file with --db", problems.join("; ")))
    })?;
    if config.place.is_memory() {
        let text = "the configured database is in memory and keeps nothing; name a file with --db";
        return Err(Failure::Usage(text.to_owned()));
    }
    file_of(&config.place)
}

/// Returns the file of a configured place.
///
/// # Errors
/// [`Failure::Usage`] if it is a shared database.
pub fn file_of(place: &Place) -> Result<PathBuf, Failure> {
    let text = "the command reads a file, and COLIBRI_DATABASE_URL is set; name a file with --db";
    place.file().map(Path::to_owned).ok_or_else(|| Failure::Usage(text.to_owned()))
}

/// Returns the shared database that a command is about, from `--db` or the configuration.
///
/// # Errors
/// [`Failure::Usage`] if none is named, or something else is.
pub fn shared(env: &Environment, db: Option<&Path>) -> Result<(DatabaseUrl, Sharing), Failure> {
    let (place, sharing) = match db {
        Some(named) => named_place(env, named)?,
        None => {
            let (config, _) = load_config(env, std::process::id()).map_err(|problems| {
                Failure::Usage(format!("{}; correct the variable", problems.join("; ")))
            })?;
            (config.place, config.sharing)
        }
    };
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

/// Reads what `--db` names. It needs the settings of shared databases alone, so that a broken configuration cannot stand in the way.
fn named_place(env: &Environment, named: &Path) -> Result<(Place, Sharing), Failure> {
    let sharing = load_sharing(env).map_err(|problems| Failure::Usage(problems.join("; ")))?;
    let place = Place::read(named, sharing.tls)
        .map_err(|reason| Failure::Usage(format!("the URL of --db {reason}")))?;
    Ok((place, sharing))
}

/// Returns why a file cannot be opened, in a command's words.
fn explain(path: &Path, role: Role, error: &OpenError) -> Failure {
    let named = path;
    let path = path.display();
    match error {
        OpenError::Missing { .. } => {
            Failure::Usage(format!("there is no {} at {path}; {}", role.noun(), role.name_another()))
        }
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
            "{path} is on a network file system ({kind}); copy it with its -wal file to a local disk and name the copy{}",
            match role {
                Role::Database => " with --db",
                Role::Configured => " in COLIBRI_DB_PATH",
                Role::Backup => "",
            }
        )),
        OpenError::Locked { .. } => Failure::Failed(format!(
            "{path} is locked by another program; run the command again when that program has finished"
        )),
        OpenError::Corrupt { first } => {
            Failure::Failed(format!("{path} is damaged: {first}; keep a copy of it as evidence"))
        }
        other => Failure::Failed(other.to_string()),
    }
}
