//! The form of a session's export and its check, without a database and without files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod form;
mod golden;
mod links;
mod mutations;
mod seals;
mod support;
