//! The decision trail: the thoughts behind each task, hash-chained per task (trail#purpose).
//!
//! ```text
//! tool (typed input) -> service (append, list) -> store (SQL)
//!                    -> verify (all chains, one, a session's) -> chain (the walk)
//!                         |- record   what a hash covers
//!                         |- content  where a content is: in the row, packed, dropped
//!                         '- proof    whether a session is open, and what its seal says
//! ```
//!
//! Other domains see the trail through the functions exported here, never through its tables.

pub(crate) mod content;
pub(crate) mod errors;
pub(crate) mod output;
pub mod service;
pub(crate) mod shown;
pub(crate) mod store;
pub(crate) mod ties;
pub(crate) mod verify;
pub(crate) mod zone;

#[cfg(test)]
mod tests;

pub(crate) use self::content::{Unpacker, content_digest, content_of, is_where_zone_says};
pub(crate) use self::store::tip;
pub(crate) use self::store::{
    TrailRow, agents_of_session, count_records_of_session, count_records_up_to, count_thoughts,
    each_bare_head, each_hash_of_session_ascending, each_row_by_chain, each_row_in_order,
    each_row_of_session, first_author, has_more_chains_than, last_of_session, latest_reflection_not_by,
    sessions_of_task, tasks_of_session,
};
