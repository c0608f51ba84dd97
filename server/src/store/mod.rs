//! The database behind the runtime's traits.
//!
//! 1. [`db`] is the handle that handlers get, in the context [`cx`]. [`walk`] says why a walk over rows ended.
//! 2. [`sqlite`] is the engine: from opening a file to a committed call.
//! 3. [`side_file`] names the files beside the database.

pub mod cx;
pub mod db;
pub mod side_file;
pub mod sqlite;
pub mod walk;
