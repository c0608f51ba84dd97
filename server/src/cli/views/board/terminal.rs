//! The terminal while the board has it: the other screen, keys one by one. It is given back on every way out, a panic and a signal
//! included.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal};
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Whether the board has the terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Stdout without Rust's lock on it, which the thread that panics or another one may hold.
static STDOUT: OnceLock<File> = OnceLock::new();

/// The terminal, until it is dropped.
#[derive(Debug)]
pub struct Taken {
    /// It is never dropped itself: it would report to stderr that it cannot show the cursor, and panic where stderr is closed with
    /// the terminal.
    pub terminal: ManuallyDrop<Terminal<CrosstermBackend<BufWriter<&'static File>>>>,
}

/// Returns whether keys come from a terminal, and the board goes to one.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Takes the terminal.
///
/// # Errors
/// The operating system's.
pub fn take() -> io::Result<Taken> {
    let stdout = match STDOUT.get() {
        Some(file) => file,
        None => {
            let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            STDOUT.get_or_init(|| file)
        }
    };
    restore_at_panic();
    let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(stdout)))?;
    // From here on, dropping it restores the terminal.
    let mut taken = Taken { terminal: ManuallyDrop::new(terminal) };
    taken.again()?;
    Ok(taken)
}

impl Taken {
    /// Takes the terminal, also after the process was stopped and another program may have written to it. The next drawing is whole.
    ///
    /// # Errors
    /// The operating system's.
    pub fn again(&mut self) -> io::Result<()> {
        restore();
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        execute!(self.terminal.backend_mut(), EnterAlternateScreen, Clear(ClearType::All))?;
        // It forgets the last drawing, so that the next one writes every cell.
        self.terminal.swap_buffers();
        self.terminal.hide_cursor()
    }
}

/// Gives the terminal back before the panic is told, so that its text stays in sight.
fn restore_at_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            tell(info);
        }));
    });
}

/// Returns whether the board still has the terminal: a panic of another thread takes it away.
pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back, if the board has it.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // If the terminal is gone, there is nothing to restore.
        let _ = STDOUT.get().map(|mut file| execute!(file, LeaveAlternateScreen, Show));
        let _ = disable_raw_mode();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        restore();
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use std::process::Command;
    use std::thread;

    use colibri_test_support::pty::{Pty, wait};

    use super::take;

    /// Says to this test binary, started once more, where to panic.
    const PANICS: &str = "PROBE_BOARD_PANICS";

    #[test]
    fn a_panic_leaves_the_terminal_as_it_was() {
        match std::env::var(PANICS).ok().as_deref() {
            Some("here") => {
                let mut taken = take().unwrap();
                taken
                    .terminal
                    .draw(|frame| {
                        frame.buffer_mut().set_string(0, 0, "the board", ratatui::style::Style::default())
                    })
                    .unwrap();
                panic!("on purpose");
            }
            Some("elsewhere") => {
                let _taken = take().unwrap();
                let other = thread::spawn(|| panic!("on purpose"));
                other.join().unwrap_err();
                // Without what dropping it does.
                std::process::exit(0);
            }
            _ => {}
        }
        for (place, code) in [("here", 101), ("elsewhere", 0)] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args([
                "--exact",
                "cli::views::board::terminal::tests::a_panic_leaves_the_terminal_as_it_was",
            ]);
            command.args(["--nocapture", "--test-threads=1"]).env(PANICS, place).env_remove("RUST_BACKTRACE");
            let mut terminal = Pty::open(80, 24);
            let before = format!("{:?}", terminal.modes());
            let mut child = terminal.session(&command).spawn().unwrap();
            terminal.await_text("\u{1b}[?1049h");
            terminal.await_text("\u{1b}[?1049l");
            // The screen is given back before the panic is told.
            terminal.await_text("on purpose");
            assert_eq!(wait(&mut child).code(), Some(code), "{terminal:?}");
            assert_eq!(format!("{:?}", terminal.modes()), before);
            assert!(terminal.closed().contains("\u{1b}[?25h"), "the cursor is shown");
        }
    }
}
