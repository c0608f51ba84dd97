//! Ctrl-C of a command: a flag that signals raise. What reads or writes rows looks at it.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use colibri_runtime::chain::scan::Interrupt;
use colibri_store::stop;
use tokio::signal::unix::{SignalKind, signal};

/// The shell's exit code for a process that ended by Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Returns the flag that Ctrl-C, a request to end and a closed terminal raise from here on, and that ends all reads; a second signal
/// ends the process. If no thread can wait for signals, they end the process as before.
pub fn raised_by_signals() -> Interrupt {
    raised(stop::of_all_reads(), || {})
}

/// The same for a command that ends its reads itself, with what the second signal does before the process ends.
pub fn raised_by_signals_before(end: fn()) -> Interrupt {
    raised(Interrupt::default(), end)
}

fn raised(interrupt: Interrupt, end: fn()) -> Interrupt {
    let raise = interrupt.clone();
    let (ready, listens) = channel::<()>();
    let spawned =
        thread::Builder::new().name("signals".to_owned()).spawn(move || raise_at_signals(&raise, end, ready));
    drop(spawned);
    // Until the thread listens, a signal would end the process without its tidying up. Either way the other end is dropped.
    let _ = listens.recv();
    interrupt
}

fn raise_at_signals(flag: &Interrupt, end: fn(), ready: Sender<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut control_c = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        drop(ready);
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = control_c.recv() => {}
                _ = hang_up.recv() => {}
            }
            if flag.is_raised() {
                end();
                std::process::exit(INTERRUPTED.into());
            }
            flag.raise();
        }
    })
}
