//! The trail on a database, below the tools: what its tables refuse, and retention, which has no tool (trail#golden-vectors,
//! 54 to 58).

mod guards;
mod retention;
mod run;
mod service;
mod support;
