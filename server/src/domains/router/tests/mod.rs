//! The router's engine without network and without waiting: the acceptance cases that need neither.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adapters;
mod candidate_file;
mod circuit;
mod cost;
mod decision;
mod properties;
mod rules;
mod scoring;
mod stats;
mod support;
mod tools;
mod walk;
