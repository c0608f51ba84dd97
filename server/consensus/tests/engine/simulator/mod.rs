//! The round machine and the proof that it holds for committees of any size (consensus#round, consensus#simulator).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod checker;
mod conduct;
mod desk;
mod faults;
mod keys;
mod lies;
mod limits;
mod network;
mod node;
mod parity;
mod plan;
mod promises;
mod replay;
mod runs;
mod setup;
mod simulation;
mod support;
mod views;
