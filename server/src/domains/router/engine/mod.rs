//! The pure code of the router: candidates, scores, circuits, costs, and what providers are asked and answer. Same input, same output.

pub mod adapters;
pub(crate) mod base_url;
pub(crate) mod candidate_file;
pub mod candidates;
pub(crate) mod circuit;
pub mod completion;
pub(crate) mod cost;
pub(crate) mod decision;
pub mod http;
pub mod model_id;
pub mod profile;
pub(crate) mod redact;
pub(crate) mod retry;
pub(crate) mod rules;
pub(crate) mod scoring;
pub mod settings;
pub(crate) mod state;
pub(crate) mod stats;
