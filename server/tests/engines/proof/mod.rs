//! The signing key's file.

mod key_files;
