//! The schema of a shared database, compiled in: its roles, its migrations, and what its catalog must hold.

use colibri_store::{Migration, SharedSchema};

/// Makes the roles and the schema; the database's owner or a superuser runs it, once or again.
pub const SETUP: &str = include_str!("../migrations/postgres/setup.sql");

/// All migrations, in order. The first is the whole schema of its version, because no older shared database exists.
pub const MIGRATIONS: &[Migration] = &[
    Migration { file: "015_base.sql", sql: include_str!("../migrations/postgres/015_base.sql") },
    Migration { file: "016_wrap.sql", sql: include_str!("../migrations/postgres/016_wrap.sql") },
    Migration { file: "017_call_notes.sql", sql: include_str!("../migrations/postgres/017_call_notes.sql") },
];

/// Asks what the catalog holds: rows of an object's name and its digest. The search path must be the schema alone.
pub const CATALOG_QUERY: &str = include_str!("../migrations/postgres/catalog.sql");

/// What it must answer, a row a line, the digest behind the last space.
pub const CATALOG: &str = include_str!("../migrations/postgres/017_catalog.txt");

/// All of it.
pub const SCHEMA: SharedSchema =
    SharedSchema { setup: SETUP, migrations: MIGRATIONS, catalog_query: CATALOG_QUERY, catalog: CATALOG };
