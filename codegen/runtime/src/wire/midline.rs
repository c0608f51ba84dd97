//! Keeps log lines out of replies when standard output and standard error are one pipe (`2>&1`).
//!
//! A reply that is larger than the room in the pipe leaves in parts. Another writer to the same file could cut it
//! in two, and the client could read neither.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use colibri_stderr::soon;
use tokio::io::AsyncWrite;

/// Whether the last line on standard output is only half written, where that matters. Clones share
/// it.
#[derive(Debug, Clone, Default)]
pub struct Midline(Arc<Mutex<bool>>);

impl Midline {
    /// Runs `write` unless a reply is half written; no part of a reply leaves meanwhile. `None` if one is, or if one is being written
    /// to something that makes its writer wait.
    pub fn unless_half_written<T>(&self, write: impl FnOnce() -> T) -> Option<T> {
        let half_written = soon(&self.0)?;
        (!*half_written).then(write)
    }
}

/// A writer that keeps a [`Midline`] up to date.
pub(super) struct Watched {
    pub writer: Box<dyn AsyncWrite + Unpin>,
    pub midline: Midline,
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let midline = self.midline.clone();
        let mut half_written = midline.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written = Pin::new(&mut self.writer).poll_write(cx, bytes);
        if let Poll::Ready(Ok(length @ 1..)) = &written {
            *half_written = bytes.get(length - 1).is_some_and(|last| *last != b'\n');
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }
}
