//! What the wrapped server says on stderr, copied to this process's own.
//!
//! A shared stderr that the host does not read would stop the server at its next line, and with it every call. So the server gets a pipe
//! where stderr is one, and the relay empties it. A host that reads slowly loses nothing: the server waits, as it would alone. After
//! [`STUCK_WAIT`] without any progress the host counts as one that does not read, and what it has no room for is dropped.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use colibri_runtime::wire::midline::Midline;
use colibri_stderr::stderr;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;
use tokio::time::Instant;

use crate::wrap::limits::{STUCK_AGAIN, STUCK_WAIT};

/// How much is read at a time: as much as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;
/// How many chunks of a server that has ended are read: what its pipe may hold.
const LAST_CHUNKS: usize = 16;

/// The server's stderr.
pub struct Chatter {
    from: Option<pipe::Receiver>,
    midline: Midline,
    chunk: Vec<u8>,
    /// What stderr has not taken yet.
    kept: Vec<u8>,
    /// Since when it takes nothing, and when it is tried next.
    stuck: Option<(Instant, Instant)>,
    /// It has not taken anything for long.
    drops: bool,
}

impl Chatter {
    /// Begins to copy; without a pipe the server writes to stderr itself.
    pub fn new(from: Option<OwnedFd>, midline: Midline) -> io::Result<Self> {
        let from = from.map(pipe::Receiver::from_owned_fd).transpose()?;
        Ok(Self { from, midline, chunk: Vec::new(), kept: Vec::new(), stuck: None, drops: false })
    }

    /// Returns when stderr is tried again.
    pub fn next(&self) -> Option<Instant> {
        self.stuck.map(|(_, next)| next)
    }

    /// Copies what is there, and waits for more.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.stuck.is_some() {
            return Poll::Pending;
        }
        let Some(from) = &mut self.from else { return Poll::Pending };
        self.chunk.resize(CHUNK_BYTES, 0);
        let mut buffer = ReadBuf::new(&mut self.chunk);
        match Pin::new(from).poll_read(cx, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                self.kept.extend_from_slice(buffer.filled());
                self.pass(Instant::now());
            }
            Poll::Ready(_) => self.from = None,
        }
        Poll::Ready(())
    }

    /// Tries again if it is time.
    pub fn ring(&mut self, now: Instant) {
        if self.next().is_some_and(|next| next <= now) {
            self.pass(now);
        }
    }

    fn pass(&mut self, now: Instant) {
        let taken = self.midline.unless_half_written(|| stderr().pass(&self.kept)).unwrap_or(0);
        self.kept.drain(..taken);
        self.drops &= taken == 0;
        let since = match self.stuck {
            Some((since, _)) if taken == 0 => since,
            _ => now,
        };
        self.drops |= taken == 0 && now - since >= STUCK_WAIT;
        if self.drops {
            self.kept.iter().filter(|byte| **byte == b'\n').for_each(|_| stderr().count());
            self.kept.clear();
        }
        self.stuck = (!self.kept.is_empty()).then(|| (since, now + STUCK_AGAIN));
    }

    /// Copies what a server that has ended has left. Nothing waits for the host any more.
    pub fn finish(&mut self) {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        for _ in 0..LAST_CHUNKS {
            self.pass(Instant::now());
            if self.poll(&mut cx).is_pending() {
                break;
            }
        }
    }
}
