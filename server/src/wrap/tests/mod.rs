//! The engines of `colibri wrap`, without processes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod flights;
mod lines;
mod properties;
mod request;
mod scan;
