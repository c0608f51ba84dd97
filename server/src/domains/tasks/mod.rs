//! The task pipeline tasks#purpose: tasks that move one checked step at a time from INIT to DONE.
//!
//! ```text
//! tool (typed input) -> service (checks, in the order of tasks#update) -> store (SQL)
//!                          |- state         which step is legal
//!                          |- dependencies  whether a loop would close
//!                          |- trail         whether the work left a thought record
//!                          '- reputation    what a finished task earns
//! ```

pub mod dependencies;
pub mod errors;
pub mod input;
pub mod priority;
pub mod service;
pub mod state;
mod store;
pub mod ties;

#[cfg(test)]
mod plans;
