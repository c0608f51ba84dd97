//! Trees, heads and bundles: the acceptance cases of trail#golden-vectors that need none.

mod bundle;
mod bundle_file;
mod exchange;
mod heads;
mod legacy;
mod rfc9162;
pub mod support;
