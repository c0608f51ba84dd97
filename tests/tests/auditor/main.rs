//! The commands for auditors, run as an auditor runs them: the server and its database in one folder, and the
//! checks in an empty one, with an empty environment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(unix)] // Its commands are a POSIX shell's.
mod alone;
mod guide;
mod proofs;
mod reports;
mod world;
