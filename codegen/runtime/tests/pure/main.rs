//! The runtime's pure parts: canonical JSON, validation, and the wire's codec.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod canonical;
mod differential;
mod issues;
mod schemas;
mod validation;
mod wire_arrays;
mod wire_codec;
mod wire_frame;
mod wire_fuzz;
mod wire_protocol;
