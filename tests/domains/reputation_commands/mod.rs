//! The operator's commands on reputation, as a person runs them: the real binary on a real database, beside a running
//! server (reputation#import).

mod audited;
mod epochs;
mod exports;
mod import;
mod refused;
mod verified;
mod worked_run;
mod world;
