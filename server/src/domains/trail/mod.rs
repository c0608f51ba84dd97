//! The decision trail: what was thought on the way, hash-chained per task (zeta).
//!
//! Other domains see the trail through the functions exported here, never through its tables.

mod store;

pub use store::count_thoughts;
