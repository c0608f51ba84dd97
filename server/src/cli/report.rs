//! `colibri report`: a session as one HTML page. This module gathers what [`crate::report`] renders.

mod foreign;

use std::collections::{HashMap, VecDeque};
use std::io::Write;

use colibri_runtime::handler::{Failure as DomainFailure, Fault};
use colibri_runtime::kernel::{Clock, SystemClock, rfc3339_ms};
use colibri_visible::{counted, printable};
use serde::Serialize;

use super::Failure;
use super::arguments::audit::Report as Arguments;
use super::database::{open_for_reading, place_of};
use super::output::{print_json, write_to};
use super::session::{Found, id_of, stored, unreadable};
use super::verify::{end, in_words, verify_open};
use super::who::{Shared, Who};
use super::work::Work;
use crate::domains::proof::envelope_of;
use crate::domains::proof::keyring::Keyring;
use crate::domains::proof::{SessionVerification, verify_session};
use crate::domains::tasks::service::get_task;
use crate::domains::trail::verify::Verification;
use crate::domains::trail::{self, TrailRow, Unpacker, content_of};
use crate::report::model::{
    Content, ForeignCalls, Head, Issue, MOST_TASKS, MOST_THOUGHTS, Report, Seal, Session, Signature, Task,
    TaskFacts, Thought, Thoughts, Verdict,
};
use crate::report::render;
use crate::report::tree::{FoldedTree, Folding};
use crate::settings::config::load_config;
use crate::settings::environment::Environment;
use crate::verification::finding::Found as Warning;
use crate::verification::judgement::Judgement;
use colibri_canonical::HexDigest;
use colibri_proof::Verdict::Fails;
use colibri_proof::chain::Content as Stored;
use colibri_proof::command::Keys;
use colibri_proof::head::SignedTreeHead;
use colibri_proof::keys::{SignatureStatus, TrustedKeys};
use colibri_store::db::Db;

/// What the command prints of a page that it wrote.
#[derive(Serialize)]
struct Written<'a> {
    file: &'a str,
    session_id: &'a str,
    sealed: bool,
    sound: bool,
    verdict: Option<colibri_proof::Verdict>,
    warnings: &'a [Warning],
    broken_count: i64,
    calls: &'a ForeignCalls,
}

/// Writes a session's page; [`Failure::Finding`] if the session is not sound, which the page then says.
pub fn run(
    arguments: &Arguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let mut work = Work::begin("report", err, false);
    let trusted = trusted_keys(env, &arguments.keys)?;
    let place = place_of(env, arguments.database.db.as_deref())?.0;
    let db = open_for_reading(env, arguments.database.db.as_deref())?;
    // A session that does not exist is named before the long work begins.
    let session_id = id_of(&db, &arguments.session)?;
    let verified = verify_open((&db, &place), env, &arguments.keys, &mut work);
    let database = Judgement::of(&work.settle(verified)?);
    let gathered = gather(&db, &session_id, &trusted, database, &mut work);
    let report = work.settle(gathered)?;
    let page = render(&report);
    write_to(Some(&arguments.html), out, |to| {
        work.settle(to.write_all(page.as_bytes()).map_err(Failure::from))
    })?;
    work.clear();
    let judged = &report.database;
    let sound = judged.verdict != Some(Fails);
    let file = arguments.html.to_string_lossy();
    if arguments.json {
        let written = Written {
            file: &file,
            session_id: &report.session.id,
            sealed: report.seal.is_some(),
            sound,
            verdict: judged.verdict,
            warnings: &judged.warnings,
            broken_count: report.verdict.broken_count,
            calls: &report.calls,
        };
        print_json(out, &written)?;
    } else {
        // What is wrong may lie outside of the session.
        let is_elsewhere = !sound && report.verdict.broken_count == 0;
        let verdict = in_words(judged, if is_elsewhere { "database" } else { "session" });
        let thoughts = counted(report.thoughts.total, "thought");
        writeln!(out, "{}: {thoughts}; {verdict}", printable(&file))?;
    }
    out.flush()?;
    end(&report.database)
}

/// Returns the keys that the user gave, or else those that this machine trusts.
fn trusted_keys(env: &Environment, given: &[String]) -> Result<TrustedKeys, Failure> {
    if !given.is_empty() {
        return Ok(Keys::read(given)?.trusted);
    }
    let (config, _warnings) =
        load_config(env, std::process::id()).map_err(|problems| Failure::Usage(problems.join("; ")))?;
    Keyring::load(&config)
        .map(|keys| keys.trusted_keys().clone())
        .map_err(|error| Failure::Usage(error.to_string()))
}

fn gather(
    db: &Db,
    session_id: &str,
    trusted: &TrustedKeys,
    mut database: Judgement,
    work: &mut Work<'_>,
) -> Result<Report, Failure> {
    let found = stored(db, session_id)?;
    let session_id = found.session.session_id.as_str();
    let progress = work.report("verified records");
    let verified =
        verify_session(db, session_id, None, trusted, work.interrupt(), &progress).map_err(|failure| {
            match failure {
                DomainFailure::Domain(missing) => Failure::Usage(missing.to_string()),
                DomainFailure::Fault(fault) => unreadable(fault),
            }
        })?;
    let SessionVerification { found: verified, seal: sealed } = verified;
    if !verified.valid() {
        database.verdict = Some(Fails);
    }
    let records = sealed.record_count;
    let walk = Walk::over(db, session_id, records, work).map_err(unreadable)?;
    let (tasks, more_tasks) = tasks(db, &verified, &walk.by_task).map_err(unreadable)?;
    let Walk { mut shown, tree, total, .. } = walk;
    let notes = name_authors(db, &mut shown).map_err(unreadable)?;
    let sealed_exit = found.seal.as_ref().map(|(_, signed)| signed.head.log_exit_no);
    let calls = foreign::calls(db, session_id, &found.session.started_at, sealed_exit).map_err(unreadable)?;
    let Found { session, seal } = found;
    Ok(Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: rfc3339_ms(SystemClock::default().wall_ms()),
        session: Session {
            id: session.session_id,
            intent: session.intent,
            task_id: session.task_id,
            started_at: session.started_at,
        },
        database,
        verdict: verdict(verified, sealed.signature.map(SignatureStatus::as_str)),
        tasks,
        more_tasks,
        thoughts: Thoughts { total, shown, notes },
        calls,
        seal: seal.map(|(root, signed)| Seal {
            root: root.root,
            record_count: root.record_count,
            finalized_at: root.finalized_at,
            head: head(signed),
            tree,
        }),
    })
}

fn verdict(verified: Verification, signature: Option<&'static str>) -> Verdict {
    let issues = verified.issues.into_iter().map(|issue| Issue {
        code: issue.code.as_str(),
        sides: issue.sides().map(|(word, value)| (word, value.to_owned())).collect(),
        task_id: issue.task_id,
        record_id: issue.record_id,
        index: issue.index,
    });
    Verdict {
        record_count: verified.chains.total.record_count,
        broken_count: verified.broken_count,
        unverifiable_count: verified.chains.total.unverifiable_count,
        issues: issues.collect(),
        signature,
    }
}

fn head(signed: SignedTreeHead) -> Head {
    let SignedTreeHead { head, head_hash, signature } = signed;
    Head {
        root_hash: head.root_hash,
        head_index: head.head_index,
        prev_head_hash: head.prev_head_hash,
        head_hash,
        session_hash: head.session_hash,
        chain_tips_hash: head.chain_tips_hash,
        log_exit_no: head.log_exit_no,
        log_row_hash: head.log_row_hash,
        signature: signature.map(|signed| Signature {
            signature: signed.signature,
            key_id: signed.key_id,
            public_key: signed.public_key,
        }),
    }
}

/// Adds to each agent the caller that recorded the thought, and returns what is to be noticed of them.
fn name_authors(db: &Db, thoughts: &mut [Thought]) -> Result<Vec<String>, Fault> {
    let mut shared = Shared::default();
    for thought in thoughts {
        let who = Who::of_call(db, &thought.who, thought.call)?;
        shared.take(&who);
        thought.who = who.to_string();
    }
    Ok(shared.notes())
}

/// Returns the tasks to show, and how many more the session has.
fn tasks(
    db: &Db,
    verified: &Verification,
    by_task: &HashMap<String, i64>,
) -> Result<(Vec<Task>, usize), Fault> {
    let all = &verified.chains.by_task;
    let mut tasks = Vec::new();
    for task in all.iter().take(MOST_TASKS) {
        let known = get_task(db, &task.task_id)?;
        tasks.push(Task {
            known: known.map(|task| TaskFacts { title: task.title, state: task.status.to_string() }),
            in_session: by_task.get(&task.task_id).copied().unwrap_or(0),
            chain_length: task.chain.record_count,
            broken_count: task.chain.broken_count,
            id: task.task_id.clone(),
        });
    }
    Ok((tasks, all.len().saturating_sub(MOST_TASKS)))
}

/// One pass over the session's records: what is shown of them, how many each task has, and the tree.
struct Walk {
    shown: Vec<Thought>,
    total: i64,
    by_task: HashMap<String, i64>,
    tree: FoldedTree,
}

impl Walk {
    fn over(db: &Db, session_id: &str, records: i64, work: &mut Work<'_>) -> Result<Self, Fault> {
        const HALF: usize = MOST_THOUGHTS / 2;
        let (mut first, mut last): (Vec<Thought>, VecDeque<Thought>) = (Vec::new(), VecDeque::new());
        let (mut total, mut by_task) = (0_i64, HashMap::new());
        let (mut unpacker, mut scratch) = (Unpacker::default(), Vec::new());
        let mut folding = Folding::new(u64::try_from(records).unwrap_or(0));
        trail::each_row_of_session(db, session_id, |row| {
            let (content, digest) = content(row, &mut unpacker);
            folding.push(envelope_of(row, &digest).leaf_hash(&mut scratch));
            *by_task.entry(row.task_id.to_owned()).or_insert(0) += 1;
            let thought = thought(row, total, content);
            total += 1;
            // The walk itself ends at Ctrl-C.
            let _ = work.at("records", total.unsigned_abs(), records.unsigned_abs());
            if first.len() < HALF {
                first.push(thought);
            } else {
                last.push_back(thought);
                if last.len() > HALF {
                    last.pop_front();
                }
            }
            Ok(true)
        })?;
        first.extend(last);
        Ok(Self { shown: first, total, by_task, tree: folding.finish() })
    }
}

/// Returns a record's content as the page shows it, and its digest for the tree.
fn content(row: &TrailRow<'_>, unpacker: &mut Unpacker) -> (Content, String) {
    match content_of(row, unpacker) {
        Stored::Kept(text) => {
            let digest = HexDigest::of(text.as_bytes()).as_str().to_owned();
            (Content::bounded(text.to_owned()), digest)
        }
        Stored::Dropped => {
            let content_hash = row.content_hash.unwrap_or_default().to_owned();
            (Content::Dropped { content_hash: content_hash.clone() }, content_hash)
        }
        Stored::Lost => (Content::Lost, row.content_hash.unwrap_or_default().to_owned()),
    }
}

fn thought(row: &TrailRow<'_>, position: i64, content: Content) -> Thought {
    Thought {
        position,
        id: row.id.to_owned(),
        kind: row.kind.to_owned(),
        task_id: row.task_id.to_owned(),
        who: row.agent_id.to_owned(),
        call: row.sequence_no,
        timestamp: row.timestamp.to_owned(),
        content,
        prev_hash: row.prev_hash.to_owned(),
        hash: row.hash.to_owned(),
    }
}
