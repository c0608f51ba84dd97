//! Standard input and output of every kind a host may hand over (chain#two-transactions), against the real binary.

mod end_of_input;
mod kinds;
mod one_pipe;
pub(crate) mod run;
mod slow_client;
#[cfg(target_os = "linux")]
mod terminal;
mod unread_stderr;
#[cfg(target_os = "linux")]
mod waiting_memory;
