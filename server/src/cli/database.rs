//! The database that a command reads: `--db FILE`, or else the configured one.

use std::path::{Path, PathBuf};

use super::Failure;
use crate::lifecycle::config::load_config;
use crate::lifecycle::environment::Environment;
use crate::store::db::Db;
use crate::store::error::OpenError;
use crate::store::open::MEMORY;
use crate::store::snapshot::open_snapshot;

/// Opens the database of a command for reading, inside one read transaction that ends with the handle.
///
/// # Errors
/// [`Failure::Usage`] when there is no database that this release can read at the place, [`Failure::Failed`] when
/// there is one that does not open.
pub fn open_for_reading(env: &Environment, db: Option<&Path>) -> Result<Db, Failure> {
    let path = place_of(env, db)?;
    must_be_file(&path)?;
    open_snapshot(&path).map_err(|error| explain(&path, &error))
}

/// The database that a command is about, whether it is there or not.
///
/// # Errors
/// [`Failure::Usage`] where the configuration is needed and does not name a file.
pub fn place_of(env: &Environment, db: Option<&Path>) -> Result<PathBuf, Failure> {
    db.map_or_else(|| configured(env), |path| Ok(path.to_owned()))
}

/// That a file stands at the place, and something in it.
///
/// # Errors
/// [`Failure::Usage`], in a command's words.
pub fn must_be_file(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(Failure::Usage(format!("{shown} is not a file; name the database's file with --db")))
        }
        Ok(found) if found.len() == 0 => Err(Failure::Usage(format!(
            "{shown} is empty: no server has written to it yet; name another with --db"
        ))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::Usage(format!("there is no database at {shown}; name another with --db")))
        }
        Err(error) => Err(Failure::Usage(format!("{shown} cannot be read: {error}"))),
    }
}

/// The configured path. A `--db` file needs no configuration, so that a broken one cannot stand in the way.
fn configured(env: &Environment) -> Result<PathBuf, Failure> {
    let (config, _warnings) = load_config(env, std::process::id()).map_err(|problems| {
        Failure::Usage(format!("{}; mend the environment, or name the file with --db", problems.join("; ")))
    })?;
    if config.db_path == Path::new(MEMORY) {
        let text = "the configured database is in memory and keeps nothing; name a file with --db";
        return Err(Failure::Usage(text.to_owned()));
    }
    Ok(config.db_path)
}

/// What cannot be opened, in a command's words.
fn explain(path: &Path, error: &OpenError) -> Failure {
    let path = path.display();
    match error {
        OpenError::Missing { .. } => {
            Failure::Usage(format!("there is no database at {path}; name another with --db"))
        }
        OpenError::Foreign { .. } => {
            Failure::Usage(format!("{path} is not a Colibri database; name another with --db"))
        }
        OpenError::Newer { found, supported } => Failure::Usage(format!(
            "{path} has schema version {found}, and this release reads up to {supported}; use the release that \
             wrote it, or a later one"
        )),
        OpenError::Older { found, latest } => Failure::Usage(format!(
            "{path} has schema version {found}, and this release reads {latest}; start a server in FULL on it or \
             on a copy of it, which brings it up to date"
        )),
        OpenError::Network { kind, .. } => Failure::Usage(format!(
            "{path} is on a network file system ({kind}); copy it with its -wal file to a local disk and name the copy \
             with --db"
        )),
        OpenError::Locked { .. } => Failure::Failed(format!(
            "{path} is locked by another program; run the command again when that has finished"
        )),
        OpenError::Corrupt { first } => {
            Failure::Failed(format!("{path} is damaged: {first}; keep a copy of it as evidence"))
        }
        other => Failure::Failed(other.to_string()),
    }
}
