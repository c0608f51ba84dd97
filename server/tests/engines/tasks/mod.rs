//! The task engine on a database in memory: the acceptance cases of tasks#properties that need no server, and
//! the properties of tasks#properties. The cases that go over the wire are tested against the binary.

mod agreement;
mod dependencies;
mod engine;
mod inputs;
mod properties;
mod queue;
mod state;
pub mod support;
mod trail_schema;
