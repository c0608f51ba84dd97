//! Measures what `colibri wrap` adds to a server, beside what Colibri's own server takes for a call, in one run on one disk.
//!
//!     cargo bench -p colibri-tests --bench wrap -- [CALLS] [--rounds N] [--disk FOLDER] [--server "COMMAND"]
//!
//! The wrapped server is an echo of this file's own, or COMMAND, whose tool `echo` takes a `message` (for instance
//! `npx -y @modelcontextprotocol/server-everything`). Each round does CALLS calls (default 2,000) one at a time and ten times as many with
//! 16 in flight: of the bare server, of the wrapped one, and of `server_ping`. With the echo, replies of 64 MiB and of 200 MB follow.
//! Rounds alternate; the medians count. Exits with 1 when a budget is missed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const COLIBRI: &str = env!("CARGO_BIN_EXE_colibri-under-test");
/// The argument that makes this program the server.
const ECHO: &str = "echo-server";
/// Calls under way at any time.
const WINDOW: usize = 16;
const MIB: usize = 1 << 20;

struct Options {
    calls: usize,
    rounds: usize,
    disk: PathBuf,
    server: Vec<String>,
    /// The server is this file's own.
    own: bool,
}

impl Options {
    fn read() -> Self {
        let own = std::env::current_exe().unwrap().display().to_string();
        let mut options = Self {
            calls: 2_000,
            rounds: 5,
            disk: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
            server: vec![own, ECHO.to_owned()],
            own: true,
        };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("an option has a value");
            match argument.as_str() {
                "--rounds" => options.rounds = value().parse().unwrap(),
                "--disk" => options.disk = PathBuf::from(value()),
                "--server" => {
                    options.server = value().split_whitespace().map(str::to_owned).collect();
                    options.own = false;
                }
                calls => options.calls = calls.replace('_', "").parse().unwrap(),
            }
        }
        options
    }
}

/// What is asked.
#[derive(Clone, Copy)]
enum Asked {
    Bare,
    Wrapped(&'static str),
    Ping(&'static str),
}

/// A server and its client.
struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    tool: &'static str,
    next_id: usize,
    /// From the start to the first answer.
    started: Duration,
    _folder: Arc<TempDir>,
}

impl Peer {
    /// Starts a server in a folder of its own, where it ran before: a database is made once and then used for long.
    fn start(options: &Options, asked: Asked) -> Self {
        std::fs::create_dir_all(&options.disk).unwrap();
        let folder = tempfile::Builder::new().prefix("wrap-bench-").tempdir_in(&options.disk).unwrap();
        let folder = Arc::new(folder);
        if !matches!(asked, Asked::Bare) {
            drop(Self::start_in(options, asked, folder.clone()));
        }
        Self::start_in(options, asked, folder)
    }

    fn start_in(options: &Options, asked: Asked, folder: Arc<TempDir>) -> Self {
        let mut command = match asked {
            Asked::Bare => Command::new(&options.server[0]),
            Asked::Wrapped(_) | Asked::Ping(_) => Command::new(COLIBRI),
        };
        match asked {
            Asked::Bare => command.args(&options.server[1..]),
            Asked::Wrapped(_) => command.args(["wrap", "--name", "echo", "--"]).args(&options.server),
            Asked::Ping(_) => command.arg("serve"),
        };
        if let Asked::Wrapped(durability) | Asked::Ping(durability) = asked {
            command
                .env("COLIBRI_DB_PATH", folder.path().join("colibri.db"))
                .env("COLIBRI_DURABILITY", durability);
        }
        let log = std::fs::File::create(folder.path().join("stderr.log")).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let began = Instant::now();
        let mut child = command.spawn().expect("the server starts");
        let (stdin, stdout) =
            (child.stdin.take(), BufReader::with_capacity(1 << 16, child.stdout.take().unwrap()));
        let tool = if matches!(asked, Asked::Ping(_)) { "server_ping" } else { "echo" };
        let mut peer =
            Self { child, stdin, stdout, tool, next_id: 0, started: Duration::ZERO, _folder: folder };
        let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "0" },
        } });
        peer.send(&format!("{hello}\n"));
        peer.answer();
        peer.started = began.elapsed();
        peer.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        // The database is open and the tools are listed before anything is measured.
        peer.send("{\"jsonrpc\":\"2.0\",\"id\":\"list\",\"method\":\"tools/list\"}\n");
        peer.answer();
        peer.one_by_one(20);
        peer
    }

    fn send(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// Reads on until an answer has come.
    fn answer(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server has ended");
            // A server may print words, too.
            let Ok(answer) = serde_json::from_str::<Value>(&line) else { continue };
            if answer.get("id").is_some() && answer.get("method").is_none() {
                assert!(answer.get("result").is_some(), "{answer}");
                return answer;
            }
        }
    }

    fn call(&mut self, arguments: &str) {
        self.next_id += 1;
        let (id, tool) = (self.next_id, self.tool);
        self.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}\n"
        ));
    }

    fn call_small(&mut self) {
        let arguments = if self.tool == "echo" { r#"{"message":"what is said comes back"}"# } else { "{}" };
        self.call(arguments);
    }

    /// The median of so many calls, in microseconds.
    fn one_by_one(&mut self, calls: usize) -> f64 {
        let laps = (0..calls).map(|_| {
            let began = Instant::now();
            self.call_small();
            let answer = self.answer();
            let lap = began.elapsed().as_secs_f64() * 1e6;
            assert_ne!(answer["result"]["isError"], true, "{answer}");
            lap
        });
        median(laps.collect())
    }

    /// How many calls a second are answered with a window of them under way.
    fn many(&mut self, calls: usize) -> f64 {
        let (began, mut sent) = (Instant::now(), 0);
        for answered in 0..calls {
            while sent < calls && sent - answered < WINDOW {
                self.call_small();
                sent += 1;
            }
            self.answer();
        }
        calls as f64 / began.elapsed().as_secs_f64()
    }

    /// How many bytes a second arrive of replies of that size.
    fn long(&mut self, replies: usize, bytes: usize) -> f64 {
        let began = Instant::now();
        let mut arrived = 0;
        for _ in 0..replies {
            self.call(&format!("{{\"bytes\":{bytes}}}"));
            arrived += self.skip_line();
        }
        assert!(arrived > replies * bytes, "{arrived} bytes");
        arrived as f64 / began.elapsed().as_secs_f64()
    }

    /// Reads a line that is too long to be kept; returns its length.
    fn skip_line(&mut self) -> usize {
        let mut length = 0;
        loop {
            let buffer = self.stdout.fill_buf().unwrap();
            assert!(!buffer.is_empty(), "the server has ended");
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            self.stdout.consume(taken);
            length += taken;
            if end.is_some() {
                return length;
            }
        }
    }

    /// The peak of its memory, in MiB.
    fn peak_mib(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
    }

    /// How often its threads were waked in so many seconds without work.
    fn wakes(&self, seconds: u64) -> u64 {
        // What a call leaves to be done is over by then.
        std::thread::sleep(Duration::from_secs(2));
        let before = switches(self.child.id());
        std::thread::sleep(Duration::from_secs(seconds));
        switches(self.child.id()) - before
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.child.wait().expect("a child");
    }
}

/// How often the threads of a process gave up a processor to wait.
fn switches(pid: u32) -> u64 {
    let of_thread = |status: &Path| {
        let text = std::fs::read_to_string(status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.map_or(0, |line| line.trim().parse().unwrap())
    };
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads.map(|thread| of_thread(&thread.unwrap().path().join("status"))).sum::<u64>()
}

/// One figure of each round.
#[derive(Default)]
struct Figures {
    bare: Vec<f64>,
    wrapped: [Vec<f64>; 2],
    ping: [Vec<f64>; 2],
    bare_many: Vec<f64>,
    wrapped_many: Vec<f64>,
    ping_many: Vec<f64>,
    bare_long: Vec<f64>,
    wrapped_long: Vec<f64>,
    bare_start: Vec<f64>,
    wrapped_start: Vec<f64>,
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == ECHO) {
        echo();
        return ExitCode::SUCCESS;
    }
    let options = Options::read();
    let mut figures = Figures::default();
    for _ in 0..options.rounds {
        round(&options, &mut figures);
    }
    let mut table = Table::default();
    figures.judge(&mut table);
    if options.own {
        let mut peer = Peer::start(&options, Asked::Wrapped("full"));
        peer.many(options.calls);
        let small = peer.peak_mib();
        drop(peer);
        let mut peer = Peer::start(&options, Asked::Wrapped("full"));
        peer.long(3, 200_000_000);
        let large = peer.peak_mib();
        table.note("peak memory with replies of 200 bytes, MiB", small);
        table.at_most("peak memory, MiB", small.max(large), 15.0);
        table.at_most("– with replies of 200 MB above that of 200 bytes, MiB", large - small, 2.0);
        let wakes = peer.wakes(5);
        table.at_most("wake-ups in 5 s without work", wakes as f64, 0.0);
    }
    table.code
}

fn round(options: &Options, figures: &mut Figures) {
    let mut peer = Peer::start(options, Asked::Bare);
    figures.bare_start.push(peer.started.as_secs_f64() * 1e3);
    figures.bare.push(peer.one_by_one(options.calls));
    figures.bare_many.push(peer.many(options.calls * 10));
    if options.own {
        figures.bare_long.push(peer.long(4, 64 * MIB));
    }
    drop(peer);
    for (place, durability) in ["normal", "full"].into_iter().enumerate() {
        let mut peer = Peer::start(options, Asked::Wrapped(durability));
        figures.wrapped[place].push(peer.one_by_one(options.calls));
        if durability == "full" {
            figures.wrapped_start.push(peer.started.as_secs_f64() * 1e3);
            figures.wrapped_many.push(peer.many(options.calls * 10));
            if options.own {
                figures.wrapped_long.push(peer.long(4, 64 * MIB));
            }
        }
        drop(peer);
        let mut peer = Peer::start(options, Asked::Ping(durability));
        figures.ping[place].push(peer.one_by_one(options.calls));
        if durability == "full" {
            figures.ping_many.push(peer.many(options.calls * 10));
        }
    }
}

impl Figures {
    fn judge(self, table: &mut Table) {
        let bare = median(self.bare);
        let [normal, full] = self.wrapped.map(|laps| median(laps) - bare);
        let [ping_normal, ping_full] = self.ping.map(median);
        let sync = ping_full - ping_normal;
        table.note("bare call, µs", bare);
        table.note("server_ping with durability normal, µs", ping_normal);
        table.note("server_ping with full, µs", ping_full);
        table.at_most("wrap adds to a call with normal, µs", normal, 1.5 * ping_normal);
        table.at_most("wrap adds to a call with full, µs", full, 1.5 * ping_full + sync);
        let (bare_many, ping_many) = (median(self.bare_many), median(self.ping_many));
        table.note("bare with 16 in flight, calls/s", bare_many);
        table.note("server_ping with 16 in flight, full, calls/s", ping_many);
        let least = (0.5 * bare_many).min(0.45 * ping_many);
        table.at_least("wrapped with 16 in flight, full, calls/s", median(self.wrapped_many), least);
        if !self.bare_long.is_empty() {
            let (bare, wrapped) = (median(self.bare_long) / 1e6, median(self.wrapped_long) / 1e6);
            table.note("bare, replies of 64 MiB, MB/s", bare);
            table.at_least("wrapped, replies of 64 MiB, MB/s", wrapped, 0.5 * bare);
        }
        let later = median(self.wrapped_start) - median(self.bare_start);
        table.at_most("first answer later than bare, ms", later, 10.0);
    }
}

/// The lines that are printed, and whether a budget was missed.
struct Table {
    code: ExitCode,
}

impl Default for Table {
    fn default() -> Self {
        println!("| what | measured | budget |");
        println!("| --- | ---: | ---: |");
        Self { code: ExitCode::SUCCESS }
    }
}

impl Table {
    fn note(&mut self, what: &str, value: f64) {
        println!("| {what} | {value:.1} | |");
    }

    fn at_most(&mut self, what: &str, value: f64, most: f64) {
        self.judge(what, value, format!("≤ {most:.1}"), value <= most);
    }

    fn at_least(&mut self, what: &str, value: f64, least: f64) {
        self.judge(what, value, format!("≥ {least:.1}"), value >= least);
    }

    fn judge(&mut self, what: &str, value: f64, budget: String, met: bool) {
        let mark = if met { "" } else { " missed" };
        println!("| {what} | {value:.1} | {budget}{mark} |");
        if !met {
            self.code = ExitCode::FAILURE;
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Answers until its input ends; a call that asks for `bytes` gets as many.
fn echo() {
    let mut stdout = std::io::stdout().lock();
    let filling = vec![b'a'; 1 << 16];
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = message.get("id") else { continue };
        let tool = json!({ "name": "echo", "inputSchema": { "type": "object" } });
        let arguments = &message["params"]["arguments"];
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "echo", "version": "0" },
            }),
            "tools/list" => json!({ "tools": [tool] }),
            _ => match arguments["bytes"].as_u64() {
                None => json!({ "content": [{ "type": "text", "text": arguments["message"] }] }),
                Some(bytes) => {
                    write!(
                        stdout,
                        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#
                    )
                    .unwrap();
                    let mut left = bytes as usize;
                    while left > 0 {
                        let part = left.min(filling.len());
                        stdout.write_all(&filling[..part]).unwrap();
                        left -= part;
                    }
                    stdout.write_all(b"\"}]}}\n").unwrap();
                    continue;
                }
            },
        };
        writeln!(stdout, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result })).unwrap();
    }
}
