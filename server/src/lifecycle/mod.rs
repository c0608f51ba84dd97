//! The server's life: what it was told, what it may do, what it writes about itself.

pub mod background;
pub mod config;
pub mod environment;
pub mod exit;
pub mod facts;
pub mod hooks;
pub mod keys;
pub mod limits;
pub mod log;
pub mod mode;
pub mod operation;
pub mod options;
pub mod phase2;
pub mod process;
pub mod proxy;
pub mod rules;
pub mod server;
pub mod suggest;
pub mod transport;
pub mod watchdog;
