//! For the commands: [`inspect`] reads a database without starting on it, [`snapshot`] reads one at one moment, [`schema`] says what
//! shape it has and should have, [`counters`] are SQLite's own, and [`backup`] and [`restore`] copy whole files.

pub mod backup;
pub mod counters;
pub mod inspect;
pub mod restore;
pub mod schema;
pub mod snapshot;
