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

pub mod attempt;
mod engine;
pub(crate) mod fallback;
mod input;
pub(crate) mod output;
pub(crate) mod service;
pub(crate) mod start;
mod store;
mod timer;
pub mod transport;

#[cfg(test)]
mod tests;

pub use engine::{adapters, candidates, completion, http, model_id, profile, settings};
pub(crate) use engine::{
    candidate_file, circuit, cost, decision, redact, retry, rules, scoring, state, stats,
};
