//! The loop of the board in a terminal: keys in, drawings out.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::KeyEvent;
use ratatui::crossterm::terminal::size;
use rustix::process::{Signal, getpid, kill_process};

use super::draw::{Paint, draw};
use super::keys;
use super::reader::{Reader, Told, Wanted};
use super::state::{Next, State};
use super::terminal::{self, Taken};
use crate::cli::Failure;
use crate::cli::moments::Clock;
use crate::cli::source::Source;
use crate::cli::work::{Pause, raised_by_signals_before};
use colibri_runtime::chain::scan::Interrupt;

/// How long the loop waits for a key before it looks at signals and at what the reader tells.
const TICK: Duration = Duration::from_millis(50);
/// How long a drawing stays without a reason to draw again: leases run on.
const STALE: Duration = Duration::from_secs(10);
/// How long the database may be silent before the board says so.
const SILENCE: Duration = Duration::from_secs(5);

/// Shows the board until a key or a signal ends it.
///
/// # Errors
/// [`Failure::Interrupted`]; [`Failure::Failed`] if the terminal fails.
pub(super) fn run(source: Source, wanted: Wanted, clock: Clock, color: bool) -> Result<(), Failure> {
    // A second signal ends the process from another thread.
    let (pause, pauses) = channel();
    let interrupt = raised_by_signals_before(terminal::restore, pause);
    let reader = Reader::start(source, clock.clone(), wanted.clone()).map_err(failed)?;
    let mut taken = terminal::take().map_err(failed)?;
    let keys = keys::start().map_err(failed)?;
    let mut board = Live {
        state: State::new(wanted.clone()),
        asked: wanted,
        paint: Paint { clock, color },
        reader,
        keys,
        pauses,
        told_at: Instant::now(),
    };
    let ended = board.run(&mut taken, &interrupt);
    drop(taken);
    ended
}

fn failed(error: io::Error) -> Failure {
    Failure::Failed(format!("the terminal does not work: {error}"))
}

struct Live {
    state: State,
    /// The last question to the reader.
    asked: Wanted,
    paint: Paint,
    reader: Reader,
    keys: Receiver<KeyEvent>,
    pauses: Receiver<Pause>,
    /// When the reader told something last.
    told_at: Instant,
}

impl Live {
    fn run(&mut self, taken: &mut Taken, interrupt: &Interrupt) -> Result<(), Failure> {
        let (mut drawn_at, mut drawn_size): (Option<Instant>, _) = (None, None);
        loop {
            let size = size().ok();
            if size != drawn_size || drawn_at.is_none_or(|at| at.elapsed() > STALE) {
                self.paint.clock = self.paint.clock.again();
                taken.terminal.draw(|frame| draw(frame, &mut self.state, &self.paint)).map_err(failed)?;
                (drawn_at, drawn_size) = (Some(Instant::now()), size);
            }
            let first = self.keys.recv_timeout(TICK);
            if interrupt.is_raised() {
                return Err(Failure::Interrupted(None));
            }
            match first {
                // All that was pressed meanwhile is done before the next drawing.
                Ok(first) => {
                    for key in std::iter::once(first).chain(self.keys.try_iter().collect::<Vec<_>>()) {
                        match self.state.press(key) {
                            Next::Stay => drawn_at = None,
                            Next::Quit => return Ok(()),
                            Next::Interrupt => return Err(Failure::Interrupted(None)),
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Failed("the terminal was closed".to_owned()));
                }
            }
            if self.hear()? || self.pause(taken).map_err(failed)? {
                drawn_at = None;
            }
        }
    }

    /// Stops the process if it is asked to, with the terminal as the shell expects it. Returns whether the process was stopped and goes
    /// on.
    fn pause(&self, taken: &mut Taken) -> io::Result<bool> {
        let Some(last) = self.pauses.try_iter().last() else { return Ok(false) };
        if last == Pause::Asked {
            terminal::restore();
            kill_process(getpid(), Signal::STOP)?;
            // Another thread may take the signal, and this one would go on for a moment.
            while let Ok(Pause::Asked) = self.pauses.recv() {}
        }
        taken.again()?;
        Ok(true)
    }

    /// Takes what the reader told, and asks what is to be read next. Returns whether the board has changed.
    fn hear(&mut self) -> Result<bool, Failure> {
        let before = self.state.trouble.clone();
        let mut is_new = false;
        loop {
            match self.reader.told.try_recv() {
                Ok(told) => {
                    self.told_at = Instant::now();
                    match told {
                        Told::Read(answer) => {
                            self.state.take(*answer);
                            is_new = true;
                        }
                        Told::Trouble(text) => self.state.trouble = Some(text),
                        Told::Same => self.state.trouble = None,
                    }
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(stopped()),
            }
        }
        if !terminal::is_taken() {
            return Err(stopped());
        }
        let silent = self.told_at.elapsed();
        if silent > SILENCE {
            self.state.trouble = Some(format!("the database has not answered for {} s", silent.as_secs()));
        }
        if self.state.wanted != self.asked {
            self.asked = self.state.wanted.clone();
            self.reader.ask.send(self.asked.clone()).map_err(|_| stopped())?;
        }
        Ok(is_new || self.state.trouble != before)
    }
}

/// The thread that reads has panicked, and has said why.
fn stopped() -> Failure {
    Failure::Failed("the board cannot go on, because reading the database failed".to_owned())
}
