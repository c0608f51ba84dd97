//! `colibri postgres`: the operator makes a shared database ready. A server never does it by itself, because other machines use the
//! database at the same time. Exit 0 if it is done, 1 if it could not be, 2 for a bad command line.

use std::io::Write;

use super::Failure;
use super::arguments::postgres::{Migrate, Postgres, Setup};
use super::database::shared;
use crate::settings::environment::Environment;
use crate::shared_schema::{SCHEMA, SETUP};
use colibri_store::{Migrated, SetupError, Stage, migrate, set_up};

/// What the operator does when the schema is ready.
const LOGIN: &str = "next: give each machine a login role of its own: CREATE ROLE laptop LOGIN PASSWORD '…' IN ROLE colibri_app; \
                     then set COLIBRI_DATABASE_URL on that machine to its URL, and run `colibri doctor` there";

/// Runs one of the commands.
pub fn run(command: &Postgres, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Postgres::Setup(arguments) => setup(arguments, env, out),
        Postgres::Migrate(arguments) => bring_up(arguments, env, out),
    }
}

fn setup(arguments: &Setup, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    if arguments.print {
        out.write_all(SETUP.as_bytes())?;
        return Ok(out.flush()?);
    }
    let (url, sharing) = shared(env, arguments.db.as_deref())?;
    let (made, stage) = set_up(&url, &sharing.whole(), &SCHEMA).map_err(|error| failure(&error))?;
    for thing in made {
        let how = if thing.new { "made" } else { "was there; its rights are in order" };
        writeln!(out, "{} {}: {how}", thing.sort, thing.name)?;
    }
    let next = match stage {
        Stage::At(version) if version == SCHEMA.version() => LOGIN,
        _ => "next: colibri postgres migrate",
    };
    writeln!(out, "{next}")?;
    Ok(out.flush()?)
}

fn bring_up(arguments: &Migrate, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let (url, sharing) = shared(env, arguments.db.as_deref())?;
    let Migrated { before, applied, differences } =
        migrate(&url, &sharing.whole(), &SCHEMA).map_err(|error| failure(&error))?;
    for name in &applied {
        writeln!(out, "migration {name}: done")?;
    }
    let version = SCHEMA.version();
    match before {
        Stage::At(found) if applied.is_empty() => writeln!(out, "schema version {found}: nothing to do")?,
        Stage::At(found) => writeln!(out, "schema version {version}, before {found}")?,
        _ => writeln!(out, "schema version {version}")?,
    }
    for difference in &differences {
        writeln!(out, "differs: {difference}")?;
    }
    if differences.is_empty() {
        writeln!(out, "{LOGIN}")?;
        return Ok(out.flush()?);
    }
    out.flush()?;
    Err(Failure::Failed(
        "the schema is not the one that the migrations make, so no server starts on it; find out who has changed it, and keep a \
         backup as evidence"
            .to_owned(),
    ))
}

fn failure(error: &SetupError) -> Failure {
    Failure::Failed(error.to_string())
}
