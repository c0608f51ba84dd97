//! What the tests share: the probe's handlers, a client over pipes that sends what no SDK would, a server
//! inside the test, a model provider on this machine, servers of PostgreSQL, the audit log as rows, and a forger who
//! recomputes a database.

pub mod actions;
#[cfg(unix)]
pub mod careless;
pub mod client;
pub mod dice;
pub mod embed;
pub mod engine;
pub mod forger;
pub mod fuzzing;
pub mod log_chain;
pub mod loopback;
#[cfg(unix)]
pub mod odd;
pub mod other_user;
pub mod postgres;
pub mod probe;
#[cfg(target_os = "linux")]
pub mod pty;
pub mod shell;
pub mod sql;
pub mod stored;
#[cfg(unix)]
pub mod wall;
pub mod wrapped;
pub mod xml;
