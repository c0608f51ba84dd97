//! The database of a Colibri server, behind the runtime's `Store`. Two processes may share a file; a reply leaves after its rows are
//! synced.
//!
//! A server brings its migrations and what its handlers need beside the database ([`Parts`]). Handlers get a [`Cx`], and with it a
//! [`Db`]: statements and rows, no transactions, which only the chain opens and ends.
//!
//! ```
//! use std::sync::Arc;
//!
//! use colibri_runtime::chain::store::Store;
//! use colibri_runtime::kernel::{SystemClock, SystemIds};
//! use colibri_store::sqlite::open::{MEMORY, StoreOptions, WAIT, init_db};
//! use colibri_store::{AuditFacts, Cx, Migration, ServerStore, params};
//!
//! const MIGRATIONS: &[Migration] = &[Migration { file: "001_notes.sql", sql: "CREATE TABLE notes (text TEXT)" }];
//!
//! let opened = init_db(&StoreOptions {
//!     path: MEMORY.into(),
//!     read_only: false,
//!     sync: true,
//!     boot_id: "boot-1".to_owned(),
//!     process_aborted: "PROCESS_ABORTED", // the code that a start writes into rows of killed processes
//!     now: "2026-05-01T10:00:00.000Z".to_owned(),
//!     migrations: MIGRATIONS,
//!     tail_checks: &[], // what a start compares at the end of each chain
//!     max_pages: None,
//!     wait: WAIT,
//! })?;
//! // `()`: these handlers need nothing beside the database.
//! let cx = Cx::new(None, Arc::new(SystemClock::default()), Box::new(SystemIds::default()), ());
//! let mut store = ServerStore::new(cx, AuditFacts { mode: "FULL", boot_id: "boot-1".to_owned(), boot_start_ms: 0.0 });
//! store.attach(opened)?;
//!
//! store.write_at_boot(|db| db.execute("INSERT INTO notes VALUES (?1)", params!["remember the milk"]))?;
//! let total: i64 = store.cx().db()?.query_one("SELECT count(*) FROM notes", &[], |row| row.get(0))?;
//! assert_eq!(total, 1);
//! store.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ahead`], [`callers`], [`cx`], [`log`] and [`walk`] know no engine: they use [`Db`], whose drivers lie in [`db`]. [`sqlite`] is an engine's store:
//! open, write, look. `side_file` names the files beside a database, and [`private_file`] creates files that their owner alone can
//! read; [`part`] gives one its name when it is whole, and a [`temporary_folder`] goes away. [`stop`] ends what a command reads.

pub mod ahead;
pub mod callers;
pub mod copy;
pub mod cx;
pub mod db;
pub mod find;
pub mod log;
pub mod notes;
pub mod part;
pub mod postgres;
pub mod private_file;
pub(crate) mod side_file;
pub mod sqlite;
pub mod stop;
pub mod store;
pub mod temporary_folder;
pub mod walk;

pub use cx::{Cx, Parts, ScanCx};
pub use db::postgres::{DatabaseUrl, SessionOptions, TlsPolicy};
pub use db::{Bind, Db, Row, RowError, Value};
pub use log::rows::AuditFacts;
pub use postgres::examine as shared_examine;
pub use postgres::look as shared_look;
pub use postgres::schema::{SharedSchema, Stage};
pub use postgres::setup::{Migrated, SetupError, migrate, set_up};
pub use sqlite::open::migrate::Migration;
pub use store::ServerStore;

/// The server's migrations, which the tests run.
#[cfg(test)]
#[path = "../../src/migrations.rs"]
mod migrations;
#[cfg(test)]
extern crate self as colibri_store;
