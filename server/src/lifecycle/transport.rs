//! Where a server's messages come from and go to: the process's own streams, or those of a test.

use std::future::Future;
use std::io;
use std::pin::Pin;

use colibri_runtime::wire::stdio::{self, Modes, Streams};

/// The future of [`Transport::open`].
pub type Opening<'a> = Pin<Box<dyn Future<Output = io::Result<Streams>> + 'a>>;

/// A pair of streams that is opened once and closed once.
pub trait Transport {
    /// Opens the streams. A transport that never finishes runs into the startup timeout.
    fn open(&mut self) -> Opening<'_>;

    /// Closes the streams; called once, after the last reply.
    ///
    /// # Errors
    /// The error is logged and changes nothing.
    fn close(&mut self) -> io::Result<()>;
}

/// The process's standard input and output.
#[derive(Debug, Default)]
pub struct Stdio {
    modes: Modes,
}

impl Stdio {
    /// Returns the flags that must be restored on the descriptors, even if the process is forced to end.
    pub fn modes(&self) -> Modes {
        self.modes.clone()
    }
}

impl Transport for Stdio {
    fn open(&mut self) -> Opening<'_> {
        Box::pin(async move { stdio::open(&self.modes) })
    }

    fn close(&mut self) -> io::Result<()> {
        self.modes.restore();
        Ok(())
    }
}

/// Streams that are open already.
pub struct Ready(Option<Streams>);

impl Ready {
    /// Makes a transport over the given streams.
    pub fn new(streams: Streams) -> Self {
        Self(Some(streams))
    }
}

impl Transport for Ready {
    fn open(&mut self) -> Opening<'_> {
        let streams = self.0.take().ok_or_else(|| io::Error::other("the transport was opened before"));
        Box::pin(std::future::ready(streams))
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
