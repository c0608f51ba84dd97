//! Several servers on one PostgreSQL database while connections are cut, servers stop at once, clients are killed and
//! processes stand still (postgres#lost). What was acknowledged is there once, and what was refused is not.
//!
//! These tests run with `COLIBRI_TEST_ENGINE=postgres`, as `.ci/postgres` does. `COLIBRI_MACHINE_RUNS` says how many seeds,
//! `COLIBRI_MACHINE_SEED` which comes first; with the first of them the campaigns run with any engine.
//! `COLIBRI_FIVE_MACHINES_SECONDS` says how long five machines work.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod agent;
mod away;
mod campaign;
mod controls;
mod cuts;
mod ensemble;
mod failover;
mod five;
mod flights;
mod judge;
mod network;
mod notes;
mod patroni;
mod proxy;
mod refusals;
mod rows;
mod standby;
mod world;
mod writers;
