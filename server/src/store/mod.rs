//! SQLite behind the runtime's traits. From opening a file to a committed call:
//!
//! 1. [`open`] opens the database in its fixed order: [`network_fs`], `placement` and [`error`] refuse, `creation` makes a
//!    missing one, `connection` sets up, `header` says whose file it is, [`integrity`] checks, [`migrate`] brings
//!    the schema up to date, [`process`] registers this process and `sweep` closes what dead ones left. `turn`
//!    waits for others that are starting.
//! 2. [`sqlite`] is the runtime's `Store`; [`db`] is the handle that handlers get from it, in
//!    the context [`cx`].
//! 3. `transactions` begins, commits and rolls back. It waits in the [`queue`] (`holder` names the process it waits for) and
//!    syncs the [`log_file`] after a commit. [`side_file`] is how files beside the database are made.
//! 4. [`audit`] writes the rows of calls, linked by [`log_row`](colibri_proof::log_row), ending at `head`; [`log_tip`] is where seals find
//!    the end.
//! 5. [`verify`] recomputes them; [`inspect`] reads a database without starting on it, [`obstacle`] says what would keep a start
//!    waiting, [`snapshot`] reads one at one moment, [`counters`] are SQLite's own, and [`log_query`] finds
//!    calls in the log: all for the commands.
//! 6. What a file may make SQLite do is bounded before it is read: `preflight` looks at what lies beside it,
//!    [`schema`] says what shape it has and should have, and [`bounds`] limits steps, values and memory.

pub mod audit;
pub mod backup;
pub mod bounds;
mod checkpoint;
mod connection;
pub mod counters;
pub(crate) mod creation;
pub mod cx;
pub mod db;
pub mod error;
mod head;
mod header;
mod holder;
pub mod identity;
pub mod inspect;
pub mod integrity;
pub mod log_file;
pub mod log_query;
pub mod log_tip;
pub mod migrate;
pub mod network_fs;
pub mod obstacle;
pub mod open;
mod placement;
mod preflight;
pub mod process;
pub mod queue;
pub mod restore;
pub mod rights;
mod running;
pub mod schema;
pub mod side_file;
pub mod snapshot;
pub mod sqlite;
mod sweep;
mod transactions;
mod turn;
pub mod verify;
pub mod walk;

#[cfg(test)]
mod tests;
