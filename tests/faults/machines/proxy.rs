//! A proxy between a server of ours and PostgreSQL that knows where messages begin and end: it cuts, holds or counts there.
//! (PostgreSQL manual, "Message Formats".)

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many bytes are read at a time.
const CHUNK: usize = 1 << 16;

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the database.
    Up,
    /// To the client.
    Down,
}

/// What happens to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends, and the message is not passed on.
    CutBefore,
    /// Half of it is passed on.
    CutInside,
    /// The whole message is passed on first.
    CutAfter,
    /// It waits.
    Delay(Duration),
}

/// A fault for one message: the `at`th that goes that way from now on, over all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub way: Way,
    pub at: usize,
    pub fault: Fault,
}

/// A text that is replaced in messages of a kind, wherever it stands in them.
#[derive(Debug, Clone)]
pub struct Lie {
    pub way: Way,
    pub tag: u8,
    pub from: &'static [u8],
    pub to: &'static [u8],
}

impl Lie {
    /// Tells the lie, and corrects the message's length.
    fn tell(&self, way: Way, tag: u8, message: &mut Vec<u8>) {
        let found = message.windows(self.from.len()).position(|bytes| bytes == self.from);
        if let (true, Some(at)) = ((self.way, self.tag) == (way, tag), found) {
            message.splice(at..at + self.from.len(), self.to.iter().copied());
            let length = u32::try_from(message.len() - 1).expect("a length").to_be_bytes();
            message[1..5].copy_from_slice(&length);
        }
    }
}

/// What a proxy does, and what has passed through it.
#[derive(Debug, Default)]
struct Script {
    plans: Vec<Plan>,
    /// The tags of the messages that have passed each way since the script was set.
    passed: [Vec<u8>; 2],
    /// How many of the plans have come true.
    done: usize,
    flights: usize,
    /// Once a plan has come true, no connection is let through.
    isolates: bool,
    /// Answers are held back until the client has been silent for so long: what it sends meanwhile is one flight.
    silence: Option<Duration>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    /// The port of the database.
    server: u16,
    lies: Vec<Lie>,
    ended: AtomicBool,
    /// Both ends of each connection; `None` once nothing is let through any more.
    joined: Mutex<Option<Vec<TcpStream>>>,
}

/// What both ways of a connection know.
#[derive(Debug)]
struct Pair {
    last_up: Mutex<Instant>,
    /// The client has got an answer since it sent something.
    answered: AtomicBool,
}

/// A proxy; dropping it ends it.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Starts a proxy to the database at that port.
    pub fn start(server: u16) -> Self {
        Self::lying(server, Vec::new())
    }

    /// Starts a proxy that tells lies.
    pub fn lying(server: u16, lies: Vec<Lie>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let (script, ended) = (Mutex::default(), AtomicBool::new(false));
        let joined = Mutex::new(Some(Vec::new()));
        let shared = Arc::new(Shared { script, server, lies, ended, joined });
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.ended.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(client) = client {
                    accepting.serve(client);
                }
            }
        });
        Self { port, shared }
    }

    /// Its port, at 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets what is to happen from the next message on, and begins to count.
    pub fn script(&self, plans: Vec<Plan>) {
        *self.shared.script() = Script { plans, ..Script::default() };
    }

    /// Sets a cut from which on no connection is let through.
    pub fn isolate(&self, plan: Plan) {
        *self.shared.script() = Script { plans: vec![plan], isolates: true, ..Script::default() };
    }

    /// Cuts all connections, and lets no other one through.
    pub fn sever(&self) {
        for stream in self.shared.joined().take().into_iter().flatten() {
            // It may have ended already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Begins to count flights. A client that sends nothing for so long waits for an answer.
    pub fn count(&self, silence: Duration) {
        *self.shared.script() = Script { silence: Some(silence), ..Script::default() };
    }

    /// The tags of the messages that have passed a way since then.
    pub fn passed(&self, way: Way) -> Vec<u8> {
        self.shared.script().passed[way as usize].clone()
    }

    /// How many of the plans have come true since then.
    pub fn done(&self) -> usize {
        self.shared.script().done
    }

    /// How many flights there were since then.
    pub fn flights(&self) -> usize {
        self.shared.script().flights
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for the next connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn joined(&self) -> MutexGuard<'_, Option<Vec<TcpStream>>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins a client with the database.
    fn serve(self: &Arc<Self>, client: TcpStream) {
        if self.isolates() {
            return;
        }
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.server)) else {
            let _ = client.shutdown(Shutdown::Both);
            return;
        };
        let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { return };
        match (self.joined().as_mut(), client.try_clone(), server.try_clone()) {
            (Some(joined), Ok(client), Ok(server)) => joined.extend([client, server]),
            _ => return,
        }
        for stream in [&client, &server] {
            let _ = stream.set_nodelay(true);
        }
        let pair = Arc::new(Pair { last_up: Mutex::new(Instant::now()), answered: AtomicBool::new(true) });
        for (way, from, to) in [(Way::Up, from, to), (Way::Down, server, client)] {
            let (shared, pair) = (self.clone(), pair.clone());
            std::thread::spawn(move || {
                // Either end may hang up at any time, and the other is then told.
                let _ = shared.pass(way, &from, &to, &pair);
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            });
        }
    }

    fn isolates(&self) -> bool {
        let script = self.script();
        script.isolates && script.done > 0
    }

    fn pass(&self, way: Way, from: &TcpStream, to: &TcpStream, pair: &Pair) -> std::io::Result<()> {
        let mut messages = Messages { from, read: Vec::new(), tagged: way == Way::Down };
        while let Some((tag, mut message)) = messages.next()? {
            self.lies.iter().for_each(|lie| lie.tell(way, tag, &mut message));
            if way == Way::Down {
                self.await_silence(pair);
                pair.answered.store(true, Ordering::SeqCst);
            } else {
                *pair.last_up.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            }
            let (mut to, fault) = (to, self.met(way, tag, pair));
            match fault {
                None | Some(Fault::CutAfter) => to.write_all(&message)?,
                Some(Fault::Delay(time)) => {
                    std::thread::sleep(time);
                    to.write_all(&message)?;
                }
                Some(Fault::CutBefore) => {}
                Some(Fault::CutInside) => to.write_all(&message[..message.len() / 2])?,
            }
            if let Some(Fault::CutBefore | Fault::CutInside | Fault::CutAfter) = fault {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Counts a message; returns its fault.
    fn met(&self, way: Way, tag: u8, pair: &Pair) -> Option<Fault> {
        let mut script = self.script();
        let at = script.passed[way as usize].len();
        script.passed[way as usize].push(tag);
        if way == Way::Up && pair.answered.swap(false, Ordering::SeqCst) {
            script.flights += 1;
        }
        let found = script.plans.iter().position(|plan| plan.way == way && plan.at == at)?;
        script.done += 1;
        Some(script.plans.swap_remove(found).fault)
    }

    fn await_silence(&self, pair: &Pair) {
        let Some(silence) = self.script().silence else { return };
        loop {
            let since = pair.last_up.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
            if since >= silence {
                return;
            }
            std::thread::sleep(silence - since);
        }
    }
}

/// The messages of a stream. The first one of a client has no tag.
struct Messages<'a> {
    from: &'a TcpStream,
    read: Vec<u8>,
    tagged: bool,
}

impl Messages<'_> {
    /// Returns the next message with its tag, or `None` at the end.
    fn next(&mut self) -> std::io::Result<Option<(u8, Vec<u8>)>> {
        let start = usize::from(self.tagged);
        loop {
            if let Some(length) = self.read.get(start..start + 4) {
                let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]);
                let end = start + usize::try_from(length).map_err(|_| ErrorKind::InvalidData)?;
                if self.read.len() >= end {
                    let rest = self.read.split_off(end);
                    let message = std::mem::replace(&mut self.read, rest);
                    let tag = if self.tagged { message[0] } else { 0 };
                    self.tagged = true;
                    return Ok(Some((tag, message)));
                }
            }
            let mut chunk = [0; CHUNK];
            let got = self.from.read(&mut chunk)?;
            if got == 0 {
                return Ok(None);
            }
            self.read.extend_from_slice(&chunk[..got]);
        }
    }
}
