//! Ctrl-C: a flag that signals raise. The server runs in a process group of its own, which a terminal's Ctrl-C does not reach.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// The shell's exit code for a process that ended by Ctrl-C.
const INTERRUPTED: i32 = 130;
/// How long the rest of this process may take after a signal: longer than the end of a server takes.
const LEFT: Duration = Duration::from_secs(4);

static RAISED: AtomicBool = AtomicBool::new(false);
static LISTENS: Once = Once::new();

/// Lets signals raise the flag from here on. If no thread can wait for them, they end the process as before.
pub fn listen() {
    LISTENS.call_once(|| {
        let (ready, listens) = std::sync::mpsc::channel::<()>();
        let thread = thread::Builder::new().name("signals".to_owned());
        drop(thread.spawn(move || wait(ready)));
        // Until the thread listens, a signal would end the process and leave the server behind.
        let _ = listens.recv();
    });
}

/// Whether a signal asked this process to end.
pub fn raised() -> bool {
    RAISED.load(Ordering::Relaxed)
}

fn wait(ready: std::sync::mpsc::Sender<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut control_c = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        drop(ready);
        tokio::select! {
            _ = terminate.recv() => {}
            _ = control_c.recv() => {}
            _ = hang_up.recv() => {}
        }
        RAISED.store(true, Ordering::Relaxed);
        thread::sleep(LEFT);
        std::process::exit(INTERRUPTED)
    })
}
