//! The server's life: start, second phase, watchdog, process, and what it writes about itself.

pub mod background;
pub(crate) mod exit;
pub(crate) mod limits;
pub mod log;
pub mod operation;
pub mod options;
pub(crate) mod phase2;
pub(crate) mod preflight;
pub mod process;
pub mod server;
pub mod transport;
pub(crate) mod watchdog;
