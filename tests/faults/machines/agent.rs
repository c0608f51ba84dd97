//! An agent: a server under load, and what it was told. A server that ends is replaced by another one.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use colibri_test_support::client::{PATIENCE, envelope, response};
use colibri_test_support::dice::Dice;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::world::{SESSION, Target, launch};

/// What a call is to do. Texts are the call's id, by which their effect is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    Create,
    Think,
    /// A title for a task that only this agent changes.
    Rename(String),
    Claim,
    Ping,
}

/// What a client was told.
#[derive(Debug, Clone)]
pub enum Reply {
    /// It succeeded.
    Done(Value),
    /// The tool's own refusal, Pattern B.
    Declined,
    /// It failed, with this message.
    Failed(String),
    /// There was none.
    Silence,
}

/// A call and its reply.
#[derive(Debug, Clone)]
pub struct Told {
    pub id: String,
    pub deed: Deed,
    pub reply: Reply,
    /// Which of the agent's servers it was sent to, in the order of `ended`.
    pub server: usize,
}

/// How a server ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stderr: String,
}

/// What hits a server from outside.
#[derive(Debug, Clone, Default)]
pub struct Hand(Arc<Mutex<Option<u32>>>);

impl Hand {
    /// Sends a signal, if a server runs.
    pub fn signal(&self, name: &str) {
        // Nothing else gets the number while the lock is held: the agent waits for its server under it.
        let pid = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pid) = *pid {
            let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status();
            assert!(status.expect("kill runs").success());
        }
    }

    fn set(&self, pid: Option<u32>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }
}

struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: JoinHandle<String>,
}

/// An agent.
pub struct Agent {
    name: String,
    dice: Dice,
    target: Target,
    folder: Arc<TempDir>,
    window: usize,
    /// It rests so long after each reply.
    pub rest: Duration,
    process: Option<Process>,
    pub hand: Hand,
    calls: usize,
    /// Tasks that it has created.
    tasks: Vec<String>,
    waiting: BTreeMap<String, Deed>,
    pub told: Vec<Told>,
    pub ended: Vec<Ended>,
}

impl Agent {
    /// An agent of that name, with so many calls under way at a time.
    pub fn new(name: String, dice: Dice, target: Target, window: usize) -> Self {
        Self {
            name,
            dice,
            target,
            folder: Arc::new(TempDir::new().expect("a folder")),
            window,
            rest: Duration::ZERO,
            process: None,
            hand: Hand::default(),
            calls: 0,
            tasks: Vec::new(),
            waiting: BTreeMap::new(),
            told: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Works until it is told to stop; then takes the last replies and ends its server.
    pub fn work(&mut self, stop: &AtomicBool) {
        self.work_on(stop);
        self.finish();
    }

    /// Works until it is told to stop.
    pub fn work_on(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::SeqCst) {
            if self.process.is_none() {
                self.warm_up();
                continue;
            }
            while self.waiting.len() < self.window {
                let deed = self.draw();
                self.ask(deed);
            }
            self.hear();
            std::thread::sleep(self.rest);
        }
    }

    /// Starts a server and waits until it has opened the database. It answers pings before, and they have no row if it dies first.
    pub fn warm_up(&mut self) {
        self.ask(Deed::Create);
        self.settle();
    }

    fn draw(&self) -> Deed {
        match self.dice.place(20) {
            0..=7 => Deed::Create,
            8..=11 => Deed::Think,
            12..=14 if !self.tasks.is_empty() => Deed::Rename(self.dice.pick(&self.tasks).clone()),
            15..=16 => Deed::Claim,
            17..=19 => Deed::Ping,
            _ => Deed::Create,
        }
    }

    /// Sends a call, to a new server if there is none.
    pub fn ask(&mut self, deed: Deed) {
        self.calls += 1;
        let id = format!("{}-{}", self.name, self.calls);
        let (tool, arguments) = match &deed {
            Deed::Create => ("task_create", json!({ "title": id })),
            Deed::Think => (
                "thought_record",
                json!({ "session_id": SESSION, "task_id": "t", "agent_id": "a", "type": "plan", "content": id }),
            ),
            Deed::Rename(task) => ("task_update", json!({ "id": task, "title": id })),
            Deed::Claim => ("task_claim", json!({ "agent_id": self.name, "lease_seconds": 30 })),
            Deed::Ping => ("server_ping", json!({})),
        };
        let params = json!({ "name": tool, "arguments": arguments });
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.waiting.insert(id, deed);
        // A server that has just ended is noticed when its answers are read.
        let _ = self.process().stdin.as_mut().map(|stdin| stdin.write_all(format!("{line}\n").as_bytes()));
    }

    /// Takes a reply, or notices that the server has ended.
    pub fn hear(&mut self) {
        let line = self.process().lines.recv_timeout(PATIENCE);
        match line {
            Ok(line) if line.ends_with(b"\n") => self.take(&line),
            // A line that was cut off acknowledges nothing.
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => self.bury(),
            Err(RecvTimeoutError::Timeout) => {
                panic!("{}: no answer and no end; {:?}", self.name, self.waiting)
            }
        }
    }

    fn take(&mut self, line: &[u8]) {
        let answer = response(line);
        let id = answer["id"].as_str().expect("an id of ours").to_owned();
        let deed = self.waiting.remove(&id).unwrap_or_else(|| panic!("{id} is answered twice"));
        let envelope = envelope(&answer);
        let reply = if envelope["ok"] == json!(false) {
            let code = envelope["error"]["code"].as_str().unwrap_or_default();
            let message = envelope["error"]["message"].as_str().unwrap_or_default();
            Reply::Failed(format!("{code}: {message}"))
        } else if envelope["data"]["ok"] == json!(false) {
            Reply::Declined
        } else {
            Reply::Done(kept(&envelope["data"]))
        };
        if let (Deed::Create, Reply::Done(data)) = (&deed, &reply) {
            self.tasks.push(data["id"].as_str().expect("a task").to_owned());
        }
        self.told.push(Told { id, deed, reply, server: self.ended.len() });
    }

    /// Takes the answers to all that it has asked.
    pub fn settle(&mut self) {
        while !self.waiting.is_empty() {
            self.hear();
        }
    }

    /// Ends its server in order.
    pub fn finish(&mut self) {
        self.settle();
        if let Some(process) = &mut self.process {
            process.stdin = None;
        }
        while self.process.is_some() {
            self.hear();
        }
    }

    /// Notes how the server has ended. Its open calls get no answer.
    fn bury(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        self.hand.set(None);
        let status = process.child.wait().expect("the server can be waited for");
        let stderr = process.stderr.join().expect("the reader ends");
        for (id, deed) in std::mem::take(&mut self.waiting) {
            self.told.push(Told { id, deed, reply: Reply::Silence, server: self.ended.len() });
        }
        self.ended.push(Ended { status, stderr });
    }

    fn process(&mut self) -> &mut Process {
        let (target, folder, hand) = (&self.target, &self.folder, &self.hand);
        self.process.get_or_insert_with(|| {
            let mut command = launch(target, folder).command();
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("the server starts");
            hand.set(Some(child.id()));
            let (sender, lines) = channel();
            let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
            std::thread::spawn(move || {
                let mut line = Vec::new();
                while stdout.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                    if sender.send(std::mem::take(&mut line)).is_err() {
                        return;
                    }
                }
            });
            let mut stream = child.stderr.take().expect("a pipe");
            let stderr = std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stream.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            });
            Process { stdin: child.stdin.take(), child, lines, stderr }
        })
    }
}

/// What of a reply the judge asks for; a run of minutes has many replies.
fn kept(data: &Value) -> Value {
    json!({ "id": data["id"], "claim": data["claim"], "task": { "id": data["task"]["id"] } })
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}

/// Tells agents to stop when it goes, also where a test fails meanwhile: a scope waits for their threads.
pub struct Stops<'a>(pub &'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
