//! PostgreSQL for tests. A test asks for a [`Database`] in the cluster that all tests of a run share, for a [`Cluster`] of
//! its own that it may stop, or for a [`Pair`] of primary and standby. Each answers `None` where the machine has no
//! PostgreSQL; it has then printed how to install it, and the test returns:
//!
//! ```no_run
//! # use colibri_test_support::postgres::{Database, Role};
//! # fn test() {
//! let Some(database) = Database::empty() else { return };
//! let url = database.url(Role::App);
//! # }
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stderr)]

mod cluster;
mod database;
mod pair;
mod place;
mod pooler;
mod programs;

pub use cluster::{Cluster, Role, Stop, kill_server};
pub use database::Database;
pub use pair::{Pair, Replication};
pub use place::Place;
pub use pooler::Pooler;
pub use programs::{Programs, VARIABLE};

#[cfg(test)]
mod tests;
