//! The proof store's engine without a database: the acceptance cases of trail#golden-vectors that need none.

mod bundle;
mod bundle_file;
mod exchange;
mod heads;
mod key_files;
mod legacy;
mod rfc9162;
mod support;
