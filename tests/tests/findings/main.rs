//! What a hostile review, a newcomer's trial and an audit of version 0.1.0 found, each as a test under its number
//! (`finding_a1_…`): the behaviour that was observed must not come back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod creation;
mod descriptors;
mod doctor;
mod evidence;
mod hostile_files;
mod identity;
mod interrupted;
mod long_forms;
mod pages;
mod secrets;
mod start_checks;
mod tools;
mod waiting;
mod wire;
