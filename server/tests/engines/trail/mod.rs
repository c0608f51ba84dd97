//! The trail's engine without a database: the acceptance cases of zeta §16 that need none.

mod canonical;
mod chain;
mod hashes;
mod support;
