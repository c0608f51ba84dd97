//! A database whose files are replaced, renamed, removed or cut under one to four servers at work. What they acknowledge
//! afterwards is in the file that has the database's name, or they acknowledge nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rusqlite::Connection;
use serde_json::json;
use tempfile::{NamedTempFile, TempDir};

use super::campaign::{Tally, campaign};
use super::check::Finding;
use super::load::{database, plant};
use super::replies::{self, Fate};
use super::server::launch;
use crate::crash::dice::Dice;

/// What is done to a file.
#[derive(Debug, Clone, Copy)]
enum Act {
    Replace,
    Rename,
    Remove,
    Empty,
    Cut,
}

const ACTS: [Act; 5] = [Act::Replace, Act::Rename, Act::Remove, Act::Empty, Act::Cut];
const FILES: [&str; 3] = ["", "-wal", "-shm"];
/// So many calls a client sends after the act, if the server lets it.
const AFTERWARDS: usize = 12;

impl Act {
    fn commit(self, dice: &mut Dice, file: &Path) {
        let beside = |end: &str| PathBuf::from(format!("{}.{end}", file.display()));
        match self {
            Self::Replace => {
                std::fs::copy(file, beside("other")).unwrap();
                std::fs::rename(beside("other"), file).unwrap();
            }
            Self::Rename => std::fs::rename(file, beside("away")).unwrap(),
            Self::Remove => std::fs::remove_file(file).unwrap(),
            Self::Empty | Self::Cut => {
                let open = std::fs::OpenOptions::new().write(true).open(file).unwrap();
                let length = open.metadata().unwrap().len();
                let keep = if matches!(self, Self::Empty) { 0 } else { dice.below(length.max(1)) };
                open.set_len(keep).unwrap();
            }
        }
    }
}

/// One call, as its client knows it.
#[derive(Debug)]
struct Sent {
    title: String,
    at: Instant,
    fate: Fate,
}

/// What a client tells the run: replies so far, and from when on it counts as afterwards.
#[derive(Default)]
struct Stage {
    replies: AtomicUsize,
    acted: AtomicBool,
}

/// How a server and its client ended.
struct Ended {
    calls: Vec<Sent>,
    code: Option<i32>,
    stderr: String,
}

/// Sends bursts of calls and waits for their answers, until enough were sent afterwards or the server is gone.
fn talk(folder: &Arc<TempDir>, durability: &str, tag: &str, burst: usize, stage: &Stage) -> Ended {
    let mut command = launch(folder, None).env("COLIBRI_DURABILITY", durability).command();
    let log = NamedTempFile::new().expect("a file for the log");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.reopen().expect("the log opens"));
    let mut child = command.spawn().expect("the server starts");
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let (mut calls, mut afterwards): (Vec<Sent>, usize) = (Vec::new(), 0);
    let mut line = Vec::new();
    'talk: while afterwards < AFTERWARDS {
        let acted = stage.acted.load(Ordering::SeqCst);
        let first = calls.len();
        let mut piece = String::new();
        for id in first..first + burst {
            let title = format!("{tag}-{id}");
            let params = json!({ "name": "task_create", "arguments": { "title": title, "description": "x".repeat(id % 700) } });
            piece += &format!(
                "{}\n",
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
            );
            calls.push(Sent { title, at: Instant::now(), fate: Fate::Open });
        }
        afterwards += if acted { burst } else { 0 };
        if stdin.write_all(piece.as_bytes()).is_err() {
            break;
        }
        for _ in 0..burst {
            line.clear();
            if stdout.read_until(b'\n', &mut line).map_or(0, |length| length) == 0 || !line.ends_with(b"\n") {
                break 'talk;
            }
            let (id, fate) = replies::read(&line);
            calls[id].fate = fate;
            stage.replies.fetch_add(1, Ordering::SeqCst);
        }
    }
    drop(stdin);
    let code = child.wait().expect("the server ends").code();
    Ended { calls, code, stderr: std::fs::read_to_string(log.path()).unwrap_or_default() }
}

/// The titles in the file that has the database's name; none where it cannot be read.
fn titles(folder: &Path) -> Vec<String> {
    let file = database(folder);
    if !file.exists() {
        return Vec::new();
    }
    let read = || {
        let conn = Connection::open(&file)?;
        let mut statement = conn.prepare("SELECT title FROM tasks")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect::<rusqlite::Result<Vec<String>>>()
    };
    read().unwrap_or_default()
}

fn run(seed: u64) -> Result<Tally, Finding> {
    let mut dice = Dice::of_run(seed);
    let folder = Arc::new(TempDir::new().unwrap());
    if dice.below(3) > 0 {
        plant(&folder);
    }
    let durability = *dice.pick(&["full", "normal"]);
    let (act, suffix) = (*dice.pick(&ACTS), *dice.pick(&FILES));
    let servers = 1 + dice.place(4);
    let bursts: Vec<usize> = (0..servers).map(|_| *dice.pick(&[1, 1, 4, 16])).collect();
    let stages: Vec<Stage> = (0..servers).map(|_| Stage::default()).collect();
    let what = format!("{act:?} of colibri.db{suffix} under {servers} servers, {durability}");
    let (ended, acted) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..servers)
            .map(|number| {
                let (folder, stage, burst) = (&folder, &stages[number], bursts[number]);
                scope.spawn(move || talk(folder, durability, &format!("server-{number}"), burst, stage))
            })
            .collect();
        while stages.iter().any(|stage| stage.replies.load(Ordering::SeqCst) == 0) {
            assert!(!threads.iter().any(|thread| thread.is_finished()), "a server does not serve");
            std::thread::yield_now();
        }
        std::thread::sleep(dice.microseconds(20_000));
        let file = PathBuf::from(format!("{}{suffix}", database(folder.path()).display()));
        act.commit(&mut dice, &file);
        let acted = Instant::now();
        stages.iter().for_each(|stage| stage.acted.store(true, Ordering::SeqCst));
        let ended: Vec<Ended> =
            threads.into_iter().map(|thread| thread.join().expect("the client")).collect();
        (ended, acted)
    });
    // A file with a part cut off is damaged; calls that cannot read it fail, and the server goes on.
    let damaged = matches!(act, Act::Empty | Act::Cut);
    judge(&ended, acted, damaged, folder.path()).map_err(|why| Finding::Lost(format!("{what}: {why}")))
}

/// Each call that was sent after the act and acknowledged is in the file. A server that did not acknowledge has ended with 1,
/// or by the signal that reading beyond a file's end raises.
fn judge(ended: &[Ended], acted: Instant, damaged: bool, folder: &Path) -> Result<Tally, String> {
    let stored = titles(folder);
    let (mut found, mut refused) = (0, 0);
    for Ended { calls, code, stderr } in ended {
        for call in calls.iter().filter(|call| call.at > acted) {
            match &call.fate {
                Fate::Done if stored.contains(&call.title) => found += 1,
                Fate::Done => return Err(format!("acknowledged and lost: {}\n{stderr}", call.title)),
                _ => refused += 1,
            }
        }
        if stderr.contains("panicked") {
            return Err(stderr.clone());
        }
        if refused > 0 && !damaged && !matches!(code, Some(1) | None) {
            return Err(format!("a server that refuses calls ended with {code:?}: {stderr}"));
        }
    }
    Ok(Tally { done: 1, met: u64::from(refused > 0), found })
}

#[test]
fn finding_a1_nothing_is_acknowledged_into_a_file_that_has_lost_its_name() {
    let sum = campaign("layer::displaced::finding_a1", 12, run);
    assert!(2 * sum.met > sum.done, "most acts came too late: {sum:?}");
}

/// The control: SQLite alone, which commits into the file it has open, even a displaced one. Its acknowledgements are
/// lost, so the test above would notice.
#[test]
fn finding_a1_without_the_check_acknowledged_calls_are_lost() {
    let mut lost = 0;
    for (number, act) in ACTS.iter().enumerate() {
        for suffix in ["", "-wal"] {
            let folder = TempDir::new().unwrap();
            plant(&folder);
            let file = database(folder.path());
            let conn = Connection::open(&file).unwrap();
            conn.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE calls (title TEXT)").unwrap();
            let insert = |title: &str| conn.execute("INSERT INTO calls VALUES (?1)", [title]).is_ok();
            for before in 0..40 {
                insert(&format!("before-{before}"));
            }
            act.commit(&mut Dice::of_run(number as u64), Path::new(&format!("{}{suffix}", file.display())));
            let acknowledged = (0..AFTERWARDS).filter(|after| insert(&format!("after-{after}"))).count();
            // Nothing is copied on closing: the process dies.
            std::mem::forget(conn);
            let kept = TempDir::new().unwrap();
            for name in ["colibri.db", "colibri.db-wal"] {
                let _ = std::fs::copy(folder.path().join(name), kept.path().join(name));
            }
            let stored = Connection::open(database(kept.path())).and_then(|conn| {
                conn.query_row("SELECT count(*) FROM calls WHERE title LIKE 'after-%'", [], |row| {
                    row.get::<_, i64>(0)
                })
            });
            lost += acknowledged.saturating_sub(usize::try_from(stored.unwrap_or(0)).unwrap());
        }
    }
    assert!(lost > 0, "the acts lose nothing by themselves");
}
