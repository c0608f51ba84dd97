//! The log of calls: [`audit`] writes its rows, linked by [`log_row`](colibri_proof::log_row), ending at `head`; [`log_tip`] is where
//! seals find the end. [`verify`] recomputes them, `running` finds the calls without an end, and [`log_query`] finds calls for the
//! commands.

pub mod audit;
pub(crate) mod head;
pub mod log_query;
pub mod log_tip;
pub(crate) mod running;
pub mod verify;
