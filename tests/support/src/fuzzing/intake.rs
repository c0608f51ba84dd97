//! The whole way of bytes: a loop over streams in memory answers every request once, under its own id, with one line of
//! JSON, and nothing else.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use colibri_canonical::MAX_DEPTH;
use colibri_runtime::chain::log::NoLog;
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::registry::Registry;
use colibri_runtime::chain::{Audit, Chain, Kernel};
use colibri_runtime::handler::{Dispatch, Dispatched, Fault, NetworkCall, ScanCall};
use colibri_runtime::kernel::{SystemClock, SystemIds};
use colibri_runtime::memory::{MemoryCx, MemoryStore};
use colibri_runtime::serve::{Control, Finish, Serve};
use colibri_runtime::wire::array::MEMBERS;
use colibri_runtime::wire::flaw::request_id;
use colibri_runtime::wire::scan;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::framing::plain;
use crate::dice::Dice;
use crate::probe::CATALOGUE;

/// Pieces of messages.
pub const TOKENS: &[&str] = &[
    "\n",
    "\"id\":",
    "\"id\":null,",
    "\"id\":1e999,",
    "\"id\":\"\\u0061\",",
    "\"method\":\"ping\",",
    "\"method\":\"tools/call\",",
    "\"method\":\"tools/list\",",
    "\"jsonrpc\":\"2.0\",",
    "\"params\":",
    "\"arguments\":{",
    "\"name\":\"probe_echo\",",
    "\"name\":\"probe_network\",",
    "\"name\":\"probe_scan\",",
    "\"_meta\":{",
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",",
    "\"result\":{},",
    "{",
    "}",
    "[",
    "]",
    ",",
    "1e999",
    "\\ud800",
    "null",
    "\"\\u0069d\":7,",
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n",
];

/// The most lines of one input; further ones would test nothing new.
const MOST_LINES: usize = 300;

/// The line that makes a connection receive arrays.
const HANDSHAKE: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-03-26\"}}\n";

/// Serves the input, cut at places that depend on it, and compares the answers with what the lines ask for. Serves
/// every second input on a connection that receives arrays.
pub fn check(bytes: &[u8]) -> bool {
    let negotiates = bytes.windows(10).any(|piece| piece == b"initialize");
    if negotiates || bytes.len().is_multiple_of(2) {
        return check_on(bytes, false);
    }
    check_on(&[HANDSHAKE, bytes].concat(), true)
}

fn check_on(bytes: &[u8], arrays: bool) -> bool {
    let frames = plain(bytes);
    if frames.len() > MOST_LINES {
        return false;
    }
    let mut owed: BTreeMap<String, usize> = BTreeMap::new();
    let mut cancels = false;
    for frame in &frames {
        let colibri_runtime::wire::frame::Frame::Line(line) = frame else { continue };
        cancels |= line.windows(9).any(|piece| piece == b"cancelled") || line.contains(&b'\\');
        for id in answers_owed(line, arrays) {
            *owed.entry(id).or_default() += 1;
        }
    }
    let mut served = false;
    for line in serve(bytes).split_inclusive(|byte| *byte == b'\n') {
        for (id, result) in answers(line, arrays) {
            served |= result;
            let left = owed.get_mut(&id).unwrap_or_else(|| panic!("nobody asked under the id {id}"));
            *left = left.checked_sub(1).unwrap_or_else(|| panic!("the id {id} is answered too often"));
        }
    }
    // A call that still waits may be cancelled; then it is not answered.
    assert!(cancels || owed.values().all(|left| *left == 0), "without an answer: {owed:?}");
    served
}

/// Returns the ids under which a line must be answered.
fn answers_owed(line: &[u8], arrays: bool) -> Vec<String> {
    let text = String::from_utf8_lossy(line);
    let lossy = matches!(text, Cow::Owned(_));
    let members: Option<Vec<Box<RawValue>>> = serde_json::from_str(&text).ok();
    let sound = !lossy && scan::check(line, MAX_DEPTH).is_ok();
    // Of an array that cannot be read whole, only a first member that is an object says that it is one of messages.
    let is_array = |members: &Vec<Box<RawValue>>| {
        arrays && (sound || members.first().is_some_and(|first| first.get().starts_with('{')))
    };
    match members.filter(is_array) {
        Some(members) if (1..=MEMBERS).contains(&members.len()) => {
            let members = members.iter().map(|member| member.get());
            let spoilt = |member: &str| lossy && member.contains(char::REPLACEMENT_CHARACTER);
            members.filter_map(|member| answer_owed(member, MAX_DEPTH - 1, spoilt(member))).collect()
        }
        _ => answer_owed(&text, MAX_DEPTH, lossy).into_iter().collect(),
    }
}

/// Returns the id under which a message must be answered, as JSON text; `None` for a message without an answer. A request that cannot be
/// read whole is answered under its id if that was read before the fault, and is part of what was sent.
fn answer_owed(text: &str, depth: usize, lossy: bool) -> Option<String> {
    let nobody = Some("null".to_owned());
    let members = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text);
    let (false, Ok(()), Ok(members)) = (lossy, scan::check(text.as_bytes(), depth), members) else {
        let id = request_id(text).map(|id| id.as_str().to_owned());
        return id.filter(|id| !lossy || !id.contains(char::REPLACEMENT_CHARACTER)).or(nobody);
    };
    let member = |name: &str| members.get(name).map(|raw| raw.get());
    if member("method").is_none() && (member("result").is_some() || member("error").is_some()) {
        return None;
    }
    let is_text = |raw: &str| serde_json::from_str::<String>(raw).is_ok();
    let version = member("jsonrpc").and_then(|raw| serde_json::from_str::<String>(raw).ok());
    let sound = version.as_deref() == Some("2.0") && member("method").is_some_and(is_text);
    match member("id") {
        None if sound => None,
        Some(id) if id.starts_with(['"', '-']) || id.starts_with(|c: char| c.is_ascii_digit()) => {
            Some(id.to_owned())
        }
        _ => nobody,
    }
}

/// Returns the answers of a line: one, or an array of them where arrays are allowed.
fn answers(line: &[u8], arrays: bool) -> Vec<(String, bool)> {
    let message =
        line.strip_suffix(b"\n").unwrap_or_else(|| panic!("no line: {}", String::from_utf8_lossy(line)));
    if !(arrays && message.starts_with(b"[")) {
        return vec![answer(message)];
    }
    let members: Vec<&RawValue> = serde_json::from_slice(message).expect("an array");
    assert!(!members.is_empty(), "an array without answers");
    members.into_iter().map(|member| answer(member.get().as_bytes())).collect()
}

/// The id of an answer, and whether it is a result.
fn answer(line: &[u8]) -> (String, bool) {
    let shown = String::from_utf8_lossy(line);
    assert!(line.ends_with(b"}"), "a message: {shown}");
    let members: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(line).unwrap_or_else(|error| panic!("no JSON, {error}: {shown}"));
    assert_eq!(members["jsonrpc"].get(), "\"2.0\"", "{shown}");
    assert_eq!(members.len(), 3, "{shown}");
    if let Some(error) = members.get("error") {
        let error: Value = serde_json::from_str(error.get()).unwrap();
        assert!(error["code"].is_i64() && error["message"].is_string(), "{shown}");
        return (members["id"].get().to_owned(), false);
    }
    let result: BTreeMap<String, Box<RawValue>> = serde_json::from_str(members["result"].get()).unwrap();
    if let Some(envelope) = result.get("structuredContent") {
        let content: Value = serde_json::from_str(result["content"].get()).unwrap();
        assert_eq!(content[0]["text"], envelope.get(), "text and structure say the same");
    }
    (members["id"].get().to_owned(), true)
}

/// Returns everything that the loop writes for an input.
fn serve(bytes: &[u8]) -> Vec<u8> {
    let kernel = Kernel {
        clock: Arc::new(SystemClock::default()),
        ids: Box::new(SystemIds::default()),
        log: Arc::new(NoLog),
        redactor: Redactor::new([]),
    };
    let registry = Registry::of(&CATALOGUE).expect("the catalogue is sound");
    let mut chain = Chain::new(registry, MemoryStore::new(()), Mirror, Audit::Buffer, kernel);
    let (controls, received) = tokio::sync::mpsc::unbounded_channel();
    assert!(controls.send(Control::Opened(Ok((MemoryStore::new(()), "memory")))).is_ok());
    let written = Rc::new(RefCell::new(Vec::new()));
    let reader = Box::new(Pieces { rest: bytes.to_vec(), dice: Dice::of(bytes) });
    let writer = Box::new(Written(written.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let finish = runtime.block_on(Serve::new(&mut chain, "0", reader, writer, received).run());
    assert_eq!(finish, Finish::EndOfInput);
    written.take()
}

/// Handlers that return their input, or fail with it.
struct Mirror;

fn mirrored(tool: usize, arguments: &Value) -> Dispatched {
    match tool % 3 {
        0 => Dispatched::Fault(Fault::Other(arguments.to_string())),
        _ => Dispatched::Value(arguments.clone()),
    }
}

impl Dispatch<MemoryCx<()>> for Mirror {
    fn call(&mut self, _: &mut MemoryCx<()>, tool: usize, arguments: &Value) -> Dispatched {
        mirrored(tool, arguments)
    }
    fn scan(&mut self, tool: usize, arguments: Value) -> ScanCall<MemoryCx<()>> {
        Box::new(move |_, _| mirrored(tool, &arguments))
    }
    fn network(&mut self, (): (), tool: usize, arguments: Value) -> NetworkCall {
        Box::pin(async move {
            tokio::task::yield_now().await;
            mirrored(tool, &arguments)
        })
    }
}

/// A stream in pieces.
struct Pieces {
    rest: Vec<u8>,
    dice: Dice,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let size = (1 + self.dice.place(400)).min(self.rest.len()).min(into.remaining());
        into.put_slice(&self.rest[..size]);
        self.rest.drain(..size);
        Poll::Ready(Ok(()))
    }
}

/// A stream that takes a little at a time.
struct Written(Rc<RefCell<Vec<u8>>>);

impl AsyncWrite for Written {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let taken = bytes.len().min(5000);
        self.0.borrow_mut().extend_from_slice(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
