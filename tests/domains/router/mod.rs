//! The router over the real binary and over a network that ends at this machine: router#walk,
//! 27 to 45 and 61. Every base URL is on this machine; a server that is started here inherits no key.

mod answers;
mod beside;
mod canary;
mod chain;
mod failures;
mod guide;
mod network;
mod proxies;
mod settings;
pub mod world;
