//! `colibri export` and `colibri verify-export` against the real binary: taken from the database of a running server,
//! checked in another folder with an empty environment.

mod confirmed;
mod exports;
mod verdicts;
mod world;
