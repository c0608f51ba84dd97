//! The skill registry without a server: the acceptance cases of skills#parser that need none, and the parser
//! under random and broken input.

mod corpus;
mod files;
mod fuzz;
mod parser;
mod properties;
mod registry;
mod support;
