//! Waits for the next event: input, room for output, a control, or the end of a call that runs beside the
//! loop.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use crate::chain::store::Store;
use crate::handler::{Dispatch, Dispatched};
use crate::serve::{Control, Serve};

/// How much is read at a time: as much as a pipe holds.
pub(super) const READ_BYTES: usize = 64 * 1024;

pub(super) enum Event<S> {
    /// That many bytes went into the frames; 0 is the end.
    Read(io::Result<usize>),
    /// Everything was written, or the client is gone.
    Written(io::Result<()>),
    Control(Control<S>),
    /// The flight at that index has ended; `None` when it was cancelled.
    Landed(usize, Option<std::thread::Result<Dispatched>>),
    /// The scan has ended.
    Scanned(std::thread::Result<Dispatched>),
    /// The turn to write may have come, or something is due without it.
    Turn,
    /// Clients may be told how far their calls are.
    Progress,
}

impl<S: Store, D: Dispatch<S::Cx>> Serve<'_, S, D> {
    pub(super) async fn next_event(&mut self) -> Event<S> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event<S>> {
        if let Poll::Ready(Some(control)) = self.controls.poll_recv(cx) {
            return Poll::Ready(Event::Control(control));
        }
        if let Some(landed) = self.poll_flights(cx) {
            return Poll::Ready(landed);
        }
        if let Some(scan) = &mut self.scan
            && let Poll::Ready(result) = Pin::new(&mut scan.done).poll(cx)
        {
            // The thread sends every result of its work, so only a bug leaves the channel empty.
            let result = result.unwrap_or_else(|_| Err(Box::new("the scan's thread sent nothing")));
            return Poll::Ready(Event::Scanned(result));
        }
        if self.poll_wait(cx).is_ready() {
            return Poll::Ready(Event::Turn);
        }
        if self.watched.poll_due(cx, || self.chain.kernel().clock.monotonic_ms()).is_ready() {
            return Poll::Ready(Event::Progress);
        }
        if !self.outbox.is_empty()
            && let Poll::Ready(written) = self.outbox.poll_flush(cx)
        {
            return Poll::Ready(Event::Written(written));
        }
        if self.wants_input() {
            return self.poll_read(cx).map(Event::Read);
        }
        Poll::Pending
    }

    /// Returns whether to read on; the pipe is the back-pressure. The loop reads nothing while calls that could run are
    /// waiting, except as many as may wait behind a scan, so that protocol methods are answered meanwhile. Lines already
    /// read come first.
    fn wants_input(&self) -> bool {
        self.reading && self.has_room() && !self.frames.has_line()
    }

    fn poll_flights(&mut self, cx: &mut Context<'_>) -> Option<Event<S>> {
        let cancelled = std::mem::take(&mut self.queues.cancelled);
        for request_id in &cancelled {
            if let Some(index) = self.flights.iter().position(|flight| flight.reply_to().id == *request_id) {
                // The next round handles the others.
                self.queues.cancelled = cancelled.iter().filter(|id| *id != request_id).cloned().collect();
                return Some(Event::Landed(index, None));
            }
        }
        for (index, flight) in self.flights.iter_mut().enumerate() {
            if let Poll::Ready(result) = flight.poll(cx) {
                return Some(Event::Landed(index, Some(result)));
            }
        }
        None
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        loop {
            let mut buffer = ReadBuf::new(&mut self.chunk);
            match Pin::new(&mut self.reader).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) => {
                    self.frames.push(buffer.filled());
                    return Poll::Ready(Ok(buffer.filled().len()));
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
