//! Writing: `transactions` begins, commits and rolls back. It waits in the [`queue`] (`holder` names the process it waits for), and
//! syncs the [`log_file`] after a commit; `rows` are those of the log; `checkpoint` copies the log into the file. [`obstacle`] says what would keep a start
//! waiting.

pub(crate) mod checkpoint;
pub(crate) mod holder;
pub(crate) mod log_file;
pub mod obstacle;
pub mod queue;
pub(crate) mod rows;
pub(crate) mod transactions;
