//! One of several servers is frozen under load, at a random moment.
//!
//! `COLIBRI_FREEZES` says how many times (200 for the long form, which also holds the servers to their times),
//! `COLIBRI_FREEZE_SEED` repeats one.

#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use serde_json::{Value, json};

use crate::crash::dice::Dice;

const SERVER: &str = env!("CARGO_BIN_EXE_colibri-under-test");
const FREEZES: u64 = 3;
/// How often a process is stopped until it is at the head of the queue.
const TRIES: usize = 100;
/// A client pings so often.
const PING_EVERY: Duration = Duration::from_millis(20);
/// The same servers go through so many freezes.
const FREEZES_A_GROUP: u64 = 5;

/// What is asked of a server that is not frozen.
struct Limits {
    ping: Duration,
    call: Duration,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn finding_a5_a_frozen_server_holds_up_no_other() {
    let asked = number("COLIBRI_FREEZES");
    let freezes = asked.unwrap_or(FREEZES);
    let limits = match asked {
        Some(_) => Limits { ping: Duration::from_secs(1), call: Duration::from_secs(10) },
        // A machine that does much else is not what is tested.
        None => Limits { ping: Duration::from_secs(6), call: Duration::from_secs(30) },
    };
    let fresh = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = number("COLIBRI_FREEZE_SEED").unwrap_or(fresh % 1_000_000) + 1;
    println!("COLIBRI_FREEZE_SEED={} COLIBRI_FREEZES={freezes}", seed - 1);
    let mut dice = Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut found = Found::default();
    let mut left = freezes;
    while left > 0 {
        let freezes = left.min(FREEZES_A_GROUP);
        left -= freezes;
        found.add(&group(&mut dice, freezes, &limits));
    }
    println!("{found:?}");
}

/// What came of it.
#[derive(Debug, Default)]
struct Found {
    /// Freezes that made another server's call fail, because the frozen one was at the head of the queue.
    blocking: u64,
    acknowledged: usize,
    refused: usize,
    pings: usize,
    longest_ping: Duration,
    longest_call: Duration,
}

impl Found {
    fn add(&mut self, other: &Self) {
        self.blocking += other.blocking;
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.pings += other.pings;
        self.longest_ping = self.longest_ping.max(other.longest_ping);
        self.longest_call = self.longest_call.max(other.longest_call);
    }
}

/// What the clients are told of the freezes.
#[derive(Default)]
struct Stage {
    /// The process that is frozen; 0 for none.
    frozen: AtomicU32,
    over: AtomicBool,
}

/// Two to four servers on one file, frozen one after the other.
fn group(dice: &mut Dice, freezes: u64, limits: &Limits) -> Found {
    let first = Launch::new(SERVER);
    let folder = first.folder();
    let count = 2 + dice.below(3);
    let mut servers = vec![first.start()];
    servers[0].data("task_list", json!({}));
    for _ in 1..count {
        let mut server = Launch::new(SERVER).in_folder(folder.clone()).start();
        server.data("task_list", json!({}));
        servers.push(server);
    }
    let pids: Vec<u32> = servers.iter().map(Server::pid).collect();
    let stage = Stage::default();
    let mut found = Found::default();
    let (told, heard) = channel();
    std::thread::scope(|scope| {
        for (place, server) in servers.into_iter().enumerate() {
            let (stage, told, window) = (&stage, told.clone(), [1, 4, 16][dice.below(3) as usize]);
            scope.spawn(move || Client::new(server, place, window).work(stage, limits, &told));
        }
        drop(told);
        for _ in 0..freezes {
            std::thread::sleep(Duration::from_millis(100 + dice.below(400)));
            let pid = pids[dice.below(count) as usize];
            // Half of the freezes wait for a moment in which the process is at the head of the queue.
            let queue = (dice.below(2) == 0).then(|| folder.path().join("colibri.db.queue"));
            // Some are shorter than the limit of a call, most are longer.
            let length = Duration::from_millis(500 + dice.below(8000));
            let refused = freeze(pid, queue.as_deref(), length, &stage, &heard);
            found.refused += refused;
            found.blocking += u64::from(refused > 0);
        }
        stage.over.store(true, Ordering::SeqCst);
    });
    let mut acknowledged = Vec::new();
    for said in heard.try_iter() {
        if let Said::Ended(done) = said {
            found.pings += done.pings;
            found.longest_ping = found.longest_ping.max(done.longest_ping);
            found.longest_call = found.longest_call.max(done.longest_call);
            acknowledged.extend(done.acknowledged);
        }
    }
    found.acknowledged = acknowledged.len();
    assert_stored(&folder.path().join("colibri.db"), acknowledged);
    found
}

/// Stops a process for a while; how many calls of other servers failed for it.
fn freeze(pid: u32, queue: Option<&Path>, length: Duration, stage: &Stage, heard: &Receiver<Said>) -> usize {
    stage.frozen.store(pid, Ordering::SeqCst);
    signal(pid, "STOP");
    for _ in 0..TRIES {
        if queue.is_none_or(|queue| holds(pid, queue)) {
            break;
        }
        signal(pid, "CONT");
        std::thread::sleep(Duration::from_millis(3));
        signal(pid, "STOP");
    }
    std::thread::sleep(length);
    signal(pid, "CONT");
    // What has failed for it may still be on its way to the client.
    std::thread::sleep(Duration::from_millis(300));
    stage.frozen.store(0, Ordering::SeqCst);
    heard.try_iter().filter(|said| matches!(said, Said::Refused)).count()
}

/// Whether the kernel lists a lock of that process on the file.
fn holds(pid: u32, queue: &Path) -> bool {
    let inode = std::fs::metadata(queue).unwrap().ino();
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words.as_slice(), [_, "FLOCK", _, _, holder, file, ..]
            if *holder == pid.to_string() && file.ends_with(&format!(":{inode}")))
    })
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status().unwrap().success());
}

fn assert_stored(database: &Path, mut acknowledged: Vec<String>) {
    let mut stored: Vec<String> = engine::open(database)
        .prepare("SELECT title FROM tasks")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    stored.sort();
    acknowledged.sort();
    assert_eq!(stored.len(), acknowledged.len());
    assert_eq!(stored, acknowledged, "what was acknowledged is stored, and nothing else");
    let verified = Command::new(SERVER).args(["verify", "--db"]).arg(database).stdin(Stdio::null()).output();
    let verified = verified.unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

/// What a client tells.
enum Said {
    /// A call has failed, and named the frozen process.
    Refused,
    Ended(Done),
}

#[derive(Default)]
struct Done {
    acknowledged: Vec<String>,
    pings: usize,
    longest_ping: Duration,
    longest_call: Duration,
}

/// Keeps a window of calls under way, and a ping among them.
struct Client {
    server: Server,
    place: usize,
    window: usize,
    sent: usize,
    pinged: Instant,
    /// When each was sent, and the title of the task; `None` for a ping.
    under_way: HashMap<u64, (Instant, Option<String>)>,
    done: Done,
}

impl Client {
    fn new(server: Server, place: usize, window: usize) -> Self {
        Self {
            server,
            place,
            window,
            sent: 0,
            pinged: Instant::now(),
            under_way: HashMap::new(),
            done: Done::default(),
        }
    }

    fn work(mut self, stage: &Stage, limits: &Limits, told: &Sender<Said>) {
        while !stage.over.load(Ordering::SeqCst) || !self.under_way.is_empty() {
            if !stage.over.load(Ordering::SeqCst) {
                self.send();
            }
            self.judge(stage, limits);
            if let Some(answer) = self.server.receive_within(PING_EVERY) {
                self.take(&answer, stage, told);
            }
        }
        let _ = told.send(Said::Ended(std::mem::take(&mut self.done)));
        let ended = self.server.finish();
        assert_eq!(ended.code(), 0, "{}", ended.stderr);
    }

    /// Fills the window, and pings when it is time for it.
    fn send(&mut self) {
        let pings = self.under_way.values().filter(|(_, title)| title.is_none()).count();
        if pings == 0 && self.pinged.elapsed() >= PING_EVERY {
            self.pinged = Instant::now();
            let id = self.server.send_request("ping", json!({}));
            self.under_way.insert(id, (Instant::now(), None));
        }
        for _ in self.under_way.len() - pings..self.window {
            self.sent += 1;
            let title = format!("server {} call {}", self.place, self.sent);
            let id = self.server.send_call("task_create", json!({ "title": title }));
            self.under_way.insert(id, (Instant::now(), Some(title)));
        }
    }

    fn take(&mut self, answer: &Value, stage: &Stage, told: &Sender<Said>) {
        let (at, title) = self.under_way.remove(&answer["id"].as_u64().unwrap()).unwrap();
        let frozen = stage.frozen.load(Ordering::SeqCst);
        let Some(title) = title else {
            self.done.pings += 1;
            self.done.longest_ping = self.done.longest_ping.max(at.elapsed());
            return;
        };
        self.done.longest_call = self.done.longest_call.max(at.elapsed());
        let envelope = &answer["result"]["structuredContent"];
        if envelope["ok"] == json!(true) {
            self.done.acknowledged.push(title);
            return;
        }
        let message = envelope["error"]["message"].as_str().unwrap_or_default();
        assert!(frozen != 0, "{title} failed although no process is frozen: {answer}");
        assert!(message.contains(&format!("process {frozen} on host ")), "{title}: {answer}");
        told.send(Said::Refused).unwrap();
    }

    /// The time in which a server was frozen itself does not count.
    fn judge(&mut self, stage: &Stage, limits: &Limits) {
        if stage.frozen.load(Ordering::SeqCst) == self.server.pid() {
            self.under_way.values_mut().for_each(|(at, _)| *at = Instant::now());
        }
        for (at, title) in self.under_way.values() {
            let limit = if title.is_some() { limits.call } else { limits.ping };
            assert!(
                at.elapsed() <= limit,
                "server {}: {title:?} has no answer:\n{}",
                self.place,
                self.server.stderr()
            );
        }
    }
}
