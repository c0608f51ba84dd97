//! How a write to stderr is kept from waiting, by what stderr is.
//!
//! `O_NONBLOCK` belongs to the open file, which stderr often shares with the host and with other servers: set there, their writes would
//! fail. So a pipe or a terminal is opened once more, and only the new open file has the flag. A socket takes it with each message.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, write};
use rustix::net::{SendFlags, send};

/// What a pipe surely takes when it says that it can be written to.
const AT_ONCE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

#[derive(Debug)]
pub(crate) enum Target {
    /// A pipe or a terminal, by an open file of this process's own, which does not block.
    Own(File),
    /// A socket.
    Socket,
    /// A pipe or a terminal that cannot be opened again: another user's, or not on Linux. It is asked before each write, so only a
    /// writer that shares it, and fills it at that very moment, can make this one wait.
    Asked,
    /// A file or a device, which has no reader to wait for.
    Direct,
}

impl Target {
    /// Finds out what stderr is.
    pub(crate) fn of_stderr() -> Self {
        let stderr = io::stderr();
        let Ok(stat) = fstat(&stderr) else { return Self::Direct };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Socket => Self::Socket,
            FileType::Fifo => opened_again(stderr.as_fd()).map_or(Self::Asked, Self::Own),
            FileType::CharacterDevice if stderr.is_terminal() => {
                opened_again(stderr.as_fd()).map_or(Self::Asked, Self::Own)
            }
            _ => Self::Direct,
        }
    }

    /// Writes as much as can be written without waiting; 0 if nothing can, now or ever.
    pub(crate) fn write(&self, bytes: &[u8]) -> usize {
        let mut written = 0;
        while written < bytes.len() {
            match self.write_some(&bytes[written..]) {
                Ok(length @ 1..) => written += length,
                Err(Errno::INTR) => {}
                _ => break,
            }
        }
        written
    }

    fn write_some(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let stderr = io::stderr();
        match self {
            Self::Own(file) => write(file, bytes),
            Self::Socket => send(&stderr, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
            Self::Asked if !has_room(stderr.as_fd()) => Err(Errno::AGAIN),
            Self::Asked => write(&stderr, &bytes[..bytes.len().min(AT_ONCE)]),
            Self::Direct => write(&stderr, bytes),
        }
    }
}

/// Returns whether stderr is a pipe or a socket, whose reader may stop reading.
pub fn has_reader() -> bool {
    let kind = fstat(io::stderr()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(kind, Ok(FileType::Fifo | FileType::Socket))
}

/// Opens the file behind a descriptor once more, without blocking.
pub(crate) fn opened_again(fd: BorrowedFd<'_>) -> Option<File> {
    if !cfg!(target_os = "linux") {
        // Elsewhere the name of a descriptor leads to the same open file.
        return None;
    }
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(format!("/proc/self/fd/{}", fd.as_raw_fd()), flags, Mode::empty()).ok()?);
    let (old, new) = (fstat(fd).ok()?, fstat(&file).ok()?);
    ((old.st_dev, old.st_ino) == (new.st_dev, new.st_ino)).then_some(file)
}

fn has_room(fd: BorrowedFd<'_>) -> bool {
    let mut asked = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut asked, Some(&none)), Ok(1..)) && asked[0].revents().contains(PollFlags::OUT)
}
