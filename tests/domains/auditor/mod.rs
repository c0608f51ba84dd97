//! The commands for auditors, run as an auditor runs them: the server and its database in one folder, and the
//! checks in an empty one, with an empty environment.

mod alone;
#[cfg(unix)] // Its commands are a POSIX shell's.
mod guide;
mod proofs;
mod reports;
mod world;
