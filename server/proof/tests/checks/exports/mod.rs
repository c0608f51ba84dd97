//! The form of a session's export and its check, without a database and without files.

mod form;
mod golden;
mod links;
mod mutations;
mod seals;
pub mod support;
