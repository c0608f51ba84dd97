//! The unmodified server over a layer between it and its files (`tests/shim/files.c`), under pipelined load.
//!
//! ```text
//! campaign                  how many runs, from which seed; what a failure prints
//!    |- kills               processes die at a moment or in the middle of an operation
//!    |- displaced           files are replaced, renamed, removed or cut under running servers
//!    |- faults              operations fail, files are locked or cannot be written, the clock jumps
//!    |- clock               a machine that shows a time after the year 9999
//!    |- creation            all of this while the database is made
//!    '- power_cuts          a recording, cut at many points; and the control without syncs
//!          |- record        what the servers did to their files and said, in order
//!          '- disk          what of it a disk may hold after the cut
//! load, replies             what servers are asked, and the fate of each call
//! check                     what must hold afterwards, after any run
//! ```
//!
//! A seed fixes every choice that is made here. It does not fix how the operating system runs processes beside one
//! another, so that a replay is the same scenario rather than the same run; what a failed run left behind is kept and named.

pub mod campaign;
pub mod check;
mod clock;
mod creation;
pub mod disk;
mod displaced;
mod faults;
mod kills;
pub mod load;
mod power_cuts;
pub mod record;
mod replies;
mod server;
pub mod shim;
