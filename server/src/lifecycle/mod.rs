//! The server's life: what it was told, what it may do, what it writes about itself.

pub mod config;
pub mod environment;
pub mod facts;
pub mod keys;
pub mod log;
pub mod mode;
pub mod rules;
pub mod secret;
pub mod suggest;
pub mod exit;
pub mod hooks;
pub mod options;
pub mod phase2;
pub mod process;
pub mod server;
pub mod transport;
pub mod watchdog;
