//! What must hold after any run: every acknowledged call is there, nothing is there by half, twice or from
//! nowhere, no chain is forked, the next start works, and `colibri verify` finds the database sound.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use colibri::cli::{self, Next, Streams};
use colibri::settings::environment::Environment;
use colibri_test_support::log_chain::assert_log_is_sound;
use colibri_test_support::sql::Connection;
use tempfile::TempDir;

use super::load::{Effect, PLANTED_TITLE, Script, database, planted};
use super::replies::Fate;
use super::server;

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// An acknowledged call is missing.
    Lost(String),
    /// Anything else.
    Broken(String),
}

/// The calls of all servers and their fates, in the order in which servers followed one another.
pub type Calls<'a> = [(&'a Script, &'a [Fate])];

/// The task that the check creates after the next start.
const AFTERWARDS: &str = "afterwards";

/// Starts a server on the folder as it is, checks everything, and returns how many acknowledged calls it found.
pub fn check(folder: &Arc<TempDir>, calls: &Calls<'_>) -> Result<usize, Finding> {
    let probe = Script::probe(AFTERWARDS);
    let next = server::drive(&server::launch(folder, None), &probe, None);
    if next.fates != [Fate::Done] || next.status.code() != Some(0) {
        let kept = keep(folder.path());
        return Err(Finding::Broken(format!("the next start: {next:?}; kept in {kept}")));
    }
    sound(folder.path())?;
    let all: Vec<_> = calls.iter().copied().chain([(&probe, next.fates.as_slice())]).collect();
    let conn = Connection::file(database(folder.path()));
    let found = effects(&conn, &all).and_then(|found| titles(&conn, &all).map(|titles| found + titles));
    found.map(|found| found - 1).map_err(|finding| {
        let kept = keep(folder.path());
        match finding {
            Finding::Lost(what) => Finding::Lost(format!("{what}; kept in {kept}")),
            Finding::Broken(what) => Finding::Broken(format!("{what}; kept in {kept}")),
        }
    })
}

/// Verifies the database as it is, and recomputes the log's own chain a second way.
pub fn sound(folder: &Path) -> Result<(), Finding> {
    let file = database(folder);
    let environment = Environment::default().with("COLIBRI_DB_PATH", &file);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let streams =
        Streams { out: &mut out, err: &mut err, input: &mut std::io::empty(), color: false, width: None };
    let arguments = [OsString::from("verify"), OsString::from("--json")];
    let end = cli::run_with(&arguments, &environment, streams);
    let said = || format!("{}{}", String::from_utf8_lossy(&out), String::from_utf8_lossy(&err));
    if end != Next::Exit(0) {
        return Err(Finding::Broken(format!("verify: {end:?}: {}; kept in {}", said(), keep(folder))));
    }
    let conn = Connection::file(&file);
    catch_unwind(AssertUnwindSafe(|| assert_log_is_sound(&conn)))
        .map(drop)
        .map_err(|_| Finding::Broken(format!("the log's chain; kept in {}", keep(folder))))
}

/// A copy that outlives the test.
fn keep(folder: &Path) -> String {
    let kept = TempDir::with_prefix("colibri-crash-").unwrap().keep();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let _ = std::fs::copy(entry.path(), kept.join(entry.file_name()));
    }
    kept.display().to_string()
}

/// What the tables hold, by the names that calls gave, and how often.
fn stored(conn: &Connection) -> BTreeMap<Effect, usize> {
    let mut stored = BTreeMap::new();
    let mut collect = |sql: &str, effect: fn(String) -> Effect| {
        let mut statement = conn.prepare(sql).unwrap();
        for name in statement.query_map([], |row| row.get(0)).unwrap() {
            *stored.entry(effect(name.unwrap())).or_default() += 1;
        }
    };
    let ids: Vec<String> = planted().tasks.iter().map(|id| format!("'{id}'")).collect();
    collect(&format!("SELECT title FROM tasks WHERE id NOT IN ({})", ids.join(", ")), Effect::Task);
    let name = "SELECT substr(content, 1, instr(content, ' ') - 1) FROM thought_records";
    collect(name, Effect::Thought);
    collect("SELECT session_id FROM audit_sessions", Effect::Session);
    collect("SELECT session_id FROM merkle_roots", Effect::Seal);
    collect("SELECT lower(hex(merkle_root)) FROM mcp_consensus_rounds", Effect::Round);
    stored
}

/// Every call's effect is there as its answer says, and no other one is.
fn effects(conn: &Connection, calls: &Calls<'_>) -> Result<usize, Finding> {
    let mut stored = stored(conn);
    let mut found = 0;
    for (script, fates) in calls {
        for (call, fate) in script.calls.iter().zip(*fates) {
            if matches!(call.effect, Effect::Title { .. }) {
                continue;
            }
            let count = stored.remove(&call.effect).unwrap_or(0);
            match (fate, count) {
                (Fate::Done, 1) => found += 1,
                (Fate::Done, 0) => {
                    return Err(Finding::Lost(format!("acknowledged and lost: {:?}", call.effect)));
                }
                (Fate::Open | Fate::Unsure, 0 | 1) | (Fate::Failed(_), 0) => {}
                _ => {
                    return Err(Finding::Broken(format!("{fate:?}, there {count} times: {:?}", call.effect)));
                }
            }
        }
    }
    match stored.keys().next() {
        Some(effect) => Err(Finding::Broken(format!("nobody asked for {effect:?}"))),
        None => Ok(found),
    }
}

/// Each planted task has the title of the last acknowledged change, or of a later one that may have been done.
fn titles(conn: &Connection, calls: &Calls<'_>) -> Result<usize, Finding> {
    let mut found = 0;
    for task in &planted().tasks {
        let sql = "SELECT title FROM tasks WHERE id = ?1";
        let changes: Vec<(&String, &Fate)> = calls
            .iter()
            .flat_map(|(script, fates)| script.calls.iter().zip(*fates))
            .filter_map(|(call, fate)| match &call.effect {
                Effect::Title { task: changed, title } if changed == task => Some((title, fate)),
                _ => None,
            })
            .collect();
        let title = match conn.query_row(sql, [task], |row| row.get::<_, String>(0)) {
            Ok(title) => title,
            Err(_) if changes.is_empty() => continue,
            Err(error) => return Err(Finding::Lost(format!("planted task {task}: {error}"))),
        };
        let done = changes.iter().rposition(|(_, fate)| **fate == Fate::Done);
        let is = changes.iter().position(|(change, _)| **change == title);
        match (done, is) {
            (Some(done), None) => {
                return Err(Finding::Lost(format!("{:?}: the title is {title:?}", changes[done])));
            }
            (None, None) if title == PLANTED_TITLE => {}
            (None, None) => return Err(Finding::Broken(format!("nobody gave the title {title:?}"))),
            (Some(done), Some(is)) if is < done => {
                return Err(Finding::Lost(format!("{:?}: the title is {title:?}", changes[done])));
            }
            (_, Some(is)) if matches!(changes[is].1, Fate::Failed(_)) => {
                return Err(Finding::Broken(format!("{:?}, and it is there", changes[is])));
            }
            (done, Some(_)) => found += done.map_or(0, |_| 1),
        }
    }
    Ok(found)
}
