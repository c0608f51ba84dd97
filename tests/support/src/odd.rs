//! A server that does what a test asks of it: it plays a script of raw bytes, and first logs each line that it reads.
//!
//! ```text
//! odd-server [--log FILE] [--pid FILE] [--tools FILE] [--roots FILE] [--rows DATABASE] [--start STEPS]
//! ```
//!
//! A call of the tool `play` carries its script: `arguments.steps` is an array of steps, played one after the other before the next line is
//! read. In texts `${id}` stands for the bytes of the call's id. STEPS, JSON too, are played before the first line is read. Any other tool
//! answers with its arguments. A request of the method `odd/play` carries a script as well, in `params.steps`. [`lists`] says what FILE of
//! `--tools` and of `--roots` holds.
//!
//! With `--rows` it looks, at each call that it reads, whether an open row of it is in DATABASE, and logs `row yes` or `row no`. FILE of
//! `--pid` gets its process id.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Stdin, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

mod lists;

use self::lists::{Answer, Lists};
use crate::engine;

/// A step of a script.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    /// Writes a text.
    Write(String),
    /// Writes bytes.
    Bytes(Vec<u8>),
    /// Writes a text so many times.
    Repeat(String, u64),
    /// Writes a text to stderr.
    Stderr(String),
    /// Reads and logs so many lines, and answers none of them.
    Read(u64),
    /// Waits, in milliseconds.
    Sleep(u64),
    /// Waits until the file is there.
    Await(PathBuf),
    /// Makes a file.
    Touch(PathBuf),
    /// Puts the first file into the place of the second.
    Rename(PathBuf, PathBuf),
    /// Ends with a code.
    Exit(i32),
    /// Ends itself with a signal, by name.
    Die(String),
    /// Closes stdout and goes on.
    CloseOutput(()),
    /// From now on does not end at SIGTERM, nor at the end of its input.
    Stay(()),
    /// Starts a process that ignores SIGTERM, keeps the output open, and writes its id into a file.
    Grandchild(PathBuf),
    /// Answers with the names and values of its environment.
    Environment(()),
}

struct Odd {
    input: BufReader<Stdin>,
    log: Option<File>,
    lists: Lists,
    rows: Option<PathBuf>,
    stays: bool,
}

/// Runs the server until its input ends.
pub fn run(arguments: &[String]) {
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(at + 1).expect("an option has a value").clone())
    };
    if let Some(path) = option("--pid") {
        std::fs::write(path, std::process::id().to_string()).unwrap();
    }
    let log = option("--log").map(|path| OpenOptions::new().create(true).append(true).open(path).unwrap());
    let mut odd = Odd {
        input: BufReader::new(std::io::stdin()),
        log,
        lists: Lists::new(option("--tools").map(PathBuf::from), option("--roots").map(PathBuf::from)),
        rows: option("--rows").map(PathBuf::from),
        stays: false,
    };
    if let Some(steps) = option("--start") {
        odd.play(serde_json::from_str(&steps).expect("steps"), "null");
    }
    while let Some(line) = odd.read() {
        odd.answer(&line);
    }
    if odd.stays {
        // A test that forgets to end it waits no longer than this.
        std::thread::sleep(Duration::from_secs(60));
    }
}

impl Odd {
    fn read(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        self.note(&line);
        Some(line)
    }

    fn note(&mut self, line: &[u8]) {
        if let Some(log) = &mut self.log {
            log.write_all(line).unwrap();
        }
    }

    /// Answers a message, or an array of them with an array.
    fn answer(&mut self, line: &[u8]) {
        let Ok(text) = std::str::from_utf8(line) else { return };
        if let Ok(members) = serde_json::from_str::<Vec<&RawValue>>(text) {
            let answers: Vec<String> = members.iter().filter_map(|member| self.reply(member.get())).collect();
            return say(format!("[{}]\n", answers.join(",")).as_bytes());
        }
        if let Some(reply) = self.reply(text) {
            say(format!("{reply}\n").as_bytes());
        }
    }

    fn reply(&mut self, message: &str) -> Option<String> {
        #[derive(Deserialize)]
        struct Message<'a> {
            #[serde(borrow)]
            id: Option<&'a RawValue>,
            method: Option<String>,
            #[serde(default)]
            params: Value,
        }
        let message: Message<'_> = serde_json::from_str(message).ok()?;
        let (id, params) = (message.id?.get(), message.params);
        let method = message.method?;
        self.lists.meet(&method, &params);
        let result = match method.as_str() {
            "tools/call" => return self.call(id, &params),
            "tools/list" => match self.lists.answer(&params) {
                Answer::Page(page) => {
                    return Some(format!(r#"{{"jsonrpc":"2.0","result":{page},"id":{id}}}"#));
                }
                Answer::Script(steps) => {
                    self.play(steps, id);
                    return None;
                }
            },
            "odd/play" => {
                self.play(serde_json::from_value(params["steps"].clone()).expect("steps"), id);
                return None;
            }
            "ping" => json!({}),
            // The client says itself how its task stands.
            "tasks/get" | "tasks/result" | "tasks/cancel" if params["answer"].is_object() => {
                params["answer"].clone()
            }
            "initialize" => json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "odd", "version": "1" },
                "instructions": self.lists.instructions(),
            }),
            "server/discover" => json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": { "listChanged": true } },
                "instructions": self.lists.instructions(),
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "odd", "version": "1" } },
            }),
            other => {
                let error = json!({ "code": -32601, "message": format!("odd has no {other}") });
                return Some(format!(r#"{{"jsonrpc":"2.0","error":{error},"id":{id}}}"#));
            }
        };
        Some(format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#))
    }

    fn call(&mut self, id: &str, params: &Value) -> Option<String> {
        if let Some(database) = &self.rows {
            let said = if has_row(database, id) { "row yes\n" } else { "row no\n" };
            self.note(said.as_bytes());
        }
        let arguments = &params["arguments"];
        if params["name"] == "play" {
            let steps = serde_json::from_value(arguments["steps"].clone()).expect("steps");
            self.play(steps, id);
            return None;
        }
        let mut result = json!({ "content": [{ "type": "text", "text": arguments.to_string() }] });
        if params["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some() {
            result["resultType"] = "complete".into();
        }
        Some(format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#))
    }

    fn play(&mut self, steps: Vec<Step>, id: &str) {
        for step in steps {
            match step {
                Step::Write(text) => say(text.replace("${id}", id).as_bytes()),
                Step::Bytes(bytes) => say(&bytes),
                Step::Repeat(text, times) => repeat(text.as_bytes(), times),
                Step::Stderr(text) => std::io::stderr().write_all(text.as_bytes()).unwrap(),
                Step::Read(lines) => {
                    for _ in 0..lines {
                        self.read();
                    }
                }
                Step::Sleep(milliseconds) => std::thread::sleep(Duration::from_millis(milliseconds)),
                Step::Await(path) => {
                    while !path.exists() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
                Step::Touch(path) => drop(File::create(path).unwrap()),
                Step::Rename(from, to) => std::fs::rename(from, to).unwrap(),
                Step::Exit(code) => exit(code),
                Step::Die(signal) => {
                    // The runtime's handler of some signals lets the first one pass.
                    for _ in 0..2 {
                        shell(&format!("kill -{signal} {}", std::process::id()));
                        std::thread::sleep(Duration::from_millis(100));
                    }
                }
                Step::CloseOutput(()) => {
                    rustix::stdio::dup2_stdout(File::create("/dev/null").unwrap()).unwrap();
                }
                Step::Stay(()) => {
                    self.stays = true;
                    ignore_terminate();
                }
                Step::Grandchild(path) => {
                    let script = format!("trap '' TERM; echo $$ > {}; sleep 60", path.display());
                    // Its end is what the test is about.
                    std::mem::forget(Command::new("sh").arg("-c").arg(script).spawn().unwrap());
                }
                Step::Environment(()) => {
                    let variables: Value = std::env::vars()
                        .map(|(name, value)| (name, Value::from(value)))
                        .collect::<serde_json::Map<_, _>>()
                        .into();
                    let result = json!({ "content": [], "structuredContent": variables });
                    say(format!("{{\"jsonrpc\":\"2.0\",\"result\":{result},\"id\":{id}}}\n").as_bytes());
                }
            }
        }
    }
}

/// Returns whether an open row of the request is in the database.
fn has_row(database: &Path, id: &str) -> bool {
    let rows =
        "SELECT count(*) FROM actions WHERE request_id = ?1 AND outcome = 'running' AND tool LIKE '%/%'";
    let count: i64 = engine::open(database).query_row(rows, [id], |row| row.get(0)).unwrap();
    count > 0
}

fn say(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    // The other side may have gone, which is what some tests are about.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Writes a text many times, in large pieces.
fn repeat(text: &[u8], times: u64) {
    let whole = ((1 << 16) / text.len().max(1)).max(1);
    let piece = text.repeat(whole);
    for _ in 0..times / whole as u64 {
        say(&piece);
    }
    let rest = usize::try_from(times % whole as u64).unwrap();
    say(&piece[..rest * text.len()]);
}

fn shell(script: &str) {
    Command::new("sh").arg("-c").arg(script).status().unwrap();
}

/// Keeps SIGTERM from ending this process.
fn ignore_terminate() {
    let (ready, installed) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let kind = tokio::signal::unix::SignalKind::terminate();
            let mut signals = tokio::signal::unix::signal(kind).unwrap();
            ready.send(()).unwrap();
            while signals.recv().await.is_some() {}
        });
    });
    installed.recv().unwrap();
}
