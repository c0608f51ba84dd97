//! Every view says what the log and `colibri verify` say: who did it, under which names, how often, and whether it is sound.

mod counts;
mod ids;
mod past;
mod situations;
#[cfg(target_os = "linux")]
mod terminal;
mod verdicts;
mod who;
mod world;
