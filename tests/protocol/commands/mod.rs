//! The commands beside `serve`, run as a user runs them.

mod general;
mod keys;
mod log;

use colibri_test_support::shell::Shell;

/// A user with an empty working directory.
pub fn shell() -> Shell {
    Shell::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}
