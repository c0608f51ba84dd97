//! The acceptance cases of each domain against the real binary, over pipes, and what an auditor checks without the server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod auditor;
mod auditor_export;
mod consensus;
mod consensus_restart;
mod findings;
mod people;
mod proof;
mod reputation;
mod reputation_commands;
mod router;
mod router_tools;
mod skills;
mod tasks;
mod trail;
mod views;
mod wrap;
