//! The task engine on a database in memory: the acceptance cases of tasks#properties that need no server, and
//! the properties of tasks#properties. The cases that go over the wire are tested against the binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agreement;
mod claims;
mod dependencies;
mod engine;
mod histories;
mod inputs;
mod plans;
mod properties;
mod queue;
mod state;
pub(crate) mod support;
mod trail_schema;
