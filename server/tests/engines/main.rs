//! The engines of the domains without a server: no process, no wire, and at most a database in memory or in a test's folder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adapters;
mod proof;
mod reputation;
mod router;
mod skills;
mod tasks;
mod trail_store;
