//! The model router (router#purpose): it scores models for a prompt and asks the best, with others as fallback.
//!
//! ```text
//! candidates + rules -> scoring -> chain -> fallback (walk) -> completion <- attempt
//!                                             |- state: circuit, stats (with cost)
//!                                             '- decision (record of the choice)
//! service     all of it, behind the tools; input and output translate
//! start       candidates at boot: candidate_file, store (the table), built-in rows
//!
//! attempt     one attempt at one model: settings, request, retries, answer
//! settings, base_url, redact                         the operator's settings, and removal of secrets
//! adapters, http                                     requests built and responses read, purely
//! retry                                              when a provider is asked again
//! transport                                          the network, on a thread beside the loop
//! ```

pub mod adapters;
pub mod attempt;
pub(crate) mod base_url;
pub(crate) mod candidate_file;
pub mod candidates;
pub(crate) mod circuit;
pub mod completion;
pub(crate) mod cost;
pub(crate) mod decision;
pub(crate) mod fallback;
pub mod http;
mod input;
pub mod model_id;
pub(crate) mod output;
pub mod profile;
pub(crate) mod redact;
pub(crate) mod retry;
pub(crate) mod rules;
pub(crate) mod scoring;
pub(crate) mod service;
pub mod settings;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod stats;
mod store;
mod timer;
pub mod transport;

#[cfg(test)]
mod tests;
