//! The server's knowledge about itself: facts, and the health report.

pub mod facts;
pub(crate) mod health;
mod store;

use crate::catalogue;
use crate::settings::mode::Mode;

/// Converts the mode for the catalogue.
pub(crate) fn published_mode(mode: Mode) -> catalogue::Mode {
    match mode {
        Mode::Full => catalogue::Mode::Full,
        Mode::Readonly => catalogue::Mode::Readonly,
        Mode::Test => catalogue::Mode::Test,
        Mode::Minimal => catalogue::Mode::Minimal,
    }
}
