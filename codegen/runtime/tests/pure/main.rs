//! The runtime's pure parts: validation, and the wire's codec.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod differential;
mod issues;
mod schemas;
mod validation;
mod wire_arrays;
mod wire_codec;
mod wire_frame;
mod wire_fuzz;
mod wire_protocol;
mod words;
