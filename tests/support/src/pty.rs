//! A pseudo-terminal: the process has its one end, and a test sits at the other as a person would. Linux only: `setsid` of util-linux
//! makes it the terminal that signals come from, which needs code between fork and exec.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, LocalModes, OutputModes, Winsize, tcgetattr, tcsetwinsize};

use unicode_width::UnicodeWidthStr;

use crate::client::PATIENCE;

/// What Ctrl-C sends.
pub const CTRL_C: &[u8] = b"\x03";
/// What Ctrl-D sends, which on an empty line is the end of input.
pub const CTRL_D: &[u8] = b"\x04";

/// A terminal, with what has appeared on it.
pub struct Pty {
    person: File,
    process: File,
    appears: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    awaited: usize,
}

impl Pty {
    /// Opens one of that many columns and rows.
    pub fn open(columns: u16, rows: u16) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
        let process = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags)
            .open(OsStr::from_bytes(name.as_bytes()))
            .unwrap();
        let person = File::from(person);
        let appears = read(person.try_clone().unwrap());
        let terminal = Self { person, process, appears, seen: Vec::new(), awaited: 0 };
        terminal.resize(columns, rows);
        terminal
    }

    /// The process's end, for one of its streams.
    pub fn stream(&self) -> Stdio {
        self.process.try_clone().unwrap().into()
    }

    /// The same command in a session of its own on this terminal, with all three streams. Stdout and stderr may then be led elsewhere.
    /// Ctrl-C and changes of the size reach it. It keeps the process id that it is started with.
    pub fn session(&self, command: &Command) -> Command {
        // A test that was started in the background may ignore Ctrl-C, and would hand that on.
        let mut session = Command::new("env");
        session.args(["--default-signal=INT,QUIT,HUP,TERM", "setsid", "--ctty"]);
        session.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => session.env(name, value),
                None => session.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            session.current_dir(folder);
        }
        session.stdin(self.stream()).stdout(self.stream()).stderr(self.stream());
        session
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &[u8]) {
        self.person.write_all(keys).unwrap();
    }

    /// Changes the size; the process in front gets SIGWINCH.
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.person, size).unwrap();
    }

    /// The terminal's modes: echo, whole lines, and so on. Programs that change them are to put them back.
    pub fn modes(&self) -> (InputModes, OutputModes, LocalModes) {
        let set = tcgetattr(&self.process).unwrap();
        (set.input_modes, set.output_modes, set.local_modes)
    }

    /// Waits until this text appears after what was last waited for; returns what came before it.
    pub fn await_text(&mut self, text: &str) -> String {
        let began = Instant::now();
        loop {
            let new = &self.seen[self.awaited..];
            if let Some(at) = new.windows(text.len()).position(|part| part == text.as_bytes()) {
                let before = String::from_utf8_lossy(&new[..at]).into_owned();
                self.awaited += at + text.len();
                return before;
            }
            assert!(self.take(PATIENCE.saturating_sub(began.elapsed())), "{text:?} is missing: {self:?}");
        }
    }

    /// Everything that has appeared, once nothing new has come for this long.
    pub fn settled(&mut self, quiet: Duration) -> &[u8] {
        while self.take(quiet) {}
        &self.seen
    }

    /// Everything that has appeared, once no process has the terminal open.
    pub fn closed(self) -> String {
        let Self { process, appears, mut seen, .. } = self;
        drop(process);
        loop {
            match appears.recv_timeout(PATIENCE) {
                Ok(more) => seen.extend(more),
                Err(RecvTimeoutError::Disconnected) => return String::from_utf8_lossy(&seen).into_owned(),
                Err(RecvTimeoutError::Timeout) => panic!("a process still has the terminal open"),
            }
        }
    }

    fn take(&mut self, patience: Duration) -> bool {
        let Ok(more) = self.appears.recv_timeout(patience) else { return false };
        self.seen.extend(more);
        true
    }
}

impl std::fmt::Debug for Pty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.seen))
    }
}

/// Waits for the end of a process, and ends it if it takes too long.
pub fn wait(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("process {} does not end", child.id());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What a command shows on a terminal with this many columns.
pub fn shown(command: &Command, columns: u16) -> (ExitStatus, String) {
    let terminal = Pty::open(columns, 24);
    let status = wait(&mut terminal.session(command).spawn().unwrap());
    (status, terminal.closed())
}

/// How many columns the widest line takes. Colours take none.
pub fn widest(shown: &str) -> usize {
    let line = |line: &str| {
        let mut parts = line.split('\u{1b}');
        let plain: usize = parts.next().map_or(0, UnicodeWidthStr::width);
        plain + parts.map(|part| part.split_once('m').map_or(0, |(_, text)| text.width())).sum::<usize>()
    };
    shown.split("\r\n").map(line).max().unwrap_or(0)
}

/// Hands over what appears, until no process has the terminal open.
fn read(mut screen: File) -> Receiver<Vec<u8>> {
    let (sender, appears) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        // The end of a terminal shows as an error.
        while let Ok(length @ 1..) = screen.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    appears
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_knows_the_size_and_gets_ctrl_c() {
        let mut terminal = Pty::open(60, 20);
        let mut command = Command::new("sh");
        command.args(["-c", "trap 'echo caught; exit 130' INT; stty size </dev/tty; read line; stty size; while :; do sleep 0.01; done"]);
        let mut child = terminal.session(&command).spawn().unwrap();
        assert_eq!(terminal.await_text("\r\n"), "20 60");
        terminal.resize(80, 24);
        terminal.press(b"next\n");
        assert_eq!(terminal.await_text("24 80\r\n"), "next\r\n");
        terminal.press(CTRL_C);
        assert_eq!(wait(&mut child).code(), Some(130));
        assert!(terminal.closed().ends_with("caught\r\n"));
    }
}
