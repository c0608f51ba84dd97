//! Asks a server for its tools once, as a client of its own, and ends it: what `colibri wrap --check` prints.

use std::io;
use std::process::ExitStatus;

use colibri_runtime::wire::era::{CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, PROTOCOL_VERSION_KEY};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::child::{Child, NOT_EXECUTABLE, NOT_FOUND, Started, code_of, words_of};
use super::streams::{READ_BYTES, SignalStreams};
use crate::wrap::flights::Id;
use crate::wrap::limits::{END_WAIT, LIST_BYTES, LIST_TOOLS, LIST_WAIT, TERM_WAIT};
use crate::wrap::lines::{Lines, Piece};
use crate::wrap::list::Unreadable;
use crate::wrap::listing::request;
use crate::wrap::pin::SeenList;
use crate::wrap::scan::{Answer, Ending, Kind, Message};
use crate::wrap::watch::Watch;

/// The newest revision that begins with `initialize`.
const HANDSHAKE_REVISION: &str = "2025-11-25";
/// The revision without one.
const STATELESS_REVISION: &str = "2026-07-28";

/// Why a server's tools are not known. What it holds completes a sentence: `the server …`.
#[derive(Debug, thiserror::Error)]
pub enum NotListed {
    /// There is no process.
    #[error("cannot be started: {0}")]
    Start(#[from] io::Error),
    /// There is no answer in time.
    #[error("did not answer {0} in {seconds} s", seconds = LIST_WAIT.as_secs())]
    Late(&'static str),
    /// It has ended, or closed its output.
    #[error("ended before it answered {0} ({1})")]
    Ended(&'static str, String),
    /// It gave an error.
    #[error("answered {0} with the JSON-RPC error{1}")]
    Refused(&'static str, String),
    /// It gave another list.
    #[error("gave a list that {0}")]
    Unreadable(#[from] Unreadable),
    /// It gave ever more pages.
    #[error("gave a list of over {LIST_TOOLS} pages")]
    ManyPages,
}

/// Starts the server by `start`, lists its tools, and ends it. `watch` reads what it lists.
///
/// # Errors
/// The server does not start, does not answer, or lists nothing that can be compared.
pub async fn list_tools(
    start: impl Fn() -> io::Result<Started>,
    watch: &mut Watch,
) -> Result<SeenList, NotListed> {
    let mut asker = Asker::new(start()?)?;
    let meta = json!({
        PROTOCOL_VERSION_KEY: STATELESS_REVISION,
        CLIENT_INFO_KEY: client(),
        CLIENT_CAPABILITIES_KEY: {},
    });
    let discovered = asker.ask("server/discover", &json!({ "_meta": meta })).await;
    let listed = match discovered {
        Ok((answer, line)) => {
            watch.greeted(&line, &answer.value);
            asker.list(watch, Some(&meta.to_string())).await
        }
        // Some servers end when the first request is not `initialize`.
        Err(ended @ NotListed::Ended(..)) => match asker.end().await {
            Some(status) if is_started(status) => {
                asker = Asker::new(start()?)?;
                asker.list_by_handshake(watch).await
            }
            _ => Err(ended),
        },
        Err(_) => asker.list_by_handshake(watch).await,
    };
    match (listed, asker.end().await) {
        (Err(NotListed::Ended(method, _)), Some(status)) => Err(NotListed::Ended(method, words_of(status))),
        (listed, _) => listed,
    }
}

/// Resolves when a signal asks this process to end, or none can be waited for.
pub async fn stopped() {
    if let Ok(mut signals) = SignalStreams::install() {
        signals.next().await;
    }
}

fn is_started(status: ExitStatus) -> bool {
    !matches!(code_of(status), NOT_FOUND | NOT_EXECUTABLE)
}

fn client() -> Value {
    json!({ "name": "colibri wrap", "version": crate::VERSION })
}

/// A server, and what it said.
struct Asker {
    child: Child,
    input: Option<pipe::Sender>,
    output: pipe::Receiver,
    /// Nothing once it has ended.
    ended: Option<oneshot::Receiver<()>>,
    /// It did so without being killed.
    by_itself: bool,
    lines: Lines,
    chunk: Vec<u8>,
    sent: usize,
}

impl Asker {
    fn new(server: Started) -> io::Result<Self> {
        let Started { child, input, output, ended, .. } = server;
        let mut lines = Lines::default();
        lines.hold(LIST_BYTES);
        Ok(Self {
            child,
            input: Some(pipe::Sender::from_owned_fd(input)?),
            output: pipe::Receiver::from_owned_fd(output)?,
            ended: Some(ended),
            by_itself: false,
            lines,
            chunk: vec![0; READ_BYTES],
            sent: 0,
        })
    }

    async fn list_by_handshake(&mut self, watch: &mut Watch) -> Result<SeenList, NotListed> {
        let params = json!({
            "protocolVersion": HANDSHAKE_REVISION,
            "capabilities": {},
            "clientInfo": client(),
        });
        let (answer, line) = self.ask("initialize", &params).await?;
        watch.greeted(&line, &answer.value);
        self.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await;
        self.list(watch, None).await
    }

    /// Asks for all pages. `meta` is that of a stateless request, as JSON text.
    async fn list(&mut self, watch: &mut Watch, meta: Option<&str>) -> Result<SeenList, NotListed> {
        let mut cursor: Option<String> = None;
        for _ in 0..=LIST_TOOLS {
            let asked = watch.asked(true, cursor.as_deref());
            let id = self.next_id();
            let line = request(&id, cursor.as_deref(), meta);
            let (answer, line) = self.answer("tools/list", &id, &line).await?;
            let (page, list) = watch.page(&asked, &line, &answer.value)?;
            if let Some(list) = list {
                return Ok(watch.seen(list));
            }
            cursor = page.cursor;
        }
        Err(NotListed::ManyPages)
    }

    fn next_id(&mut self) -> String {
        self.sent += 1;
        format!("colibri-wrap:check:{}", self.sent)
    }

    async fn ask(&mut self, method: &'static str, params: &Value) -> Result<(Answer, Vec<u8>), NotListed> {
        let id = self.next_id();
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.answer(method, &id, format!("{line}\n").as_bytes()).await
    }

    /// Sends a request and returns its result with the line in which it stands.
    async fn answer(
        &mut self,
        method: &'static str,
        id: &str,
        line: &[u8],
    ) -> Result<(Answer, Vec<u8>), NotListed> {
        let answered = timeout(LIST_WAIT, async {
            self.send(line).await;
            self.receive(method, id).await
        });
        let (answer, line) = answered.await.unwrap_or(Err(NotListed::Late(method)))?;
        match answer.ending {
            Ending::RpcError(number) => {
                let number = number.map_or_else(String::new, |number| format!(" {number}"));
                Err(NotListed::Refused(method, number))
            }
            _ => Ok((answer, line)),
        }
    }

    async fn send(&mut self, line: &[u8]) {
        if let Some(input) = &mut self.input {
            // That the server has gone shows when it is read.
            let _ = input.write_all(line).await;
        }
    }

    async fn receive(&mut self, method: &'static str, id: &str) -> Result<(Answer, Vec<u8>), NotListed> {
        let wanted = Id::read(format!("\"{id}\"").as_bytes());
        let mut messages: Vec<Message> = Vec::new();
        loop {
            let length = self.output.read(&mut self.chunk).await.unwrap_or_default();
            let mut pieces = Vec::new();
            match length {
                0 => self.lines.finish(&mut pieces),
                _ => self.lines.push(&self.chunk[..length], &mut pieces),
            }
            for piece in pieces {
                let line = match piece {
                    Piece::Message(message) => {
                        messages.push(message);
                        continue;
                    }
                    Piece::Held(held) => Some(held.bytes),
                    Piece::Last(_) => None,
                    Piece::Broken => {
                        messages.clear();
                        continue;
                    }
                    Piece::Pass(_) | Piece::Unfinished => continue,
                };
                let answers = messages.drain(..).filter_map(|message| match message.kind {
                    Kind::Answer(answer) => Some(*answer),
                    _ => None,
                });
                let answers: Vec<Answer> = answers.collect();
                let Some(answer) = answers.into_iter().find(|answer| answer.id == wanted) else { continue };
                return line.map(|line| (answer, line)).ok_or(NotListed::Unreadable(Unreadable::Long));
            }
            if length == 0 {
                return Err(NotListed::Ended(method, "its output is closed".to_owned()));
            }
        }
    }

    /// Ends the server as a client does, and returns how it has ended if it did so by itself.
    async fn end(&mut self) -> Option<ExitStatus> {
        self.input = None;
        if let Some(mut ended) = self.ended.take() {
            self.by_itself = timeout(END_WAIT, &mut ended).await.is_ok();
            if !self.by_itself {
                self.child.signal(Signal::TERM);
                self.by_itself = timeout(TERM_WAIT, &mut ended).await.is_ok();
            }
        }
        self.child.end().ok().filter(|_| self.by_itself)
    }
}
