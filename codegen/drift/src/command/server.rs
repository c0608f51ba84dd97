//! The server that a command line names, asked twice.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::Failure;
use crate::capture::{Era, NotCaptured, Secrets, Source, capture};
use crate::snapshot::file;

/// Which server to ask, and how.
#[derive(Debug, Args)]
pub struct Server {
    /// Ask the server at this address, over Streamable HTTP.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// Send this header with each request, such as 'Authorization: Bearer …'. May be repeated.
    #[arg(long = "header", value_name = "K:V", requires = "url", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Begin as clients of this era do [default: the newest that the server speaks].
    #[arg(long, value_name = "ERA")]
    pub(super) era: Option<Era>,
    /// How long a capture may take, in seconds.
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Start this server, which speaks over stdin and stdout, with the environment of this command.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What two starts of a server told.
pub struct Captured {
    /// The era that it was asked in.
    pub era: Era,
    /// The content of a snapshot, from each start.
    pub contents: [Value; 2],
    /// Where they differ.
    pub varies: Vec<String>,
}

impl Server {
    /// Whether a server is named.
    pub(super) fn is_given(&self) -> bool {
        self.url.is_some() || !self.command.is_empty()
    }

    /// Asks the server once; returns the content of a snapshot.
    ///
    /// # Errors
    /// The server has no whole answer within the time, or a signal ended the capture.
    pub fn ask(&self) -> Result<Value, Failure> {
        Ok(self.once(self.era)?.1)
    }

    /// Refuses what holds a secret that the caller gave to the server: reports and catalogues are as public as snapshots.
    fn once(&self, era: Option<Era>) -> Result<(Era, Value), NotCaptured> {
        let source = match &self.url {
            Some(url) => Source::Url(url, &self.headers),
            None if self.command.is_empty() => {
                return Err(NotCaptured::Failed(
                    "name a server: its command behind `--`, or its address with --url".to_owned(),
                ));
            }
            None => Source::Command(&self.command),
        };
        let (era, content) = capture(&source, era, Duration::from_secs(self.timeout))?;
        match Secrets::of(&self.headers).found_in(&content) {
            None => Ok((era, content)),
            Some(found) => Err(NotCaptured::Failed(format!(
                "the server tells its clients {found}, and what it tells goes into files and reports; start it with another value, \
                 or without one"
            ))),
        }
    }

    /// Asks the server twice.
    pub(super) fn capture(&self, era: Option<Era>) -> Result<Captured, NotCaptured> {
        let (era, first) = self.once(era)?;
        let (_, second) = self.once(Some(era))?;
        let varies = file::differences(&first, &second);
        Ok(Captured { era, contents: [first, second], varies })
    }

    /// Returns the snapshot file of a capture.
    pub(super) fn file(captured: &Captured) -> String {
        let content = file::leave_out(&captured.contents[0], &captured.varies);
        file::write(&content, &captured.varies)
    }
}

impl Captured {
    /// Says what differs from start to start, if something does.
    pub fn note(&self, what_follows: &str) -> Option<String> {
        let places = self.varies.join("\n  ");
        (!self.varies.is_empty()).then(|| {
            format!("the server changed these places between two starts; {what_follows}:\n  {places}")
        })
    }
}

/// Splits `Name: value`.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header has the form NAME: VALUE")?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) || value.chars().any(char::is_control) {
        return Err(
            "the name of a header has letters, digits and hyphens, and its value is one line".to_owned()
        );
    }
    Ok((name.to_owned(), value.to_owned()))
}
