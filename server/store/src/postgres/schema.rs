//! The schema of a shared database (postgres#start): its version, and how its catalog differs from the one that the migrations make.

use std::collections::BTreeMap;

use crate::Migration;
use crate::db::postgres::{Limit, PgError, Session};
use crate::params;
use crate::postgres::flight::{integer, text};
use crate::sqlite::look::schema::Difference;
use crate::sqlite::open::migrate::latest;

/// The search path of every session.
const SEARCH_PATH: &str = "colibri, pg_temp";

/// The schema of shared databases, compiled in.
#[derive(Debug, Clone, Copy)]
pub struct SharedSchema {
    /// Makes the roles and the schema.
    pub setup: &'static str,
    /// Its migrations, in order.
    pub migrations: &'static [Migration],
    /// Asks the catalog for the schema's objects: a name and a digest a row.
    pub catalog_query: &'static str,
    /// What it answers after the last migration: an object a line, its digest behind the last space.
    pub catalog: &'static str,
}

impl SharedSchema {
    /// Returns the version that this release reads and writes.
    pub fn version(&self) -> i64 {
        latest(self.migrations)
    }
}

/// How far a database's schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// `colibri postgres setup` has not run.
    Absent,
    /// It has, and no migration.
    Empty,
    /// The version is that of the last migration.
    At(i64),
    /// The login role may not read it.
    Hidden,
}

/// Why this release does not work with a database's schema. The texts say what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// No migration has run.
    #[error(
        "the database has no schema of Colibri's; run `colibri postgres setup` and `colibri postgres migrate` as its owner, or name another"
    )]
    Foreign,
    /// The login role may not read it.
    #[error(
        "the login role may not read Colibri's schema; let the database's owner run: GRANT colibri_read TO the role, or GRANT \
         colibri_app for a server that takes calls"
    )]
    Hidden,
    /// A later release has migrated it.
    #[error(
        "the database has schema version {found}, and this release works with {latest}; use the release that migrated it, or a later one"
    )]
    Newer {
        /// The database's version.
        found: i64,
        /// This release's.
        latest: i64,
    },
    /// An earlier release has migrated it.
    #[error(
        "the database has schema version {found}, and this release works with {latest}; run `colibri postgres migrate` as its owner, or \
         use the release that it was made by"
    )]
    Older {
        /// The database's version.
        found: i64,
        /// This release's.
        latest: i64,
    },
}

impl Stage {
    /// Returns why a release whose version of the schema is `latest` does not work with a schema that is so far.
    pub(super) fn fits(self, latest: i64) -> Result<(), Unfit> {
        match self {
            Self::Absent | Self::Empty => Err(Unfit::Foreign),
            Self::Hidden => Err(Unfit::Hidden),
            Self::At(found) if found > latest => Err(Unfit::Newer { found, latest }),
            Self::At(found) if found < latest => Err(Unfit::Older { found, latest }),
            Self::At(_) => Ok(()),
        }
    }
}

/// Returns how far the schema is.
///
/// # Errors
/// The server's.
pub fn stage(session: &mut Session) -> Result<Stage, PgError> {
    // By the catalog, because a name that a role may not use is an error.
    let sql = "SELECT c.oid IS NOT NULL, \
                      has_schema_privilege(n.oid, 'USAGE') AND coalesce(has_table_privilege(c.oid, 'SELECT'), true) \
               FROM pg_catalog.pg_namespace AS n \
               LEFT JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'schema_version' \
               WHERE n.nspname = 'colibri'";
    let rows = session.query(sql, &[], Limit::ONE)?;
    let Some(row) = rows.row(0) else { return Ok(Stage::Absent) };
    match (integer(&row, 0), integer(&row, 1)) {
        (_, Some(0)) => Ok(Stage::Hidden),
        (Some(1), _) => {
            let rows = session.query("SELECT max(version) FROM colibri.schema_version", &[], Limit::ONE)?;
            Ok(rows.row(0).and_then(|row| integer(&row, 0)).map_or(Stage::Empty, Stage::At))
        }
        _ => Ok(Stage::Empty),
    }
}

/// Returns the objects that differ from those that the migrations make, and so may change what the log promises.
///
/// # Errors
/// The server's.
pub fn differences(
    session: &mut Session,
    schema: &SharedSchema,
) -> Result<Vec<(String, Difference)>, PgError> {
    Ok(all_differences(session, schema)?.into_iter().filter(|(object, _)| !is_harmless(object)).collect())
}

/// Returns whether no promise rests on an object: an index that only makes questions faster, and another role's right to read.
pub(super) fn is_harmless(object: &str) -> bool {
    ["index ", "right "].iter().any(|sort| object.starts_with(sort))
}

/// Returns all objects that differ.
pub(super) fn all_differences(
    session: &mut Session,
    schema: &SharedSchema,
) -> Result<Vec<(String, Difference)>, PgError> {
    // Names that the search path finds are written without their schema.
    let path = "SELECT set_config('search_path', ?1, false)";
    session.queue(path, params!["colibri"])?;
    let rows = session.query(schema.catalog_query, &[], Limit::ALL)?;
    // After a failure it is as it was, because nothing before it has ended.
    session.queue(path, params![SEARCH_PATH])?;
    let mut found = BTreeMap::new();
    for row in rows.iter() {
        found.insert(
            text(&row, 0).unwrap_or_default().to_owned(),
            text(&row, 1).unwrap_or_default().to_owned(),
        );
    }
    let expected: BTreeMap<&str, &str> =
        schema.catalog.lines().filter_map(|line| line.rsplit_once(' ')).collect();
    let ours = expected.iter().filter_map(|(object, digest)| match found.get(*object) {
        Some(same) if same == digest => None,
        Some(_) => Some(((*object).to_owned(), Difference::Changed)),
        None => Some(((*object).to_owned(), Difference::Missing)),
    });
    let others = found.keys().filter(|object| !expected.contains_key(object.as_str()));
    Ok(ours.chain(others.map(|object| (object.clone(), Difference::Unknown))).collect())
}
