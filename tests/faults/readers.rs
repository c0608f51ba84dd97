//! Readers that may not write to the folder of the database, next to an owner that starts and stops servers (store#read-only): another
//! user, and a read-only mount as an auditor's container has it. No command and no READONLY server raises a false alarm, misses a
//! call that was acknowledged before it began, or writes to the medium.
//!
//! `COLIBRI_READER_ROUNDS` says how many rounds, `COLIBRI_READER_SEED` which numbers drive the owner. A round runs each command once in
//! each place, and asks a READONLY server there. The tests need root: they become another user and mount.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::dice::Dice;
use colibri_test_support::engine;
use colibri_test_support::other_user::{as_nobody, is_root};
use serde_json::{Value, json};
use tempfile::TempDir;

const ROUNDS: u64 = 4;
const SESSION: &str = "S-1";
/// Rounds with servers that live from round to round, and then as many without.
const SPAN: u64 = 2;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Who reads, and through which folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reader {
    OtherUser,
    Mount,
}

const READERS: [Reader; 2] = [Reader::OtherUser, Reader::Mount];

/// Gives the command that follows a read-only view of one folder under another path, as `docker run -v A:B:ro` does.
const MOUNTED: &str = r#"mount --bind "$0" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@""#;

/// The folders of a run: the owner's, its read-only view, one for what commands write, and one for temporary files.
struct Site {
    folder: Arc<TempDir>,
    /// The task that thoughts are about.
    task: Value,
}

impl Site {
    fn new() -> Self {
        let folder = Arc::new(TempDir::new().unwrap());
        let mut site = Self { folder, task: Value::Null };
        let open = |path: &Path, mode: u32| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        open(site.folder.path(), 0o755);
        for (name, mode) in [("owner", 0o755), ("view", 0o755), ("out", 0o777), ("tmp", 0o777)] {
            std::fs::create_dir(site.path(name)).unwrap();
            open(&site.path(name), mode);
        }
        let mut server = site.owner();
        server.data("audit_session_start", json!({ "intent": "work", "session_id": SESSION }));
        site.task = server.data("task_create", json!({ "title": "the first" }))["id"].clone();
        assert_eq!(server.finish().code(), 0);
        open(&site.database(), 0o644);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn database(&self) -> PathBuf {
        self.path("owner/colibri.db")
    }

    fn launch(&self, database: &Path) -> Launch {
        Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
            .in_folder(self.folder.clone())
            .env("COLIBRI_DB_PATH", database)
            .env("COLIBRI_DURABILITY", "normal")
            .env("COLIBRI_LOG_LEVEL", "error")
            .env("TMPDIR", self.path("tmp"))
            .env("HOME", self.path("tmp"))
    }

    fn owner(&self) -> Server {
        self.launch(&self.database()).start()
    }

    /// The same command where it may not write to the database's folder.
    fn kept_out(&self, reader: Reader, launch: impl FnOnce(Launch) -> Launch) -> Command {
        match reader {
            Reader::OtherUser => as_nobody(&launch(self.launch(&self.database())).command()),
            Reader::Mount => {
                let view = self.path("view");
                let inner = launch(self.launch(&view.join("colibri.db"))).command();
                let mut command = Command::new("unshare");
                command.args(["--mount", "sh", "-c", MOUNTED]).args([&self.path("owner"), &view]);
                command.arg(inner.get_program()).args(inner.get_args()).current_dir(self.folder.path());
                command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
                command
            }
        }
    }

    fn run(&self, reader: Reader, arguments: &[&str]) -> Output {
        let add = |launch| arguments.iter().fold(launch, |launch: Launch, argument| launch.arg(argument));
        self.kept_out(reader, add).output().unwrap()
    }

    fn names(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// What the owner's servers have acknowledged.
#[derive(Default)]
struct Acknowledged {
    calls: AtomicU64,
    tasks: AtomicU64,
    thoughts: AtomicU64,
    stop: AtomicBool,
}

#[derive(Debug, Clone, Copy)]
struct Counts {
    calls: u64,
    tasks: u64,
    thoughts: u64,
}

impl Acknowledged {
    fn now(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::SeqCst);
        Counts { calls: read(&self.calls), tasks: read(&self.tasks), thoughts: read(&self.thoughts) }
    }

    /// Starts and stops servers: some for a call, some for a while, with pauses between them or none.
    fn work(&self, site: &Site, dice: &Dice) {
        while !self.stop.load(Ordering::SeqCst) {
            let mut server = site.owner();
            let calls = if dice.one_in(4) { dice.below(60) } else { dice.below(4) };
            for _ in 0..calls {
                let text = "x".repeat(usize::try_from(1 + dice.below(6_000)).unwrap());
                if dice.one_in(2) {
                    server.data("task_create", json!({ "title": "another", "description": text }));
                    self.tasks.fetch_add(1, Ordering::SeqCst);
                } else {
                    let thought = json!({
                        "type": "plan", "task_id": site.task, "agent_id": "a", "content": text, "session_id": SESSION
                    });
                    server.data("thought_record", thought);
                    self.thoughts.fetch_add(1, Ordering::SeqCst);
                }
                self.calls.fetch_add(1, Ordering::SeqCst);
            }
            if dice.one_in(5) {
                server.kill();
            } else {
                assert_eq!(server.finish().code(), 0);
            }
            std::thread::sleep(Duration::from_millis(*dice.pick(&[0, 0, 20, 60, 120, 300])));
        }
    }
}

/// A command, and what its result must hold at least.
type Case = (&'static str, fn(&Site, Reader, Counts) -> Result<(), String>);

const CASES: [Case; 4] = [("verify", verify), ("overview", overview), ("backup", backup), ("export", export)];

fn checked(output: &Output) -> Result<Value, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.code() != Some(0) {
        return Err(format!("{}: {}{}", output.status, text(&output.stdout), text(&output.stderr)));
    }
    Ok(serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

fn at_least(found: u64, least: u64, what: &str) -> Result<(), String> {
    if found >= least { Ok(()) } else { Err(format!("{found} {what}, where {least} were acknowledged")) }
}

fn verify(site: &Site, reader: Reader, before: Counts) -> Result<(), String> {
    let found = checked(&site.run(reader, &["verify", "--json"]))?;
    at_least(found["log"]["last_exit_no"].as_u64().unwrap_or(0), before.calls, "calls")
}

fn overview(site: &Site, reader: Reader, before: Counts) -> Result<(), String> {
    let page = site.path(&format!("out/{reader:?}.html"));
    let _ = std::fs::remove_file(&page);
    let found = checked(&site.run(reader, &["overview", "--json", "--html", page.to_str().unwrap()]))?;
    at_least(found["open_tasks"].as_u64().unwrap_or(0), before.tasks, "tasks")
}

fn backup(site: &Site, reader: Reader, before: Counts) -> Result<(), String> {
    let copy = site.path(&format!("out/{reader:?}.db"));
    let _ = std::fs::remove_file(&copy);
    checked(&site.run(reader, &["backup", copy.to_str().unwrap()]))?;
    let count = |table: &str| -> u64 {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = engine::open(&copy).query_row(&sql, [], |row| row.get(0)).unwrap();
        count.unsigned_abs()
    };
    at_least(count("tasks"), before.tasks, "tasks")?;
    at_least(count("thought_records"), before.thoughts, "thoughts")
}

fn export(site: &Site, reader: Reader, before: Counts) -> Result<(), String> {
    let file = site.path(&format!("out/{reader:?}.jsonl"));
    let _ = std::fs::remove_file(&file);
    checked(&site.run(reader, &["export", SESSION, "--out", file.to_str().unwrap()]))?;
    // 3: the session is open, so that no seal confirms it.
    let judged = site.run(reader, &["verify-export", file.to_str().unwrap()]);
    if judged.status.code() != Some(3) {
        return Err(format!("verify-export: {}", String::from_utf8_lossy(&judged.stdout)));
    }
    let records = std::fs::read_to_string(&file)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("{\"record\""))
        .count();
    at_least(records as u64, before.thoughts, "records")
}

/// Asks a READONLY server, by a call of the store and by one that reads next to the loop.
fn ask(server: &mut Server, acknowledged: &Acknowledged) -> Result<(), String> {
    let before = acknowledged.now();
    let listed = server.call("task_list", json!({ "limit": 1 }));
    if listed["ok"] != true {
        return Err(listed.to_string());
    }
    at_least(listed["data"]["total_count"].as_u64().unwrap_or(0), before.tasks, "tasks")?;
    let verified = server.call("audit_verify_chain", json!({}));
    if verified["ok"] == true && verified["data"]["valid"] == true {
        Ok(())
    } else {
        Err(verified.to_string())
    }
}

fn readonly(site: &Site, reader: Reader) -> Server {
    let mut command = site.kept_out(reader, |launch| launch.env("COLIBRI_MODE", "READONLY"));
    command.stdin(Stdio::piped());
    Server::spawn(command, site.folder.clone())
}

/// Runs the rounds next to the owner; returns how many runs there were of each, and what was wrong. A READONLY server that lives keeps
/// the log in its place for all. So there are spans of rounds with servers that live, and spans with one for each question.
fn rounds(site: &Site, rounds: u64, seed: u64) -> (BTreeMap<(Reader, &'static str), u64>, Vec<String>) {
    let dice = Dice::new(seed);
    let acknowledged = Acknowledged::default();
    acknowledged.calls.store(2, Ordering::SeqCst);
    acknowledged.tasks.store(1, Ordering::SeqCst);
    // They start while no server of the owner runs.
    let mut servers = READERS.map(|reader| Some(readonly(site, reader)));
    let (mut runs, mut wrong) = (BTreeMap::new(), Vec::new());
    for server in servers.iter_mut().flatten() {
        ask(server, &acknowledged).unwrap();
    }
    std::thread::scope(|scope| {
        let (owner, acknowledged) = (dice.stream(1), &acknowledged);
        let owner = scope.spawn(move || acknowledged.work(site, &owner));
        for round in 0..rounds {
            for (server, reader) in servers.iter_mut().zip(READERS) {
                let mut note = |name: &'static str, result: Result<(), String>| {
                    *runs.entry((reader, name)).or_insert(0) += 1;
                    if let Err(text) = result {
                        wrong.push(format!("round {round}, {reader:?}, {name}: {text}"));
                    }
                };
                for (name, case) in CASES {
                    note(name, case(site, reader, acknowledged.now()));
                    if let Some(server) = server {
                        note("READONLY server", ask(server, acknowledged));
                    }
                }
                let mut fresh = readonly(site, reader);
                note("READONLY server", ask(&mut fresh, acknowledged));
                let kept = (round / SPAN).is_multiple_of(2).then_some(fresh);
                if let Some(before) = std::mem::replace(server, kept) {
                    let ended = before.finish();
                    assert_eq!(ended.code(), 0, "{}", ended.stderr);
                }
            }
            if owner.is_finished() {
                break;
            }
        }
        acknowledged.stop.store(true, Ordering::SeqCst);
        owner.join().unwrap();
    });
    for server in servers.into_iter().flatten() {
        assert_eq!(server.finish().code(), 0);
    }
    (runs, wrong)
}

#[test]
fn readers_that_may_not_write_see_each_acknowledged_call_and_raise_no_alarm() {
    let asked = number("COLIBRI_READER_ROUNDS");
    if !is_root() {
        let text = "this test needs root, to become another user and to mount a folder read-only";
        assert!(asked.is_none(), "{text}");
        println!("NOT RUN: {text}");
        return;
    }
    let seed = number("COLIBRI_READER_SEED").unwrap_or(0x5EAD_0001);
    let site = Site::new();
    let (runs, wrong) = rounds(&site, asked.unwrap_or(ROUNDS), seed);
    println!("seed {seed}: {runs:?}");
    assert!(wrong.is_empty(), "seed {seed}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
    // The owner's servers leave nothing when the last reader is gone. The next reader removes the copies of killed ones.
    assert_eq!(site.owner().finish().code(), 0);
    for reader in READERS {
        checked(&site.run(reader, &["verify"])).unwrap();
    }
    assert_eq!(site.names("owner"), ["colibri.db", "colibri.db.queue"]);
    assert_eq!(site.names("tmp").into_iter().filter(|name| name.starts_with("colibri-")).count(), 0);
    assert_eq!(
        checked(&site.launch(&site.database()).arg("verify").command().output().unwrap()),
        Ok(Value::Null)
    );
}
