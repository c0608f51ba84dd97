//! What waits to be written. One write takes all that is there; a client that does not read makes the
//! server stop reading (protocol#back-pressure).

use std::cell::{RefCell, RefMut};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::AsyncWrite;

/// With more unsent bytes than this the server stops reading.
pub(crate) const FULL_BYTES: usize = 8 * 1024 * 1024;
/// Buffers larger than this are given back once they are empty.
const KEPT_BYTES: usize = 256 * 1024;

/// The only owner of the output. Clones share it: replies and notifications leave the same way, line by line.
#[derive(Clone)]
pub struct Outbox(Rc<RefCell<Output>>);

struct Output {
    writer: Box<dyn AsyncWrite + Unpin>,
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// An empty outbox over a writer.
    pub fn new(writer: Box<dyn AsyncWrite + Unpin>) -> Self {
        Self(Rc::new(RefCell::new(Output { writer, bytes: Vec::new(), sent: 0 })))
    }

    /// Where encoders write a line. Given back before anything else is asked of the outbox.
    pub fn buffer(&self) -> RefMut<'_, Vec<u8>> {
        RefMut::map(self.0.borrow_mut(), |output| &mut output.bytes)
    }

    /// How many bytes take up memory: those that wait, and those before them that have left.
    pub fn kept(&self) -> usize {
        self.0.borrow().bytes.len()
    }

    /// How many bytes wait.
    pub fn waiting(&self) -> usize {
        let output = self.0.borrow();
        output.bytes.len() - output.sent
    }

    /// Whether everything has left.
    pub fn is_empty(&self) -> bool {
        self.waiting() == 0
    }

    /// Whether the server should stop reading.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting() > FULL_BYTES
    }

    /// Writes as much as the other side takes.
    ///
    /// # Errors
    /// The client is gone.
    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().poll_flush(cx)
    }

    /// Drops what waits, and all that comes, because the client is gone: nothing waits for room that never comes.
    pub fn discard(&self) {
        *self.0.borrow_mut() = Output { writer: Box::new(tokio::io::sink()), bytes: Vec::new(), sent: 0 };
    }

    /// Writes what can be written without waiting; an error shows at the next [`Outbox::poll_flush`].
    pub fn flush_now(&self) {
        let _ = self.poll_flush(&mut Context::from_waker(Waker::noop()));
    }
}

impl Output {
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.bytes.len() {
            match Pin::new(&mut self.writer).poll_write(cx, &self.bytes[self.sent..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => self.sent += written,
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    self.compact();
                    return Poll::Pending;
                }
            }
        }
        self.bytes.clear();
        self.sent = 0;
        if self.bytes.capacity() > KEPT_BYTES {
            self.bytes.shrink_to(KEPT_BYTES);
        }
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    /// Drops the part that has left once it is the larger one, so that moving it stays linear in total.
    fn compact(&mut self) {
        if self.sent > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}
