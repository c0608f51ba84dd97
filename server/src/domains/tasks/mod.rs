//! The task pipeline (tasks#purpose): tasks that move one checked step at a time from INIT to DONE.
//!
//! ```text
//! tool (typed input) -> service (checks, in the order of tasks#update) -> store (SQL)
//!                          |- claims        who holds the task
//!                          |- state         which step is legal
//!                          |- waiting       what blocked tasks wait for
//!                          |- dependencies  the search for cycles
//!                          |- history       what the call leaves behind
//!                          |- trail         the thought records of the work
//!                          '- reputation    the credit for a finished task

pub(crate) mod claims;
mod engine;
pub(crate) mod errors;
pub(crate) mod history;
pub(crate) mod input;
pub(crate) mod service;
pub(crate) mod shown;
mod store;
pub(crate) mod ties;
pub(crate) mod waiting;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use engine::claims as rules;
pub(crate) use engine::{change, dependencies, event, fold, state};
pub(crate) use store::has_row;
