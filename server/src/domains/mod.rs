//! The logic of the tools: one folder per domain, with pure engine files, its services, and its SQL in `store.rs`.
//! The layer above, `tools`, implements the generated traits.

pub mod callers;
pub mod consensus;
pub mod notes;
pub mod proof;
pub mod reputation;
pub(crate) mod retention;
pub mod router;
pub mod skills;
pub mod system;
pub(crate) mod tasks;
pub mod ties;
pub mod trail;
pub(crate) mod warnings;
pub mod wrap;
