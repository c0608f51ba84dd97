//! What a client, a host or an operator meets before any domain: the wire, the call chain, the life cycle, modes, the database
//! file, configuration and commands, against the real binary and the probe server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod admission;
mod audit;
mod catalogue_examples;
mod chain;
mod commands;
mod configuration;
mod database;
mod findings;
mod followed;
mod lifecycle;
mod modes;
mod postgres;
mod remedies;
mod rmcp_client;
mod stdio;
mod surface;
mod wire;
mod wrap;
#[cfg(unix)]
mod wrapped;
