//! Ctrl-C of a command: a flag that signals raise. What reads or writes rows looks at it.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::lifecycle::limits::for_signals;
use colibri_runtime::chain::scan::Interrupt;
use colibri_store::stop;
use rustix::process::Signal;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

/// The shell's exit code for a process that ended by Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// What signals say of a command that has taken the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// It is to stop until it is continued.
    Asked,
    /// It was continued.
    Over,
}

/// Returns the flag that Ctrl-C, a request to end or to quit, and a closed terminal raise from here on, and that ends all reads; a
/// second signal ends the process. If no thread can wait for signals, they end the process as before.
pub fn raised_by_signals() -> Interrupt {
    raised(stop::of_all_reads(), || {}, None)
}

/// The same for a command that ends its reads itself and has taken the terminal, with what the second signal does before the process
/// ends, and where pauses are told.
pub fn raised_by_signals_before(end: fn(), pauses: Sender<Pause>) -> Interrupt {
    raised(Interrupt::default(), end, Some(pauses))
}

fn raised(interrupt: Interrupt, end: fn(), pauses: Option<Sender<Pause>>) -> Interrupt {
    let raise = interrupt.clone();
    let (ready, listens) = channel::<()>();
    let spawned = thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || raise_at_signals(&raise, end, pauses, ready));
    drop(spawned);
    // Until the thread listens, a signal would end the process without its tidying up. Either way the other end is dropped.
    let _ = listens.recv();
    interrupt
}

fn raise_at_signals(
    flag: &Interrupt,
    end: fn(),
    pauses: Option<Sender<Pause>>,
    ready: Sender<()>,
) -> io::Result<()> {
    let runtime = for_signals()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut control_c = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut quit = signal(SignalKind::quit())?;
        if let Some(pauses) = pauses {
            let pause = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
            let go_on = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
            tokio::spawn(tell(pause, Pause::Asked, pauses.clone()));
            tokio::spawn(tell(go_on, Pause::Over, pauses));
        }
        drop(ready);
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = control_c.recv() => {}
                _ = hang_up.recv() => {}
                _ = quit.recv() => {}
            }
            if flag.is_raised() {
                end();
                std::process::exit(INTERRUPTED.into());
            }
            flag.raise();
        }
    })
}

/// Tells of each of these signals for as long as the command listens.
async fn tell(mut signals: Signals, pause: Pause, to: Sender<Pause>) {
    while signals.recv().await.is_some() && to.send(pause).is_ok() {}
}
