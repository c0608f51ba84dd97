//! Bytes and messages: a socket, with or without TLS, that never blocks in one direction alone. A server stops reading while its client
//! does not take what it writes, so this end reads while it sends. (PostgreSQL manual, "Pipelining": a deadlock otherwise.)

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd};
use rustls::ClientConnection;

use super::buffer::Buffer;
use super::frontend;

/// What one read asks for.
const BYTES_OF_READ: usize = 32 << 10;
/// What TLS takes before it has sent it.
const BYTES_IN_TLS: usize = 64 << 10;

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            #[cfg(unix)]
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(from),
            #[cfg(unix)]
            Self::Unix(stream) => stream.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection's bytes in both directions.
pub(super) struct Wire {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    /// What has come.
    pub came: Buffer,
    outbound: Buffer,
    /// How many bytes the socket or TLS has taken from `outbound`, in all.
    handed_over: u64,
    scratch: Box<[u8]>,
    /// The longest message that is taken.
    pub most_bytes: usize,
}

impl Wire {
    /// Wraps a socket that does not block.
    pub fn new(socket: Socket, most_bytes: usize) -> Self {
        Self {
            socket,
            tls: None,
            came: Buffer::default(),
            outbound: Buffer::default(),
            handed_over: 0,
            scratch: vec![0; BYTES_OF_READ].into_boxed_slice(),
            most_bytes,
        }
    }

    /// Returns the bytes that messages are appended to. [`Wire::advance`] sends them.
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.outbound.end()
    }

    /// Takes back what was written from a [`Wire::position`] on, none of which may have been sent.
    pub fn withdraw(&mut self, position: u64) {
        let before = usize::try_from(position.saturating_sub(self.handed_over)).unwrap_or(usize::MAX);
        self.outbound.keep(before.min(self.outbound.len()));
    }

    /// Returns how many bytes wait.
    pub fn waiting(&self) -> usize {
        self.outbound.len()
    }

    /// Returns where the next message starts, counted in bytes from the start of the connection.
    pub fn position(&self) -> u64 {
        self.handed_over + self.outbound.len() as u64
    }

    /// Returns how many bytes may have left, counted like [`Wire::position`].
    pub fn handed_over(&self) -> u64 {
        self.handed_over
    }

    /// Returns whether anything is left to send.
    pub fn has_unsent(&self) -> bool {
        !self.outbound.is_empty() || self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Returns the connection's TLS.
    pub fn tls(&self) -> Option<&ClientConnection> {
        self.tls.as_deref()
    }

    /// Shakes hands and encrypts everything from now on.
    ///
    /// # Errors
    /// The socket's error, or rustls's own one inside ([`io::Error::downcast`]).
    pub fn encrypt(&mut self, mut tls: ClientConnection, deadline: Instant) -> io::Result<()> {
        // Bytes before TLS would be read as if they had been encrypted (CVE-2021-23222).
        if !self.came.is_empty() {
            return Err(broken("it sent something between its answer and TLS"));
        }
        tls.set_buffer_limit(Some(BYTES_IN_TLS));
        self.tls = Some(Box::new(tls));
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            self.send_some()?;
            if !self.receive_some()? {
                self.wait(Some(deadline))?;
            }
        }
        Ok(())
    }

    /// Sends what can be sent and takes what has come, without waiting. Returns whether anything has come.
    ///
    /// # Errors
    /// The socket's error; [`ErrorKind::UnexpectedEof`] if the server has hung up.
    pub fn advance(&mut self) -> io::Result<bool> {
        let sent = self.send_some();
        let received = self.receive_some();
        // A server that hangs up first says why, so what it said is read before the failed write is reported.
        if let Ok(true) = received { Ok(true) } else { sent.and(received) }
    }

    /// Sends what can be sent, without waiting.
    ///
    /// # Errors
    /// The socket's error.
    pub fn send_some(&mut self) -> io::Result<()> {
        while self.has_unsent() {
            let taken = match &mut self.tls {
                None => self.socket.write(self.outbound.rest()),
                Some(tls) => {
                    let taken = tls.writer().write(self.outbound.rest())?;
                    forget(&mut self.outbound, taken, &mut self.handed_over);
                    if !tls.wants_write() {
                        return Ok(());
                    }
                    match tls.write_tls(&mut self.socket) {
                        Ok(0) => Err(ErrorKind::WriteZero.into()),
                        sent => sent.map(|_| 0),
                    }
                }
            };
            match taken {
                Ok(taken) => forget(&mut self.outbound, taken, &mut self.handed_over),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes what has come, at most some 32 KiB. Returns whether it was anything.
    fn receive_some(&mut self) -> io::Result<bool> {
        let got = match &mut self.tls {
            None => self.socket.read(&mut self.scratch),
            Some(tls) => match tls.read_tls(&mut self.socket) {
                Ok(0) => Ok(0),
                Ok(_) => {
                    let state = match tls.process_new_packets() {
                        Ok(state) => state,
                        Err(error) => {
                            // The server learns why; what comes of it does not matter any more.
                            let _sent = tls.write_tls(&mut self.socket);
                            return Err(io::Error::new(ErrorKind::InvalidData, error));
                        }
                    };
                    let mut left = state.plaintext_bytes_to_read();
                    while left > 0 {
                        let got = tls.reader().read(&mut self.scratch)?;
                        self.came.end().extend_from_slice(&self.scratch[..got]);
                        left = left.saturating_sub(got.max(1));
                    }
                    return Ok(true);
                }
                Err(error) => Err(error),
            },
        };
        match got {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(got) => {
                self.came.end().extend_from_slice(&self.scratch[..got]);
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until something can be read, or sent if anything is left to send.
    ///
    /// # Errors
    /// [`ErrorKind::TimedOut`] at the deadline.
    pub fn wait(&self, deadline: Option<Instant>) -> io::Result<()> {
        let timeout = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            Some(left) if left.is_zero() => return Err(ErrorKind::TimedOut.into()),
            Some(left) => Some(Timespec {
                tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            }),
            None => None,
        };
        let flags = if self.has_unsent() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        match poll(&mut [PollFd::new(&self.socket, flags)], timeout.as_ref()) {
            Ok(0) => Err(ErrorKind::TimedOut.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the one byte that answers the request for TLS. It is not a message.
    ///
    /// # Errors
    /// Those of [`Wire::advance`] and [`Wire::wait`].
    pub fn byte(&mut self, deadline: Instant) -> io::Result<u8> {
        loop {
            self.advance()?;
            if let Some(&byte) = self.came.rest().first() {
                self.came.take(1);
                return Ok(byte);
            }
            self.wait(Some(deadline))?;
        }
    }

    /// Says goodbye without waiting for anything.
    pub fn hang_up(&mut self) {
        frontend::terminate(self.out());
        let _sent = self.send_some();
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let _sent = tls.write_tls(&mut self.socket);
        }
    }
}

/// Drops what has been sent from a buffer.
fn forget(outbound: &mut Buffer, taken: usize, handed_over: &mut u64) {
    outbound.take(taken);
    outbound.tidy();
    *handed_over += taken as u64;
}

/// An error for a server that does not keep to the protocol.
pub(super) fn broken(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the server does not keep to the protocol: {what}"))
}

/// Says in words what the operating system reported.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut => "no answer in time".to_owned(),
        ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::NotFound => "no Unix socket in the URL's folder at this port".to_owned(),
        ErrorKind::InvalidData | ErrorKind::InvalidInput if error.get_ref().is_some() => {
            error.to_string().chars().take(300).map(|c| if c.is_control() { '?' } else { c }).collect()
        }
        kind => kind.to_string(),
    }
}
