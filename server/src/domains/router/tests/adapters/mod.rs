//! The router's adapters, settings and retries without a socket: router#adapters, router#secrets and the acceptance cases that need
//! no server.

mod answers;
mod base_urls;
mod errors;
mod fixtures;
mod parity;
mod properties;
mod redaction;
mod requests;
mod retries;
mod settings;
mod support;
