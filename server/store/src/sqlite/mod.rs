//! SQLite behind the runtime's traits. From opening a file to a committed call:
//!
//! 1. [`open`] opens the database, in a fixed order.
//! 2. `backend` is what stands behind the server's [`store`](crate::store).
//! 3. [`write`](mod@write) begins, commits and rolls back, and waits for its turn.
//! 4. [`look`] reads a database without starting on it, for the commands.

mod backend;
pub mod look;
pub mod open;
pub mod write;

#[cfg(test)]
mod tests;
