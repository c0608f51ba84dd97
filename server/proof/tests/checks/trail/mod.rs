//! The trail's engine without a database: the acceptance cases of trail#golden-vectors that need none.

mod canonical;
mod chain;
mod hashes;
mod support;
