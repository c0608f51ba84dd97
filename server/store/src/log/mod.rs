//! The log of calls, the same for every engine: what a row holds ([`rows`]), where the log ends ([`head`], [`log_tip`]), how it is searched
//! ([`log_query`]) and recomputed ([`verify`]).

pub mod head;
pub mod log_query;
pub mod log_tip;
pub mod rows;
pub mod verify;
