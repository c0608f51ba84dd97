//! What reviews of version 0.1.0 found, each as a test under its number (`finding_a1_…`): the behaviour that was observed must
//! not come back.

mod creation;
mod descriptors;
mod hostile_files;
mod identity;
mod interrupted;
mod waiting;
