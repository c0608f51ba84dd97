//! SQLite's driver: [`handle`] runs statements, `row` and `access` lie between it and [`Db`](crate::Db). [`bounds`] limits steps, values
//! and memory for files under examination.

mod access;
pub mod bounds;
pub(crate) mod handle;
pub(crate) mod row;
