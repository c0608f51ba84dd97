//! SQLite behind the runtime's traits. From opening a file to a committed call:

mod connection; //         how a connection is opened and what it is told
pub mod error; //          why a database could not be opened
mod header; //             whose file it is
pub mod integrity; //      what boot checks
pub mod migrate; //        brings the schema up to date
pub mod network_fs; //     refuses file systems that other machines write to
pub mod open;
pub mod process; //        which processes are alive
pub mod side_file; //      files beside the database, private to their owner
mod sweep; //              closes what dead ones left open //           all of that, in its order

pub mod db; //             the handle that handlers get
pub mod log_file; //       syncs the log after the queue was left
pub mod queue; //          the writers' queue
pub mod sqlite;
mod transactions; //       begin, savepoint, commit, sync //         the runtime's `Store` trait

pub mod audit; //          enter and exit rows
pub mod digest; //         SHA-256 in hex
mod head; //               where the log of calls ends
pub mod inspect;
pub mod row_hash; //       what a closed row commits to
pub mod verify; //         recomputes the log //        a look from outside, for commands

#[cfg(test)]
mod tests;
