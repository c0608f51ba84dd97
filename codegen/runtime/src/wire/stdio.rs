//! Standard input and output, of any kind that the host passes: Node gives sockets, Python pipes, people a
//! terminal, scripts a file or `/dev/null` (protocol#streams).
//!
//! Pipes and sockets are made non-blocking and restored at exit. A thread reads anything else, and the loop writes
//! to it directly.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstat};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use super::midline::{Midline, Watched};

/// How much a reading thread takes at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A pair of streams that carry messages.
pub struct Streams {
    /// Where requests come from.
    pub reader: Box<dyn AsyncRead + Unpin>,
    /// Where replies go.
    pub writer: Box<dyn AsyncWrite + Unpin>,
}

/// What other code must know of the descriptors: their original file status flags, and whether a reply is half
/// written. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Modes {
    flags: Arc<Mutex<Vec<(OwnedFd, OFlags)>>>,
    midline: Midline,
}

impl Modes {
    fn remember(&self, fd: OwnedFd) -> io::Result<()> {
        let flags = fcntl_getfl(&fd)?;
        self.flags.lock().unwrap_or_else(PoisonError::into_inner).push((fd, flags));
        Ok(())
    }

    /// Restores the flags. Descriptors may be shared with the process that started this one, and it expects them to
    /// block. The last change is undone first: both streams may be one socket, which was already non-blocking when its
    /// flags were read the second time.
    pub fn restore(&self) {
        for (fd, flags) in self.flags.lock().unwrap_or_else(PoisonError::into_inner).drain(..).rev() {
            // A descriptor that cannot be restored is closed with the process anyway.
            let _ = fcntl_setfl(&fd, flags);
        }
    }

    /// Returns the midline for the log, whose lines must not cut a reply in two when both outputs are one file.
    pub fn midline(&self) -> Midline {
        self.midline.clone()
    }
}

/// Opens the process's own standard input and output; `modes` remembers the flags they had. Must be called
/// inside a Tokio runtime.
///
/// # Errors
/// A descriptor is closed or cannot be duplicated.
pub fn open(modes: &Modes) -> io::Result<Streams> {
    let reader = open_reader(io::stdin().as_fd().try_clone_to_owned()?, modes)?;
    let writer = open_writer(io::stdout().as_fd().try_clone_to_owned()?, modes)?;
    if one_file(io::stdout(), io::stderr()) {
        return Ok(Streams { reader, writer: Box::new(Watched { writer, midline: modes.midline() }) });
    }
    Ok(Streams { reader, writer })
}

/// Returns whether two descriptors lead to the same file; `false` if the system does not answer.
fn one_file(left: impl AsFd, right: impl AsFd) -> bool {
    let (Ok(left), Ok(right)) = (fstat(left), fstat(right)) else { return false };
    (left.st_dev, left.st_ino) == (right.st_dev, right.st_ino)
}

fn open_reader(fd: OwnedFd, modes: &Modes) -> io::Result<Box<dyn AsyncRead + Unpin>> {
    let file = File::from(fd);
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() {
        modes.remember(file.as_fd().try_clone_to_owned()?)?;
        // A pipe opened for both directions is refused here; a thread reads it like a file.
        if let Ok(pipe) = pipe::Receiver::from_file(file.try_clone()?) {
            return Ok(Box::new(pipe));
        }
    } else if kind.is_socket() {
        modes.remember(file.as_fd().try_clone_to_owned()?)?;
        return Ok(Box::new(socket(file.into())?));
    }
    Ok(Box::new(ReadingThread::start(file)?))
}

fn open_writer(fd: OwnedFd, modes: &Modes) -> io::Result<Box<dyn AsyncWrite + Unpin>> {
    let file = File::from(fd);
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() {
        modes.remember(file.as_fd().try_clone_to_owned()?)?;
        if let Ok(pipe) = pipe::Sender::from_file(file.try_clone()?) {
            return Ok(Box::new(pipe));
        }
    } else if kind.is_socket() {
        modes.remember(file.as_fd().try_clone_to_owned()?)?;
        return Ok(Box::new(socket(file.into())?));
    }
    Ok(Box::new(Direct(file)))
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// A descriptor that cannot be polled, read by a thread.
struct ReadingThread {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    rest: Vec<u8>,
    used: usize,
}

impl ReadingThread {
    fn start(mut file: File) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(1);
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            loop {
                let mut chunk = vec![0; CHUNK_BYTES];
                let read = match file.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    other => other,
                };
                let last = !matches!(read, Ok(1..));
                let message = read.map(|length| {
                    chunk.truncate(length);
                    chunk
                });
                // Sending fails if the server stops first and drops the receiver.
                if sender.blocking_send(message).is_err() || last {
                    return;
                }
            }
        })?;
        Ok(Self { chunks, rest: Vec::new(), used: 0 })
    }
}

impl AsyncRead for ReadingThread {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.used == self.rest.len() {
            match self.chunks.poll_recv(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(chunk)) => {
                    self.rest = chunk?;
                    self.used = 0;
                }
            }
        }
        let length = into.remaining().min(self.rest.len() - self.used);
        let from = self.used;
        into.put_slice(&self.rest[from..from + length]);
        self.used += length;
        Poll::Ready(Ok(()))
    }
}

/// A descriptor that is written directly: a file, a terminal, a device.
struct Direct(File);

impl AsyncWrite for Direct {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
