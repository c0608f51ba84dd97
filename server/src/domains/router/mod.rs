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
pub mod base_url;
pub mod candidate_file;
pub mod candidates;
pub mod circuit;
pub mod completion;
pub mod cost;
pub mod decision;
pub mod fallback;
pub mod http;
mod input;
pub mod model_id;
pub(crate) mod output;
pub mod profile;
pub mod redact;
pub mod retry;
pub mod rules;
pub mod scoring;
pub mod service;
pub mod settings;
pub mod start;
pub mod state;
pub mod stats;
mod store;
mod timer;
pub mod transport;

#[cfg(test)]
mod tests;
