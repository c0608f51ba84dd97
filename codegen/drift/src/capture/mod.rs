//! Asks a server for all that it tells its clients: its greeting, and every page of its lists.
//!
//! ```text
//! command -> stdio \
//!                   +-> dialogue (either era) -> content of a snapshot -> secrets
//! URL     -> http  /
//! ```

mod dialogue;
mod http;
mod secrets;
mod signals;
mod sse;
mod stdio;

use std::ffi::OsString;
use std::fmt;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde_json::Value;

pub use secrets::Secrets;

use dialogue::{STATELESS_REVISION, Trouble};

/// Where a server is.
#[derive(Debug)]
pub enum Source<'a> {
    /// A program that speaks over stdin and stdout, with its arguments.
    Command(&'a [OsString]),
    /// An address of Streamable HTTP, with headers for each request.
    Url(&'a str, &'a [(String, String)]),
}

/// How a client begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Era {
    /// With `initialize`: revisions up to 2025-11-25.
    Handshake,
    /// With `server/discover`: revision 2026-07-28.
    Stateless,
}

impl Era {
    /// The era of a revision. Revisions are dates.
    #[must_use]
    pub fn of(revision: &str) -> Self {
        if revision < STATELESS_REVISION { Self::Handshake } else { Self::Stateless }
    }

    /// The method that greets, and the member of a snapshot that holds its answer.
    #[must_use]
    pub const fn greeting(self) -> &'static str {
        match self {
            Self::Handshake => "initialize",
            Self::Stateless => "server/discover",
        }
    }
}

/// Why a server's surface is not known.
#[derive(Debug)]
pub enum NotCaptured {
    /// Something failed; the text says what, and what to do.
    Failed(String),
    /// The server does not speak the era that was asked for.
    OtherEra(String),
    /// Ctrl-C, or another request to end.
    Interrupted,
}

impl fmt::Display for NotCaptured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(text) | Self::OtherEra(text) => f.write_str(text),
            Self::Interrupted => f.write_str("interrupted; nothing was written"),
        }
    }
}

/// Asks a server once, and ends it. Returns the era that it was asked in and the content of a snapshot. Without an era, the newest is
/// taken that the server speaks.
///
/// # Errors
/// There is no whole answer within the time, or a signal ended the capture.
pub fn capture(
    source: &Source<'_>,
    era: Option<Era>,
    timeout: Duration,
) -> Result<(Era, Value), NotCaptured> {
    signals::listen();
    let until = Instant::now() + timeout;
    match source {
        Source::Url(url, headers) => {
            let mut server = http::Endpoint::new(url, headers);
            let asked = dialogue::ask_all(&mut server, era, until);
            server.leave();
            asked.map_err(|trouble| told(trouble, url, timeout, String::new()))
        }
        Source::Command(command) => {
            let asked = over_stdio(command, era, until);
            match asked {
                // Some servers end when the first request is not `initialize`.
                Err((Trouble::Ended { greeted: false, .. }, _)) if era.is_none() => {
                    over_stdio(command, Some(Era::Handshake), until)
                }
                asked => asked,
            }
            .map_err(|(trouble, stderr)| {
                let program = command.first().map(|name| name.to_string_lossy().into_owned());
                told(trouble, &program.unwrap_or_default(), timeout, stderr)
            })
        }
    }
}

/// Asks over pipes. A failure comes with what the server wrote on stderr.
fn over_stdio(
    command: &[OsString],
    era: Option<Era>,
    until: Instant,
) -> Result<(Era, Value), (Trouble, String)> {
    let mut server = stdio::Server::start(command).map_err(|trouble| (trouble, String::new()))?;
    let asked = dialogue::ask_all(&mut server, era, until);
    let stderr = server.end();
    asked.map_err(|trouble| (trouble, stderr))
}

/// The failure in words, with what the server wrote on stderr.
fn told(trouble: Trouble, server: &str, timeout: Duration, stderr: String) -> NotCaptured {
    let seconds = timeout.as_secs();
    let (text, other_era) = match trouble {
        Trouble::Interrupted => return NotCaptured::Interrupted,
        Trouble::Start(why) => (format!("cannot start `{server}`: {why}"), false),
        Trouble::Late(method) => {
            let text = format!(
                "`{server}` did not answer {method} within {seconds} s; --timeout gives it more time"
            );
            (text, false)
        }
        Trouble::Ended { method, how, .. } => {
            (format!("`{server}` ended before it answered {method} ({how})"), false)
        }
        Trouble::Refused { method, why, greeting } => {
            (format!("`{server}` answered {method} with an error: {why}"), greeting)
        }
        Trouble::Unusable(why) => (format!("`{server}` {why}"), false),
    };
    let text = match stderr.trim_end() {
        "" => text,
        stderr => format!("{text}\nIts last lines on stderr:\n{stderr}"),
    };
    if other_era { NotCaptured::OtherEra(text) } else { NotCaptured::Failed(text) }
}
