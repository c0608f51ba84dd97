//! A provider on this machine that follows a script: answers, lingers, stalls, hangs up. One thread serves
//! one connection after the other, so it records requests in their order.

#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::PATIENCE;

/// How often a waiting connection checks whether the test is over.
const GLANCE: Duration = Duration::from_millis(10);

/// What the provider does with one request.
#[derive(Debug, Clone)]
pub struct Reply {
    head: String,
    body: Vec<u8>,
    headers_after: Duration,
    /// How many bytes of the body are sent before the end, and how the reply ends.
    cut: Option<(usize, End)>,
}

/// How an incomplete reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The connection is closed.
    Close,
    /// The provider sends nothing more until the client closes the connection.
    Stall,
}

impl Reply {
    /// A status with a body.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let head = format!("HTTP/1.1 {status} Scripted\r\n");
        Self { head, body: body.into(), headers_after: Duration::ZERO, cut: None }
    }

    /// A status with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string()).header("content-type", "application/json")
    }

    /// No answer: the connection is closed when the request has been read.
    pub fn hang_up() -> Self {
        Self { head: String::new(), cut: Some((0, End::Close)), ..Self::new(200, "") }
    }

    /// No answer: the connection stays open.
    pub fn silence() -> Self {
        Self { head: String::new(), cut: Some((0, End::Stall)), ..Self::new(200, "") }
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// The headers come late.
    #[must_use]
    pub fn headers_after(self, wait: Duration) -> Self {
        Self { headers_after: wait, ..self }
    }

    /// After so many bytes of the body the connection is closed.
    #[must_use]
    pub fn closing_after(self, bytes: usize) -> Self {
        Self { cut: Some((bytes, End::Close)), ..self }
    }

    /// After so many bytes of the body the provider sends nothing more.
    #[must_use]
    pub fn stalling_after(self, bytes: usize) -> Self {
        Self { cut: Some((bytes, End::Stall)), ..self }
    }
}

/// A request as the provider received it.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The method; empty for bytes that are not HTTP.
    pub method: String,
    /// The target, as it was sent.
    pub path: String,
    /// Headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Seen {
    /// Returns the value of a header, which must not be there twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} is there twice: {:?}", self.headers);
        value
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }
}

#[derive(Default)]
struct Shared {
    script: Mutex<VecDeque<Reply>>,
    /// What follows the script.
    always: Mutex<Option<Reply>>,
    seen: Mutex<Vec<Seen>>,
    news: Condvar,
    connections: AtomicUsize,
    abandoned: AtomicUsize,
    over: AtomicBool,
}

/// The server. It ends when it is dropped.
pub struct Loopback {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Loopback {
    /// Plays a script, one reply for each request; a request beyond it gets status 418, which no test expects.
    pub fn playing(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::start(script.into_iter().collect(), None)
    }

    /// Gives every request the same reply.
    pub fn always(reply: Reply) -> Self {
        Self::start(VecDeque::new(), Some(reply))
    }

    fn start(script: VecDeque<Reply>, always: Option<Reply>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared { script: script.into(), always: always.into(), ..Shared::default() });
        let serving = shared.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.over.load(Ordering::SeqCst) {
                    return;
                }
                serving.connections.fetch_add(1, Ordering::SeqCst);
                // A client may close at any time; that does not count as a failure of the server.
                let _ = stream.and_then(|stream| serving.serve(stream));
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// Adds replies at the script's end.
    pub fn play(&self, replies: impl IntoIterator<Item = Reply>) {
        self.shared.script.lock().expect("the script").extend(replies);
    }

    /// `http://127.0.0.1:<port>` and the path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// `127.0.0.1:<port>`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().expect("the requests").clone()
    }

    /// Returns the only request.
    pub fn only(&self) -> Seen {
        let mut seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }

    /// Waits until so many requests have come, and returns all of them.
    pub fn await_seen(&self, count: usize) -> Vec<Seen> {
        let seen = self.shared.seen.lock().expect("the requests");
        let (seen, waited) = self
            .shared
            .news
            .wait_timeout_while(seen, PATIENCE, |seen| seen.len() < count)
            .expect("the requests");
        assert!(!waited.timed_out(), "{} of {count} requests came", seen.len());
        seen.clone()
    }

    /// Returns the number of connections so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until the client has closed so many stalled connections. Waits half as long as others, so a
    /// test can set a longer limit for the client.
    pub fn await_abandoned(&self, count: usize) {
        let began = Instant::now();
        while self.shared.abandoned.load(Ordering::SeqCst) < count {
            assert!(began.elapsed() < PATIENCE / 2, "the client keeps a stalled connection open");
            std::thread::sleep(GLANCE);
        }
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the thread where it waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(GLANCE))?;
        let Some(seen) = self.read_request(&mut stream)? else { return Ok(()) };
        let next = self.script.lock().expect("the script").pop_front();
        let reply = next.or_else(|| self.always.lock().expect("a reply").clone());
        let reply = reply.unwrap_or_else(|| Reply::new(418, "the script is over"));
        self.seen.lock().expect("the requests").push(seen);
        self.news.notify_all();
        self.write_reply(&mut stream, &reply)
    }

    /// Reads a request; `None` for a connection without one.
    fn read_request(&self, stream: &mut TcpStream) -> std::io::Result<Option<Seen>> {
        let mut bytes = Vec::new();
        loop {
            if !self.read_more(stream, &mut bytes)? {
                return Ok(None);
            }
            if !bytes[0].is_ascii_uppercase() {
                return Ok(Some(Seen::default()));
            }
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let mut seen = request_head(&String::from_utf8_lossy(&bytes[..end]));
                let length = seen.header("content-length").map_or(0, |text| text.parse().expect("a length"));
                while bytes.len() < end + 4 + length {
                    if !self.read_more(stream, &mut bytes)? {
                        return Ok(None);
                    }
                }
                seen.body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
                return Ok(Some(seen));
            }
        }
    }

    /// Returns whether bytes arrived; `false` at the end of the connection or of the test.
    fn read_more(&self, stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        while !self.over.load(Ordering::SeqCst) {
            match stream.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    bytes.extend_from_slice(&chunk[..length]);
                    return Ok(true);
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn write_reply(&self, stream: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
        if !reply.headers_after.is_zero() {
            std::thread::sleep(reply.headers_after);
        }
        let written = write_until_cut(stream, reply);
        if matches!(reply.cut, Some((_, End::Stall))) {
            // A client that leaves quickly closes the connection while the reply is written.
            self.stall(stream);
        }
        written.and_then(|()| stream.shutdown(Shutdown::Both))
    }

    /// Sends nothing until the client has closed the connection.
    fn stall(&self, stream: &mut TcpStream) {
        let mut rest = Vec::new();
        while matches!(self.read_more(stream, &mut rest), Ok(true)) {}
        if !self.over.load(Ordering::SeqCst) {
            self.abandoned.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Writes the reply, or the part of it that the client is to see.
fn write_until_cut(stream: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
    if !reply.head.is_empty() {
        let length = reply.body.len();
        write!(stream, "{}content-length: {length}\r\nconnection: close\r\n\r\n", reply.head)?;
    }
    let sent = reply.cut.map_or(reply.body.len(), |(bytes, _)| bytes.min(reply.body.len()));
    stream.write_all(&reply.body[..sent])
}

fn request_head(text: &str) -> Seen {
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let mut word = || first.next().unwrap_or_default().to_owned();
    let (method, path) = (word(), word());
    let headers = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Seen { method, path, headers: headers.collect(), body: String::new() }
}
