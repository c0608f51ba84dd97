//! What the server itself finds out about its process. It does not ask the environment, because anyone can set that.

use colibri_store::sqlite::open::process;

/// The process that serves the calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The user whose process it is, or `uid:<n>`.
    pub os_user: String,
    /// The kernel's name of the machine.
    pub host: String,
    /// Its number.
    pub pid: i64,
}

impl Observed {
    /// Looks at this process.
    pub(crate) fn of_this_process() -> Self {
        Self { os_user: process::os_user(), host: process::host(), pid: i64::from(std::process::id()) }
    }
}
