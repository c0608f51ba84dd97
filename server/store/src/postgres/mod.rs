//! PostgreSQL behind the server's [`store`](crate::store). From opening a database to a committed call:
//!
//! 1. [`open`] connects, checks what the server must be (`probe`), and registers this process (`lease`).
//! 2. `backend` implements the store. `batch` has the two flights of a batch, with the statements of `flight`, and `mark` what
//!    makes them durable.
//! 3. `link` connects. When a connection is lost, `recover` learns the outcome on another one, and `witness` tells whether the database
//!    still has what this process has acknowledged; `note` is its file.
//!    `watch` tells whether the schema is still what it was.
//!
//! Before that, the operator's [`setup`] makes the [`schema`]. Commands [`look`] at a database without a store. `ask` has the questions
//! that several of these put to a server.
//!
//! Two locks of the server's put all writers in order: who enters calls holds the first, who ends calls the second
//! (postgres#batch).

mod ask;
mod backend;
mod batch;
pub mod examine;
pub(crate) mod flight;
mod lease;
mod link;
pub mod look;
mod mark;
mod note;
pub mod open;
mod options;
mod probe;
mod recover;
pub mod schema;
pub mod setup;
mod watch;
mod witness;
