//! Acceptance cases of callers, history, claims, remedies and messages, under their numbers (`people_07_…`).

mod arguments;
mod bare;
mod birth;
mod blocked;
mod brief;
mod callers;
mod callers_kept;
mod causes;
mod claims;
mod drift;
mod epochs;
pub mod era;
mod history;
mod init;
mod instructions;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod leases;
mod literal;
#[cfg(unix)]
mod long;
mod progress;
mod remedies;
mod sequences;
mod sessions;
mod shells;
mod smaller;
mod toolsets;
mod verified;
mod views;
mod warnings;
mod wording;
