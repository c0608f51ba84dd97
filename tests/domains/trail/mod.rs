//! The acceptance cases of the trail's tools (trail#golden-vectors) against the real binary, over pipes;
//! where a case wants a clock or ids of its own, against a server inside the test. Cases that seal sessions stand
//! with the proof tools.

mod five;
mod injected;
mod list;
mod longest;
mod modes;
mod record;
mod retention;
mod tampered;
mod verify;
mod world;
