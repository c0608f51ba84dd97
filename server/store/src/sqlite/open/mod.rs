//! Opening a database, in a fixed order: [`network_fs`], `placement` and [`error`] refuse, `creation` makes a missing one, `connection`
//! sets up, `header` says whose file it is, [`integrity`] checks, [`migrate`] brings the schema up to date, [`process`] registers
//! this process and `sweep` closes the `running` rows that dead ones left. `turn` waits for others that are starting. `preflight` looks at what lies
//! beside a file before SQLite reads it. `missing_log` says of which file calls may be missing, and `reading` lets a reader share the log, or read a `private_copy`.

pub(crate) mod connection;
pub mod creation;
pub mod error;
pub(crate) mod header;
pub mod identity;
pub mod integrity;
pub mod migrate;
mod missing_log;
pub mod network_fs;
pub(crate) mod placement;
pub(crate) mod preflight;
pub(crate) mod private_copy;
pub mod process;
pub(crate) mod reading;
pub mod rights;
pub(crate) mod running;
mod start;
mod sweep;
pub(crate) mod turn;

pub(crate) use missing_log::log_gap;
pub(crate) use start::open_read_only;
pub use start::{MEMORY, Opened, StoreOptions, WAIT, init_db, is_there};
