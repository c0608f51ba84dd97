//! What the process may use of the machine.

use super::Finding;
use crate::lifecycle::limits;
use colibri_runtime::kernel::Clock;

const CHECK: &str = "process";

/// Checks that a server can start at all.
pub(crate) fn check(clock: &dyn Clock) -> Option<Finding> {
    let problem = limits::check(clock).err()?;
    let advice = "do what the message says; until then no server starts, and doctor checks nothing else";
    Some(Finding::fail(CHECK, problem, advice))
}

/// Warns of a limit on the length of files, which a database may reach one day.
pub(crate) fn file_size() -> Vec<Finding> {
    let warn = |bytes: u64| {
        Finding::warn(
            CHECK,
            format!(
                "this process may write files of at most {} KiB: a call that needs a longer one fails",
                bytes / 1024
            ),
            "lift the limit with `ulimit -f unlimited` in the shell that starts the server",
        )
    };
    limits::longest_file().map(warn).into_iter().collect()
}
