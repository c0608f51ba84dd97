//! What must hold when something breaks: processes, disks, files and inputs. `tests/long` runs the campaigns for hours.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backup;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod claims;
mod copied;
mod crash;
mod findings;
mod fuzz_corpus;
mod golden_databases;
#[cfg(target_os = "linux")]
mod lacking;
#[cfg(target_os = "linux")]
mod machines;
#[cfg(target_os = "linux")]
mod readers;
mod sharing;
mod tamper;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod wrapped;
