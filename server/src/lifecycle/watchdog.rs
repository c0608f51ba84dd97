//! A thread that sees signals and the startup timeout while a handler keeps the loop busy (chain#shutdown).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::serve::Control;
use colibri_runtime::wire::stdio::Modes;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::server::Controls;
use super::{background, exit};

/// How long a loop that can still act may take to close the database after the running calls have used their
/// time. A loop that a handler keeps busy is ended then.
const GRACE: Duration = Duration::from_millis(500);

/// Returns the last line of a forced stop (chain#shutdown).
pub(super) fn forced(cleanup_timeout_ms: u64) -> String {
    format!("[Shutdown] Forced after {cleanup_timeout_ms}ms timeout")
}

/// What the watchdog works with.
pub struct Watch {
    /// The channel that asks the loop to stop.
    pub controls: Controls,
    /// Restored on the descriptors before a forced end.
    pub modes: Modes,
    /// Where it writes.
    pub log: Arc<dyn Log>,
    /// Milliseconds that both phases of the start may take.
    pub startup_timeout_ms: u32,
    /// Milliseconds that the running call may take after a signal.
    pub cleanup_timeout_ms: u64,
    /// Resolves when the start is over, or its sender is dropped.
    pub started: oneshot::Receiver<()>,
}

/// Starts the thread. A signal that came since its handler was installed is seen first.
///
/// # Errors
/// The thread cannot be started.
pub fn start(watch: Watch, signals: Signals) -> io::Result<()> {
    background::spawn("watchdog", watch.log.clone(), move || {
        // A runtime of its own: the runtime that receives a signal from the system tells all that listen.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Err(runtime.map_err(|error| error.to_string())?.block_on(watch.run(signals)))
    })
}

/// The signals that stop a server, from the installation of their handlers on.
pub struct Signals([Signal; 3]);

impl Signals {
    /// Installs the handlers; called inside a runtime.
    ///
    /// # Errors
    /// The signal handlers cannot be installed.
    pub fn install() -> io::Result<Self> {
        Ok(Self([
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    /// Waits for the next signal; `None` if no signal can reach the process any more.
    async fn next(&mut self) -> Option<()> {
        let [terminate, interrupt, hangup] = &mut self.0;
        tokio::select! {
            signal = terminate.recv() => signal,
            signal = interrupt.recv() => signal,
            signal = hangup.recv() => signal,
        }
    }
}

impl Watch {
    /// Watches. Returns only if it can no longer receive signals, with the reason.
    async fn run(mut self, mut signals: Signals) -> String {
        let deadline = Instant::now() + Duration::from_millis(u64::from(self.startup_timeout_ms));
        let mut starting = true;
        loop {
            tokio::select! {
                signal = signals.next() => match signal {
                    Some(()) => break,
                    None => return "signals cannot be received any more".to_owned(),
                },
                _ = &mut self.started, if starting => starting = false,
                () = sleep_until(deadline), if starting => self.too_late(),
            }
        }
        let _ = self.controls.send(Control::Stop);
        let limit = Duration::from_millis(self.cleanup_timeout_ms);
        tokio::select! {
            _ = signals.next() => {
                self.modes.restore();
                std::process::exit(i32::from(exit::FAILURE))
            }
            () = self.expire(limit) => self.end(Level::Info, &forced(self.cleanup_timeout_ms), exit::FAILURE),
        }
    }

    /// Resolves when the limit and then the grace period have passed: the loop cannot act.
    async fn expire(&self, limit: Duration) {
        tokio::time::sleep(limit).await;
        let _ = self.controls.send(Control::Expire);
        tokio::time::sleep(GRACE).await;
    }

    fn too_late(&self) -> ! {
        self.end(Level::Error, "[colibri] fatal: startup timeout exceeded", exit::STARTUP_TIMEOUT)
    }

    /// Ends the process. A stuck handler owns the connection, so nothing is cleaned up; recovery does that.
    fn end(&self, level: Level, why: &str, code: u8) -> ! {
        self.modes.restore();
        exit::at_once(&*self.log, level, why, code)
    }
}
