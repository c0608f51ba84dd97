//! The overview of a database: what agents work on, what they did and decided, what is sealed. Pure: [`model::Overview`] in, text out.
//!
//! ```text
//! model -> page -+- verdict  what a verification of the same moment found, before anything else
//!                |- calls    bars of calls by time
//!                |- tasks    the board, and which tasks wait for which
//!                '- lists    decisions, sessions, standing
//! ```

mod calls;
mod lists;
pub mod model;
mod page;
mod tasks;
mod verdict;

pub use page::render;

#[cfg(test)]
mod tests;
