//! What a dying process, a failing disk, a power cut, a jumping clock and a locked file leave behind (chain#faults, store#fault-tests;
//! store#sharing, store#process-locks).
//!
//! The tests in `layer` run as often as `COLIBRI_CRASH_RUNS` says, from the seed that `COLIBRI_CRASH_SEED` names. `tests/long`
//! runs them for as long as you ask.

pub mod dice;
mod full_disk;
mod kill;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod layer;
mod locked_file;
mod sound;
pub mod victim;
