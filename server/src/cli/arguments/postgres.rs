//! The arguments of `colibri postgres`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The operator's part of a shared database.
#[derive(Debug, Subcommand, PartialEq, Eq)]
pub enum Postgres {
    /// Make the roles and the schema, as the database's owner or a superuser; it may run again
    Setup(Setup),
    /// Bring the schema to this release's version, as the role that ran setup; it may run again
    Migrate(Migrate),
}

/// Of `setup`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Setup {
    /// Print the SQL, connect to nothing and change nothing
    #[arg(long)]
    pub print: bool,
    /// The database's URL; by default COLIBRI_DATABASE_URL, which keeps its password out of the list of processes
    #[arg(long, value_name = "URL")]
    pub db: Option<PathBuf>,
}

/// Of `migrate`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Migrate {
    /// The database's URL; by default COLIBRI_DATABASE_URL, which keeps its password out of the list of processes
    #[arg(long, value_name = "URL")]
    pub db: Option<PathBuf>,
}
