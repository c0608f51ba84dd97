//! What opening a shared database depends on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use colibri_runtime::kernel::Clock;

use crate::db::postgres::{DatabaseUrl, SessionOptions};
use crate::postgres::schema::SharedSchema;

/// When a call counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the server may lose the last calls.
    Normal,
    /// It is on the server's disk.
    Full,
    /// It is on the disks of the server and of its synchronous standbys.
    Replicated,
}

/// What opening a shared database depends on.
#[derive(Clone)]
pub struct PostgresOptions {
    /// Where the database is.
    pub url: Arc<DatabaseUrl>,
    /// The session's time-outs.
    pub session: SessionOptions,
    /// How long a process counts as alive without a sign of it.
    pub lease: Duration,
    /// Where the last acknowledged call is noted.
    pub witness: Option<PathBuf>,
    /// When a call counts as done.
    pub durability: Durability,
    /// READONLY: nothing is written.
    pub read_only: bool,
    /// This process's name in the log.
    pub boot_id: String,
    /// The code for the rows of dead processes, as the catalogue names it.
    pub process_aborted: &'static str,
    /// The schema that this release reads and writes.
    pub schema: SharedSchema,
    /// The clock by which those rows are closed.
    pub clock: Arc<dyn Clock>,
}
