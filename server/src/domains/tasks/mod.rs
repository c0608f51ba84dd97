//! The task pipeline (tasks#purpose): tasks that move one checked step at a time from INIT to DONE.
//!
//! ```text
//! tool (typed input) -> service (checks, in the order of tasks#update) -> store (SQL)
//!                          |- state         which step is legal
//!                          |- waiting       what blocked tasks wait for
//!                          |- dependencies  the search for cycles
//!                          |- trail         the thought records of the work
//!                          '- reputation    the credit for a finished task

mod engine;
pub(crate) mod errors;
pub(crate) mod input;
pub(crate) mod service;
mod store;
pub(crate) mod ties;
pub(crate) mod waiting;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use engine::{dependencies, state};
pub(crate) use store::has_row;
