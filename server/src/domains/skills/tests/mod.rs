//! The skill registry without a server: the acceptance cases of skills#parser that need none, and the parser
//! under random and broken input.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod corpus;
mod files;
mod fuzz;
mod parser;
mod properties;
mod registry;
mod support;
