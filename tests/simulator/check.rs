//! The end of a run: compares the file with the history, the model and the library's own verification.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

use colibri::catalogue::ToolId;
use colibri::domains::proof::Signers;
use colibri::migrations::MIGRATIONS;
use colibri::verification::{Expected, Options, verify};
use colibri_proof::keys::TrustedKeys;
use colibri_runtime::chain::scan::Interrupt;
use colibri_store::sqlite::look::inspect::Inspection;
use colibri_store::sqlite::look::schema::{Schema, expected};
use colibri_test_support::log_chain::assert_log_is_sound;
use colibri_test_support::sql::Connection;
use rusqlite::OpenFlags;

use crate::history::{Record, Said, own_code};
use crate::model::{Ended, Model};
use crate::rows::{self, Entry};

/// The first violation that the checks have found, with its step if that is known.
pub type Wrong = (Option<u64>, String);

/// Checks everything that must hold at the end.
pub fn check(path: &Path, history: &[Record]) -> Result<Vec<String>, Wrong> {
    verified(path).map_err(|what| (None, what))?;
    let conn = rusqlite::Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let conn = Connection::from(conn);
    let sound = catch_unwind(AssertUnwindSafe(|| assert_log_is_sound(&conn)));
    sound.map_err(|panic| (None, format!("the log: {}", panic_text(&*panic))))?;
    let entries = rows::entries(&conn);
    let ended = paired(history, &entries)?;
    in_order(&ended)?;
    let mut model = Model::default();
    for (record, entry) in &ended {
        played(&mut model, record, entry)
            .map_err(|what| (Some(record.step), format!("{}: {what}", record.name())))?;
    }
    stored(&model, &conn).map_err(|what| (None, what))?;
    Ok(rows::everything(&conn))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Checks that the library finds nothing wrong.
fn verified(path: &Path) -> Result<(), String> {
    static EXPECTED: OnceLock<Schema> = OnceLock::new();
    let options = Options {
        expected: Expected::File(EXPECTED.get_or_init(|| expected(MIGRATIONS).unwrap())),
        signers: Signers { trusted: &TrustedKeys::default(), required: false },
        checkpoint: None,
        take_checkpoint: false,
        interrupt: &Interrupt::default(),
    };
    let look = Inspection::open(path, MIGRATIONS).map_err(|error| error.to_string())?;
    let report = look
        .at_one_moment(|db, _| verify(db, None, &options, &mut |_| {}))
        .map_err(|fault| fault.to_string())?
        .map_err(|stop| format!("{stop:?}"))?;
    match report.findings.kinds().first() {
        Some(found) => Err(format!("verification finds {}", found.first)),
        None => Ok(()),
    }
}

/// Returns each call with its row, in the order in which they took effect; leaves out calls without a row.
fn paired<'a>(history: &'a [Record], entries: &'a [Entry]) -> Result<Vec<(&'a Record, &'a Entry)>, Wrong> {
    let mut rows: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        rows.entry(&entry.correlation_id).or_default().push(entry);
    }
    let mut pairs = Vec::new();
    for record in history {
        let wrong = |what: String| Err((Some(record.step), format!("{}: {what}", record.name())));
        let found = rows.remove(record.correlation_id.as_str()).unwrap_or_default();
        match (found.as_slice(), may_lack_row(record)) {
            ([entry], _) => {
                if let Err(what) = fits(record, entry) {
                    return wrong(what);
                }
                pairs.push((record, *entry));
            }
            ([], true) => {}
            ([], false) => return wrong(format!("it was told {:?} and has no row", record.said)),
            (several, _) => return wrong(format!("it has {} rows", several.len())),
        }
    }
    let of_the_chain = [ToolId::CallerBegin.name(), ToolId::CallNote.name()];
    let own = |entry: &&&Entry| of_the_chain.contains(&entry.tool.as_str()) && entry.outcome == "ok";
    if let Some(entry) = rows.values().flatten().find(|entry| !own(entry)) {
        return Err((None, format!("nobody has called what row {} tells of", entry.sequence_no)));
    }
    pairs.sort_by_key(|(_, entry)| entry.exit_no);
    Ok(pairs)
}

/// Returns whether a call may lack its row: it was never entered, or its process died before it answered, or before it
/// had a database.
fn may_lack_row(record: &Record) -> bool {
    match &record.said {
        None => record.unclear,
        Some(Said::NotEntered) => true,
        Some(_) if record.early => record.unclear,
        // A call that is refused without being run is answered even if its row cannot be written.
        Some(Said::Invalid | Said::Unknown) => record.disturbed,
        Some(_) => false,
    }
}

/// Checks that a row matches what the client was told.
fn fits(record: &Record, entry: &Entry) -> Result<(), String> {
    if entry.tool != record.tool || entry.args_hash != record.args_hash() || entry.boot_id != record.boot {
        return Err(format!("its row tells of another call: {entry:?}"));
    }
    let (outcome, code) = (entry.outcome.as_str(), entry.error_code.as_deref());
    if (outcome, code) == ("aborted", Some("PROCESS_ABORTED")) {
        // No client was told of a success, and the process has ended before it could close the row.
        let late = record.is_beside() && record.disturbed;
        let acknowledged = matches!(record.said, Some(Said::Done(_))) && !late;
        return if acknowledged { Err("acknowledged and closed as aborted".to_owned()) } else { Ok(()) };
    }
    if record.cancelled {
        let ended = (outcome, code) == ("aborted", Some("CANCELLED"));
        return if ended { Ok(()) } else { Err(format!("cancelled, and its row says {outcome}")) };
    }
    let outcomes: &[&str] = match &record.said {
        None if record.unclear => return Ok(()),
        None => return Err(format!("it was never answered, and its row says {outcome}")),
        Some(Said::Done(_)) => &["ok"],
        Some(Said::Refused(_)) => &["domain_error", "error"],
        Some(Said::Invalid) => &["invalid"],
        Some(Said::Unknown) => &["denied"],
        Some(Said::NotEntered | Said::Failed(_)) => &["error"],
    };
    if outcomes.contains(&outcome) && entry.result_hash == record.hash {
        return Ok(());
    }
    // The client was told that nothing is certain.
    if record.unclear && !matches!(record.said, Some(Said::Done(_))) {
        return Ok(());
    }
    Err(format!("it was told {:?}, and its row says {outcome} {code:?}", record.said))
}

/// Checks that a call acknowledged before another was sent took effect before it, in any processes.
fn in_order(ended: &[(&Record, &Entry)]) -> Result<(), Wrong> {
    let mut latest: Option<&Record> = None;
    let mut numbers = BTreeSet::new();
    for (record, entry) in ended {
        if !numbers.insert(entry.exit_no) || entry.exit_no.is_none() {
            return Err((Some(record.step), format!("{}: its row is still open", record.name())));
        }
        // Rows of failures may be closed later than they happened.
        if entry.outcome != "ok" || record.early || (record.is_beside() && record.disturbed) {
            continue;
        }
        if let Some(before) = latest.filter(|before| record.told < before.sent) {
            let what = format!("{} took effect before {}, which came later", before.name(), record.name());
            return Err((Some(record.step), what));
        }
        if latest.is_none_or(|latest| latest.sent < record.sent) {
            latest = Some(record);
        }
    }
    Ok(())
}

/// Plays calls that succeeded or that their own tool refused.
fn played(model: &mut Model, record: &Record, entry: &Entry) -> Result<(), String> {
    let own = entry.error_message.as_deref().and_then(own_code).map(str::to_owned);
    let ended = match (entry.outcome.as_str(), own) {
        ("ok", _) => Ended::Done,
        // The row may have been closed later than the refusal, or the call may have seen effects that were undone since.
        (_, _) if record.disturbed => return Ok(()),
        ("domain_error", _) => Ended::Refused(entry.error_code.clone().unwrap_or_default()),
        ("error", Some(code)) => Ended::Refused(code),
        _ => return Ok(()),
    };
    let data = match &record.said {
        Some(Said::Done(data)) => Some(data),
        _ => None,
    };
    model.play(record, entry, &ended, data)
}

/// Checks that the file holds what the model has, and nothing else.
fn stored(model: &Model, conn: &Connection) -> Result<(), String> {
    let tasks = rows::tasks(conn);
    let expected: Vec<_> = model.tasks.values().cloned().collect();
    differ("tasks", &expected, &tasks)?;
    let mut trails: BTreeMap<String, Vec<rows::Thought>> = BTreeMap::new();
    for thought in rows::thoughts(conn) {
        trails.entry(thought.task_id.clone()).or_default().push(thought);
    }
    let names = |trails: Vec<&String>| trails.into_iter().cloned().collect::<Vec<_>>();
    differ("trails", &names(model.trails.keys().collect()), &names(trails.keys().collect()))?;
    for (task_id, trail) in trails {
        let expected = &model.trails[&task_id];
        let mut prev_hash = "0".repeat(64);
        let mut known = Vec::new();
        for (thought, found) in expected.iter().zip(&trail) {
            known.push(rows::Thought {
                id: thought.id.clone(),
                task_id: task_id.clone(),
                agent_id: thought.agent_id.clone(),
                kind: thought.kind.clone(),
                content: thought.content.clone(),
                session_id: thought.session_id.clone(),
                sequence_no: thought.sequence_no,
                prev_hash: std::mem::replace(&mut prev_hash, found.hash.clone()),
                hash: thought.hash.clone().unwrap_or_else(|| found.hash.clone()),
            });
        }
        differ("a trail", &known, &trail)?;
        differ("the length of a trail", &[expected.len()], &[trail.len()])?;
    }
    let sessions: Vec<_> = model
        .sessions
        .iter()
        .map(|(id, session)| (id.clone(), session.sequence_no, session.sealed))
        .collect();
    differ("sessions", &sessions, &rows::sessions(conn))?;
    let mut told = model.reputation.clone();
    told.sort_unstable();
    differ("what reputation was told", &told, &rows::reputation(conn))
}

/// Returns the first difference between two lists.
fn differ<T: PartialEq + std::fmt::Debug>(what: &str, expected: &[T], found: &[T]) -> Result<(), String> {
    let at = expected.iter().zip(found).position(|(one, other)| one != other);
    let at = at.unwrap_or(expected.len().min(found.len()));
    match (expected.get(at), found.get(at)) {
        (None, None) => Ok(()),
        (expected, found) => Err(format!("{what}, number {at}: expected {expected:?}, stored {found:?}")),
    }
}
