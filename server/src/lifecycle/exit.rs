//! Exit codes of the process (chain#commands).

/// Done, sound, or a clean stop.
pub const SUCCESS: u8 = 0;
/// A finding, a failure, or a forced stop.
pub const FAILURE: u8 = 1;
/// The start took too long.
pub const STARTUP_TIMEOUT: u8 = 75;
