//! SQLite behind the runtime's traits. From opening a file to a committed call:
//!
//! 1. [`open`] opens the database, in a fixed order.
//! 2. [`SqliteStore`] is the runtime's `Store`.
//! 3. [`write`](mod@write) begins, commits and rolls back, and waits for its turn.
//! 4. [`look`] reads a database without starting on it, for the commands.

pub mod look;
pub mod open;
mod store;
pub mod write;

pub use store::SqliteStore;

#[cfg(test)]
mod tests;
