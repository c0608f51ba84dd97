//! The server's settings: one table of configuration keys ([`keys`]), the rules of their values ([`rules`]), their
//! environment, and the resulting settings ([`config`]); the place of the database, modes, and the proxy of the network.

pub mod config;
pub mod environment;
pub mod keys;
pub(crate) mod log_level;
pub mod mode;
pub(crate) mod named_path;
pub mod place;
pub(crate) mod proxy;
pub mod rules;
pub(crate) mod toolsets;
