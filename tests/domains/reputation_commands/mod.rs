//! The operator's commands on reputation, as a person runs them: the real binary on a real database, beside a running
//! server (lambda §8.7, cases 42, 52 to 54, 56 and 57).

mod audited;
mod epochs;
mod exports;
mod import;
mod refused;
mod verified;
mod worked_run;
mod world;
