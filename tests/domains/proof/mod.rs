//! The acceptance cases of audit sessions and seals (proof#golden-vectors)
//! against the real binary, over pipes. What needs an injected clock and ids runs the server inside the test.
//!
//! Pure functions are tested in `server/proof`.

mod bundles;
mod golden;
mod heads;
mod keys;
mod seals;
mod sessions;
mod tampered;
mod workflow;
mod world;
