//! A database of the real server in a folder of its own, and the real binary on it, within bounds of time and memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use colibri_test_support::client::Launch;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");
/// A verdict takes no longer: time of the processor, so that other work on the machine does not count.
const VERDICT_WITHIN: Duration = Duration::from_secs(10);
/// What has not ended by then waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(120);
/// A verdict takes no more memory.
const MOST_KIB: u64 = 100 * 1024;

/// A copy of the database.
pub struct Place {
    folder: TempDir,
    pub database: PathBuf,
}

/// How a command ended.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
    /// Time of the processor.
    pub took: Duration,
    /// The largest resident set that was seen.
    pub peak_kib: u64,
}

impl Run {
    /// Standard output and standard error.
    pub fn text(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// `check CODE subject` of each kind of finding.
    pub fn findings(&self) -> Vec<String> {
        let document: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.text()));
        let word = |found: &Value, member: &str| found[member].as_str().unwrap().to_owned();
        let kinds = document["findings"].as_array().unwrap().iter();
        kinds
            .map(|found| {
                format!("{} {} {}", word(found, "check"), word(found, "code"), word(found, "subject"))
            })
            .collect()
    }

    /// Why the run was out of bounds, if it was.
    pub fn out_of_bounds(&self) -> Option<String> {
        let slow = self.took > VERDICT_WITHIN;
        let large = self.peak_kib > MOST_KIB;
        (slow || large).then(|| format!("took {:?} and {} KiB", self.took, self.peak_kib))
    }
}

impl Place {
    /// A fresh copy of a database with something of everything that verification reads.
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("colibri.db");
        std::fs::copy(original(), &database).unwrap();
        Self { folder, database }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Another program's connection, with the guards of SQLite switched off.
    pub fn foreign(&self) -> Connection {
        let conn = Connection::open(&self.database).unwrap();
        conn.execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON",
        )
        .unwrap();
        conn
    }

    pub fn sql(&self, sql: &str) {
        self.foreign().execute_batch(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    }

    /// Runs a command on the database. What would go on for ever is ended and shows in `took`.
    pub fn run(&self, arguments: &[&str]) -> Run {
        // RLIMIT_DATA covers what a process allocates, and not the program's own pages or reserved address space: it
        // catches the peak that the polling below may miss, and lets an honest run alone.
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -d {MOST_KIB}; exec \"$0\" \"$@\""), PROGRAM]);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLIBRI_"))
        {
            command.env_remove(name);
        }
        command.args(arguments).current_dir(self.folder()).env("COLIBRI_DB_PATH", &self.database);
        let (out, err) = (self.path("out.txt"), self.path("err.txt"));
        let file = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
        let began = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err)).spawn().unwrap();
        let (mut peak_kib, mut took) = (0, Duration::ZERO);
        let status = loop {
            peak_kib = peak_kib.max(resident_kib(child.id()));
            took = took.max(processor_time(child.id()));
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if took > VERDICT_WITHIN || began.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let read = |path: &Path| String::from_utf8(std::fs::read(path).unwrap()).unwrap();
        Run {
            code: status.and_then(|status| status.code()).unwrap_or(-1),
            out: read(&out),
            err: read(&err),
            took,
            peak_kib,
        }
    }
}

/// What a process has used of the processor; zero where the system does not tell. Linux counts hundredths of a second.
fn processor_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The program's name, in brackets, may hold spaces; the two times are the 12th and 13th field behind it.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let fields = behind.split_ascii_whitespace().skip(11).take(2);
    Duration::from_millis(fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// The high-water mark of a process; 0 where the system does not tell.
///
/// `spawn` may return just before the program takes the place of the copy of this process. The copy has the name of this
/// thread, and its memory is the test's: it does not count.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let own = std::fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
    if status.starts_with(&format!("Name:\t{own}")) {
        return 0;
    }
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// The database that all places copy. Made once a process.
fn original() -> &'static Path {
    static ORIGINAL: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = ORIGINAL.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let mut server = Launch::new(PROGRAM).start();
        server.data("task_create", json!({ "title": "honest work" }));
        let session = server.data("audit_session_start", json!({ "intent": "honest" }))["session_id"].clone();
        for number in 0..4 {
            server.data(
                "thought_record",
                json!({
                    "type": "plan", "task_id": "T-1", "agent_id": "agent-7", "content": format!("thought {number}"),
                    "session_id": session,
                }),
            );
        }
        server.data("merkle_finalize", json!({ "session_id": session }));
        let (shared, database) = (server.shared_folder(), server.database());
        assert_eq!(server.finish().code(), 0);
        let path = folder.path().join("original.db");
        Connection::open(&database).unwrap().execute("VACUUM INTO ?1", [path.to_str().unwrap()]).unwrap();
        drop(shared);
        (folder, path)
    });
    path
}
