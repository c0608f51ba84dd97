//! The trail's engine without a database: the acceptance cases of zeta §16 that need none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod canonical;
mod chain;
mod hashes;
mod support;
