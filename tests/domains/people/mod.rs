//! Acceptance cases of callers, history, claims, remedies and messages, under their numbers (`people_07_…`).

mod arguments;
mod blocked;
mod brief;
mod callers;
mod callers_kept;
mod drift;
mod epochs;
mod era;
mod instructions;
mod progress;
mod remedies;
mod sessions;
mod smaller;
mod toolsets;
mod warnings;
mod wording;
