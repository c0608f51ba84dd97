//! What is recorded of wrapped servers: runs, pins, and the calls in the log (wrap#rows).

mod notes;
mod pins;
mod place;
mod rows;
mod views;
