//! Waits for the next event of the loop.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use colibri_runtime::chain::store::Store as _;
use colibri_runtime::handler::Dispatch;
use rustix::process::Signal;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
use tokio::time::{Instant, Sleep, sleep_until};

use super::Relay;
use crate::tools::cx::Cx;
use crate::wrap::limits::{ANSWERS_BYTES, ASIDE_BYTES, HELD_LINES, OUTBOX_BYTES, TURN_BYTES, TURN_ROWS};

/// How much is taken from a side before the other has its turn: as much as a pipe holds.
pub const READ_BYTES: usize = 64 * 1024;

pub enum Event {
    /// The client wrote so many bytes; 0 is its end.
    Client(io::Result<usize>),
    /// The same of the server.
    Server(io::Result<usize>),
    /// Everything was written to the client, or it is gone.
    ClientWritten(io::Result<()>),
    /// The same of the server.
    ServerWritten(io::Result<()>),
    /// The server's process has ended.
    Exited,
    /// A signal asks this process to end.
    Signal(Signal),
    /// The turn to write may have come.
    Turn,
    /// Something is due.
    Alarm,
    /// What the server said on stderr was copied.
    Chatter,
}

/// What still matters when only the client's last bytes are left.
pub enum Last {
    /// They were written, or the client is gone.
    Written,
    /// A signal asks this process to end.
    Signal,
    /// The client has closed its end.
    ClientClosed,
}

/// The signals that end a run.
pub struct SignalStreams([(Stream, Signal); 3]);

impl SignalStreams {
    /// Installs the handlers; called inside a runtime.
    pub fn install() -> io::Result<Self> {
        Ok(Self([
            (signal(SignalKind::terminate())?, Signal::TERM),
            (signal(SignalKind::interrupt())?, Signal::INT),
            (signal(SignalKind::hangup())?, Signal::HUP),
        ]))
    }

    /// Waits for a signal.
    pub async fn next(&mut self) -> Signal {
        std::future::poll_fn(|cx| self.poll(cx).map_or(Poll::Pending, Poll::Ready)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Option<Signal> {
        let mut come = self.0.iter_mut().filter_map(|(stream, signal)| match stream.poll_recv(cx) {
            Poll::Ready(Some(())) => Some(*signal),
            _ => None,
        });
        come.next()
    }
}

/// What is due next, and the timer for it.
pub struct Alarm {
    at: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<D: Dispatch<Cx>> Relay<'_, D> {
    pub(super) async fn next_event(&mut self) -> Event {
        self.set_alarm();
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Sets the timer, if anything is due at some time. A run in which nothing is due has none, and never wakes by itself.
    fn set_alarm(&mut self) {
        let Some(at) = self.next_due() else {
            self.alarm = None;
            return;
        };
        if self.alarm.as_ref().is_none_or(|alarm| alarm.at != at) {
            self.alarm = Some(Alarm { at, timer: Box::pin(sleep_until(at)) });
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        if let Some(signal) = self.signals.poll(cx) {
            return Poll::Ready(Event::Signal(signal));
        }
        if let Some(ended) = &mut self.ended
            && Pin::new(ended).poll(cx).is_ready()
        {
            self.ended = None;
            return Poll::Ready(Event::Exited);
        }
        if let Some(alarm) = &mut self.alarm
            && alarm.timer.as_mut().poll(cx).is_ready()
        {
            self.alarm = None;
            return Poll::Ready(Event::Alarm);
        }
        if self.turn_since.is_some() && self.operator.chain().store.poll_turn(cx).is_ready() {
            return Poll::Ready(Event::Turn);
        }
        if !self.to_client.is_empty()
            && let Poll::Ready(written) = self.to_client.poll_flush(cx)
        {
            return Poll::Ready(Event::ClientWritten(written));
        }
        if let Some(outbox) = &self.to_server
            && !outbox.is_empty()
            && let Poll::Ready(written) = outbox.poll_flush(cx)
        {
            return Poll::Ready(Event::ServerWritten(written));
        }
        let read = self.poll_reads(cx);
        if read.is_pending() && self.chatter.poll(cx).is_ready() {
            return Poll::Ready(Event::Chatter);
        }
        read
    }

    /// Writes to the client alone. What it writes itself has no reader any more.
    pub(super) fn poll_last(&mut self, cx: &mut Context<'_>) -> Poll<Last> {
        if self.signals.poll(cx).is_some() {
            return Poll::Ready(Last::Signal);
        }
        if self.to_client.poll_flush(cx).is_ready() {
            return Poll::Ready(Last::Written);
        }
        while let Poll::Ready(read) = poll_read(self.from_client.as_mut(), &mut self.chunk, cx) {
            if !matches!(read, Ok(1..)) {
                self.from_client = None;
                return Poll::Ready(Last::ClientClosed);
            }
        }
        Poll::Pending
    }

    /// Reads one side, the other first next time.
    fn poll_reads(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        for server in [self.server_first, !self.server_first] {
            let read = match server {
                true if self.wants_server() => {
                    poll_read(self.from_server.as_mut(), &mut self.chunk, cx).map(Event::Server)
                }
                false if self.wants_client() => {
                    poll_read(self.from_client.as_mut(), &mut self.chunk, cx).map(Event::Client)
                }
                _ => Poll::Pending,
            };
            if read.is_ready() {
                self.server_first = !server;
                return read;
            }
        }
        Poll::Pending
    }

    /// Returns whether to read on from the client: the server has room, what was read can be entered in one turn, and the client takes
    /// its answers.
    fn wants_client(&self) -> bool {
        let kept = self.to_server.as_ref().map_or(0, |outbox| outbox.kept());
        let aside: usize = self.aside.iter().map(|aside| aside.line.bytes.len()).sum();
        let answers = self.to_client.kept() + self.outgoing.bytes() + self.outgoing.own_bytes();
        kept <= OUTBOX_BYTES
            && answers <= ANSWERS_BYTES
            && self.incoming.bytes() <= TURN_BYTES
            && self.incoming.rows() < TURN_ROWS
            && aside <= ASIDE_BYTES
            && self.held.len() < HELD_LINES
    }

    /// Returns whether to read on from the server: the client has room.
    fn wants_server(&self) -> bool {
        self.to_client.kept() + self.outgoing.bytes() <= OUTBOX_BYTES
    }
}

fn poll_read(
    reader: Option<&mut (impl AsyncRead + Unpin)>,
    chunk: &mut [u8],
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    let Some(reader) = reader else { return Poll::Pending };
    loop {
        let mut buffer = ReadBuf::new(chunk);
        match Pin::new(&mut *reader).poll_read(cx, &mut buffer) {
            Poll::Ready(Ok(())) => return Poll::Ready(Ok(buffer.filled().len())),
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
    }
}
