//! Threads that no caller waits for. If one fails, it ends the process: its work has stopped,
//! and nothing else would notice (chain#background-faults).

use std::io;
use std::sync::Arc;

use colibri_runtime::chain::log::{Level, Log};

use super::exit;

/// Starts a thread. If its task fails, the reason is logged and the process ends with 1, without draining.
///
/// # Errors
/// The thread could not be started.
pub fn spawn(
    name: &str,
    log: Arc<dyn Log>,
    task: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> io::Result<()> {
    let body = move || {
        if let Err(reason) = task() {
            let why = format!("[colibri] unhandledRejection: {reason}");
            exit::at_once(&*log, Level::Error, &why, exit::FAILURE);
        }
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map(drop)
}
