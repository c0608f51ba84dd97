//! For the commands: [`inspect`] reads a database without starting on it, [`snapshot`] reads one at one moment, [`schema`] says what
//! shape it has and should have, [`outside`] whether it was written to, [`counters`] are SQLite's own, and [`engine`] how it is compiled. [`backup`] and [`restore`] copy whole files; [`fill`] makes
//! one from rows, of the tables that [`tables`] lists.

pub mod backup;
pub mod counters;
pub mod engine;
pub(crate) mod fill;
pub mod inspect;
pub mod outside;
pub mod restore;
pub mod schema;
pub mod snapshot;
pub mod tables;
