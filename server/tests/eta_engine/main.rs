//! The proof store's engine without a database: the acceptance cases of zeta §16 that need none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bundle;
mod bundle_file;
mod exchange;
mod heads;
mod key_files;
mod legacy;
mod rfc9162;
mod support;
