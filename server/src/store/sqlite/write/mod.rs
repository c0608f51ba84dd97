//! Writing: `transactions` begins, commits and rolls back. It waits in the [`queue`] (`holder` names the process it waits for), and
//! syncs the [`log_file`] after a commit; `checkpoint` copies the log into the file. [`obstacle`] says what would keep a start
//! waiting.

pub(in crate::store) mod checkpoint;
pub(in crate::store) mod holder;
pub mod log_file;
pub mod obstacle;
pub mod queue;
pub(in crate::store) mod transactions;
