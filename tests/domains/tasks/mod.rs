//! The acceptance cases of the task tools (tasks#purpose) against the real binary, over pipes.
//!
//! Tests of functions that no tool exposes are in `server/src/domains/tasks/tests`. Soft deletion has no tool (tasks#deletion) and is done by SQL.

mod create;
mod dependencies;
mod get;
mod list;
mod next_actions;
mod races;
mod surface;
mod transitions;
mod update;
mod world;
