//! The acceptance cases of the task tools (tasks#purpose) against the real binary, over pipes.
//!
//! Cases 1 to 4, the library half of 46, and 47 concern functions that no tool exposes; they are in
//! `server/src/domains/tasks/tests`. Soft deletion has no tool (tasks#deletion) and is done by SQL.

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
