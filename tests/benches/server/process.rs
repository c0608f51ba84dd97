//! One server process: its lines in and out, its processor time, its memory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::target::{Setting, Target, Tool};

/// A running server in a folder of its own.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: String,
    next_id: u64,
    folder: Arc<TempDir>,
    /// From the spawn to the first answer, in milliseconds.
    pub start_ms: f64,
}

/// Processor time by thread, in microseconds.
pub struct Cpu {
    threads: BTreeMap<u32, f64>,
}

impl Cpu {
    /// What was spent since an earlier look. A thread that has ended in between takes its time with it.
    pub fn since(&self, earlier: &Self) -> f64 {
        let before = |id| earlier.threads.get(id).copied().unwrap_or(0.0);
        self.threads.iter().map(|(id, spent)| spent - before(id)).sum()
    }
}

/// A folder for one run below `root`.
pub fn fresh_folder(root: &Path) -> Arc<TempDir> {
    fs::create_dir_all(root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    Arc::new(tempfile::Builder::new().prefix("colibri-bench-").tempdir_in(root).expect("a folder"))
}

impl Process {
    /// Starts the target in that folder, and shakes hands.
    pub fn start(target: &Target, setting: Setting, folder: Arc<TempDir>) -> Self {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("exec {}", target.command)).current_dir(folder.path());
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            if shown.starts_with("COLIBRI_") || shown.starts_with("AMS_") || shown.starts_with("PEER_") {
                command.env_remove(&name);
            }
        }
        command.envs(target.variables_in(folder.path(), setting));
        let stderr = fs::File::options().create(true).append(true).open(folder.path().join("stderr.log"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.expect("a log"));
        let began = Instant::now();
        let mut child = command.spawn().expect("sh runs");
        let stdin = child.stdin.take();
        let stdout = BufReader::with_capacity(1 << 16, child.stdout.take().expect("a pipe"));
        let mut process =
            Self { child, stdin, stdout, line: String::new(), next_id: 0, folder, start_ms: 0.0 };
        process.request(
            "initialize",
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}"#,
        );
        process.start_ms = began.elapsed().as_secs_f64() * 1e3;
        process.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        process
    }

    /// What a target needs once before its calls: Colibri a session to bind thoughts to.
    pub fn prepare(&mut self, target: &Target) {
        if target.ours {
            let arguments = r#"{"intent":"measure","session_id":"bench"}"#;
            self.call("audit_session_start", arguments);
        }
    }

    /// One call that succeeds; its result.
    pub fn call(&mut self, tool: &str, arguments: &str) -> Value {
        let result = self.request("tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#));
        let failed = result["isError"] == true || result["structuredContent"]["ok"] == false;
        assert!(!failed, "{tool} with {arguments}: {result}");
        result
    }

    fn request(&mut self, method: &str, params: &str) -> Value {
        let line = self.line_for(method, params);
        let id = self.next_id;
        self.send(&line);
        loop {
            let message: Value = serde_json::from_str(self.receive()).expect("JSON");
            if message["id"] == id {
                let result = message.get("result").cloned();
                return result.unwrap_or_else(|| panic!("{method}: {}", message["error"]));
            }
        }
    }

    /// The line of a call, and the id that it uses up.
    pub fn call_line(&mut self, tool: Tool, arguments: &str) -> String {
        self.named_line(tool.name(), arguments)
    }

    /// The same for a tool that only Colibri has.
    pub fn named_line(&mut self, tool: &str, arguments: &str) -> String {
        self.line_for("tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#))
    }

    fn line_for(&mut self, method: &str, params: &str) -> String {
        self.next_id += 1;
        let id = self.next_id;
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
    }

    /// The id of the next line made.
    pub fn next_id(&self) -> u64 {
        self.next_id + 1
    }

    /// Writes lines in one piece.
    pub fn send(&mut self, lines: &str) {
        let written = self.stdin.as_mut().expect("an open input").write_all(lines.as_bytes());
        written.unwrap_or_else(|error| panic!("{error}; its log:\n{}", self.log()));
    }

    /// The next line.
    pub fn receive(&mut self) -> &str {
        self.line.clear();
        let read = self.stdout.read_line(&mut self.line).expect("UTF-8");
        assert!(read > 0, "the server ended; its log:\n{}", self.log());
        &self.line
    }

    /// Whether a whole answer has been read from the pipe but not been taken yet.
    pub fn has_more(&self) -> bool {
        self.stdout.buffer().contains(&b'\n')
    }

    /// What it has written to stderr.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr.log")).unwrap_or_default()
    }

    /// The folder it runs in.
    pub fn folder(&self) -> Arc<TempDir> {
        self.folder.clone()
    }

    /// The time that each of its threads, and of those of its descendants, has had on a processor.
    pub fn cpu(&self) -> Cpu {
        let of_thread = |thread: fs::DirEntry| {
            let id = thread.file_name().to_string_lossy().parse::<u32>().ok()?;
            let stat = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((id, stat.split(' ').next()?.parse::<f64>().ok()? / 1e3))
        };
        let of_process = |pid: u32| {
            fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().filter_map(of_thread)
        };
        Cpu { threads: self.family().into_iter().flat_map(of_process).collect() }
    }

    /// A line of `/proc/PID/status` in KiB (`VmHWM`, `VmRSS` …), summed over its descendants.
    pub fn memory_kib(&self, key: &str) -> f64 {
        let of_process = |pid: u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        };
        self.family().into_iter().filter_map(of_process).sum()
    }

    fn family(&self) -> Vec<u32> {
        let mut family = vec![self.child.id()];
        let mut next = 0;
        while let Some(&pid) = family.get(next) {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            family.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            next += 1;
        }
        family
    }

    /// Ends its input and waits until it is gone; what it wrote to stderr.
    pub fn stop(mut self) -> String {
        drop(self.stdin.take());
        let began = Instant::now();
        while self.child.try_wait().expect("a child").is_none() {
            assert!(began.elapsed() < Duration::from_secs(20), "it still runs 20 s after its input ended");
            std::thread::sleep(Duration::from_micros(500));
        }
        self.log()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Gone already, unless a measurement failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Refuses a folder whose file system is not what its measurements claim.
pub fn check_folder(folder: &Path, setting: Setting) -> Result<(), String> {
    const TMPFS: u64 = 0x0102_1994;
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let found = rustix::fs::statfs(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let in_memory = u64::try_from(found.f_type).is_ok_and(|kind| kind == TMPFS);
    match (setting, in_memory) {
        (Setting::Memory, false) => {
            Err(format!("{} is not in memory; name a tmpfs by --memory", folder.display()))
        }
        (Setting::Disk, true) => {
            Err(format!("{} is in memory; name a folder on a disk by --disk", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The size of a file of the run, 0 if it is not there.
pub fn size_of(folder: &Path, file: &str) -> u64 {
    fs::metadata(folder.join(PathBuf::from(file))).map_or(0, |metadata| metadata.len())
}
