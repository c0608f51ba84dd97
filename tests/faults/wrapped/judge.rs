//! What must hold once relays, servers or both were killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use colibri_test_support::client::Launch;
use colibri_test_support::engine;
use serde_json::json;
use tempfile::TempDir;

use super::kills::Victim;
use super::load::{self, Answer, Kind};
use super::peer::{COLIBRI, Setup, holds_within, lives, read_pid};
use crate::crash::layer::check::{self, sound};

/// How long a group may take to end once its relay has ended.
const GONE: Duration = Duration::from_secs(2);

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub what: What,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The server has read a call that has no row.
    NoRow,
    /// The client has read a reply whose row is not closed, or is closed with another hash.
    NoReply,
    /// The client has read other bytes than the server wrote.
    OtherBytes,
    /// The client has read an answer that is to none of its requests, or one too many.
    Invented,
    /// Nothing came of a reply that was written in part.
    Held,
    /// A process of the server's lives on.
    Left,
    /// `verify` or the next start finds fault with the database.
    Unsound,
    /// An acknowledged task is missing.
    Lost,
    /// A relay that was not killed has not done its work.
    Failed,
}

impl Finding {
    pub fn new(what: What, text: impl Into<String>) -> Self {
        Self { what, text: text.into() }
    }
}

impl From<check::Finding> for Finding {
    fn from(finding: check::Finding) -> Self {
        Self::new(What::Unsound, format!("{finding:?}"))
    }
}

/// How a conversation went.
pub struct Told {
    pub setup: Setup,
    pub victim: Victim,
    /// Calls that the client has written.
    pub sent: u64,
    /// The relay's process.
    pub process: u32,
    /// Whole lines that it has read, without the greeting.
    pub lines: Vec<Vec<u8>>,
    pub status: ExitStatus,
}

/// The rows of a relay's calls by their ids: outcome and hash.
pub type Rows = BTreeMap<u64, (String, Option<String>)>;

/// Checks everything, starts a server on the file as the next start, and checks it again. Returns how many replies have their rows.
pub fn judge(folder: &Arc<TempDir>, told: &[Told], tasks: &[String]) -> Result<usize, Finding> {
    told.iter().try_for_each(is_gone)?;
    let answered = told.iter().any(|told| !told.lines.is_empty()) || !tasks.is_empty();
    if answered {
        // The file as it is, before another process has recovered it.
        sound(folder.path())?;
        read_rows(folder.path(), told)?;
    }
    let mut server = Launch::new(COLIBRI).in_folder(folder.clone()).start();
    server.data("task_list", json!({ "limit": 1 }));
    let ended = server.finish();
    if ended.code() != 0 {
        return Err(Finding::new(What::Unsound, format!("the next start: {}", ended.stderr)));
    }
    sound(folder.path())?;
    let replies = read_rows(folder.path(), told)?;
    let open = engine::open(folder.path().join("colibri.db"))
        .query_row("SELECT count(*) FROM actions WHERE outcome = 'running'", [], |row| row.get::<_, i64>(0))
        .unwrap();
    if open > 0 {
        return Err(Finding::new(What::Unsound, format!("{open} rows are open after the next start")));
    }
    is_stored(folder.path(), tasks)?;
    Ok(replies)
}

fn is_gone(told: &Told) -> Result<(), Finding> {
    for kind in ["pid", "grandchild"] {
        if let Some(pid) = read_pid(&told.setup.beside(kind))
            && !holds_within(GONE, || !lives(pid))
        {
            let text = format!("the {kind} {pid} of {} lives after {:?}", told.setup.name, told.victim);
            return Err(Finding::new(What::Left, text));
        }
    }
    Ok(())
}

fn is_stored(folder: &Path, tasks: &[String]) -> Result<(), Finding> {
    let conn = engine::open(folder.join("colibri.db"));
    let mut statement = conn.prepare("SELECT id FROM tasks").unwrap();
    let stored: BTreeSet<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    match tasks.iter().find(|task| !stored.contains(*task)) {
        Some(task) => Err(Finding::new(What::Lost, format!("task {task}"))),
        None => Ok(()),
    }
}

/// Holds what each client and each server have read against the rows.
fn read_rows(folder: &Path, told: &[Told]) -> Result<usize, Finding> {
    let mut replies = 0;
    for told in told {
        let rows = rows_of(folder, &told.setup.name);
        let about =
            |id: u64| format!("call {id} of {}, {:?}: {:?}", told.setup.name, told.victim, rows.get(&id));
        let log = std::fs::read(told.setup.log()).unwrap_or_default();
        if let Some(id) = load::calls(&log).into_iter().find(|id| !rows.contains_key(id)) {
            return Err(Finding::new(What::NoRow, about(id)));
        }
        let heard = heard(told)?;
        for (id, answer) in &heard {
            // With `refuse`, a call waits for the list of tools. If the server ends first, no server saw it, and it has no row.
            let unseen = answer.is_error && told.setup.pin == "refuse" && !rows.contains_key(id);
            if !unseen && !is_closed(&rows, *id, &answer.hash) {
                return Err(Finding::new(What::NoReply, about(*id)));
            }
        }
        replies += heard.len();
        if told.victim == Victim::None {
            let ok = rows.values().filter(|(outcome, _)| outcome == "ok").count();
            let counts = format!("{} sent, {} answered, {ok} ok: {}", told.sent, heard.len(), told.status);
            if ok != heard.len() || ok as u64 != told.sent || told.status.code() != Some(0) {
                return Err(Finding::new(What::Failed, counts));
            }
        }
    }
    Ok(replies)
}

/// Returns whether the row of a call is closed with that hash.
pub fn is_closed(rows: &Rows, id: u64, hash: &str) -> bool {
    rows.get(&id).is_some_and(|(outcome, stored)| match outcome.as_str() {
        "running" => false,
        // A call that its server never answered has no hash.
        "aborted" => true,
        _ => stored.as_deref() == Some(hash),
    })
}

/// Reads the rows of that relay's calls.
pub fn rows_of(folder: &Path, name: &str) -> Rows {
    let conn = engine::open(folder.join("colibri.db"));
    let sql = format!("SELECT request_id, outcome, result_hash FROM actions WHERE tool LIKE '{name}/%'");
    let mut statement = conn.prepare(&sql).unwrap();
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
    });
    let rows = rows.unwrap().map(Result::unwrap);
    rows.map(|(id, outcome, hash)| (id.parse().expect("a number"), (outcome, hash))).collect()
}

/// What the client has read, line by line, by the calls that it answers.
fn heard(told: &Told) -> Result<BTreeMap<u64, Answer>, Finding> {
    let mut heard = BTreeMap::new();
    for line in &told.lines {
        let shown = || String::from_utf8_lossy(line).chars().take(200).collect::<String>();
        let killed = matches!(told.victim, Victim::Server | Victim::Both);
        let Some(answer) = load::answer(line) else {
            if killed && is_cut_off(line, told.sent) {
                continue;
            }
            return Err(Finding::new(What::Invented, shown()));
        };
        if answer.id >= told.sent || (answer.is_error && !killed) {
            return Err(Finding::new(What::Invented, shown()));
        }
        if !answer.is_error && load::text(answer.id).as_bytes() != line {
            return Err(Finding::new(What::OtherBytes, shown()));
        }
        if heard.insert(answer.id, answer).is_some() {
            return Err(Finding::new(What::Invented, format!("a second answer: {}", shown())));
        }
    }
    Ok(heard)
}

/// Returns whether a line is the beginning of a long reply that its server did not end.
fn is_cut_off(line: &[u8], sent: u64) -> bool {
    let part = line.strip_suffix(b"\n").unwrap_or(line);
    (0..sent).filter(|id| load::kind(*id) == Kind::Long).any(|id| load::text(id).as_bytes().starts_with(part))
}
