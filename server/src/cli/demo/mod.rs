//! `colibri demo`: the main job as a transcript. A real server runs as a child on a database in a
//! temporary folder; this process is its MCP client. After the server has stopped, this process is the auditor, who
//! trusts neither agent nor server.

mod audit;
mod session;
mod standing;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use colibri_visible::counted;
use serde_json::{Value, json};

use self::audit::Auditor;
use self::session::{Answer, Session};
use super::Failure;
use super::transcript::{Tone, Transcript};
use crate::catalogue::{
    AuditSessionStartOutput, CATALOGUE, MerkleFinalizeOutput, Task, TaskNextActionsOutput, TaskStatus,
    ThoughtRecordOutput, ThoughtType, ToolId,
};
use colibri_store::temporary_folder::TemporaryFolder;

/// The agent that does the work.
const AGENT: &str = "agent-7";
/// The thought that a forger changes afterwards.
const DECISION: &str =
    "Expand, then contract: readers of the old columns keep working. One big step would lock the table.";

/// Shows the whole demonstration; [`Failure::Failed`] if the server does not answer as it should.
pub fn run(out: &mut dyn Write, color: bool) -> Result<(), Failure> {
    let started = Instant::now();
    let folder = TemporaryFolder::create("colibri-demo")
        .map_err(|error| Failure::Failed(format!("cannot make a temporary folder: {error}")))?;
    let database = folder.path().join("colibri.db");
    let mut page = Transcript::new(out, color);
    let title = format!("Colibri {}: accountable work for agents", CATALOGUE.version);
    page.line(&page.paint(Tone::Strong, &title))?;
    page.line("A real server runs as a child process over pipes, on a database in a temporary folder.")?;

    let mut session = connect(&mut page, folder.path(), &database)?;
    let plan = plan(&mut page, &mut session)?;
    queue(&mut page, &mut session, "What can be worked on now?", &plan)?;
    let decision = work(&mut page, &mut session, &plan)?;
    refusals(&mut page, &mut session, &plan)?;
    let seal = finish(&mut page, &mut session, &plan)?;
    standing::show(&mut page, &mut session, &plan, &seal)?;
    queue(&mut page, &mut session, "What is left?", &plan)?;
    session.stop()?;

    let auditor = Auditor { folder: folder.path(), database: &database };
    auditor.show_log(&mut page)?;
    auditor.verify(&mut page, &seal)?;
    auditor.prove(&mut page, &seal, &decision)?;
    auditor.catch(&mut page, &decision)?;
    drop(folder);

    page.line(&format!("\nDone in {:.1} s; the temporary folder is gone.", started.elapsed().as_secs_f64()))?;
    page.line("Next: `colibri init` sets up your host, `colibri board` shows what its agents do, `colibri --help` lists the rest.")?;
    Ok(())
}

/// The demonstration's tasks and session: the third task waits for the second.
struct Plan {
    session_id: String,
    schema: Task,
    migration: Task,
    release: Task,
}

impl Plan {
    /// Returns the task's title, for readers who do not know ids by heart.
    fn title<'a>(&'a self, id: &'a str) -> &'a str {
        let tasks = [&self.schema, &self.migration, &self.release];
        tasks.into_iter().find(|task| task.id == id).map_or(id, |task| task.title.as_str())
    }
}

fn connect(page: &mut Transcript<'_>, folder: &Path, database: &Path) -> Result<Session, Failure> {
    page.heading("A client connects")?;
    let (session, greeting) = Session::start(folder, database)?;
    page.call("initialize", &greeting)?;
    let names = ToolId::ALL.map(ToolId::name);
    page.call("tools/list", &format!("{} tools", names.len()))?;
    for row in names.chunks(4) {
        page.more(&row.join("  "))?;
    }
    Ok(session)
}

fn plan(page: &mut Transcript<'_>, session: &mut Session) -> Result<Plan, Failure> {
    page.heading("An agent opens an audit session and plans three tasks; the last one has to wait")?;
    let started: AuditSessionStartOutput =
        session.accepted(ToolId::AuditSessionStart, &json!({ "intent": "Release 2.0" }))?;
    page.call(ToolId::AuditSessionStart.name(), "\"Release 2.0\" is open: thoughts can be bound to it")?;
    let mut create = |title: &str, priority: &str, depends_on: Value| -> Result<Task, Failure> {
        let arguments = json!({
            "title": title, "project_id": "demo", "priority": priority, "assignee": AGENT, "depends_on": depends_on,
        });
        let task: Task = session.accepted(ToolId::TaskCreate, &arguments)?;
        let waits = if task.depends_on.is_some() { ", waits for the one before" } else { "" };
        let text = format!("\"{title}\" is in {}, priority {priority}{waits}", task.status);
        page.call(ToolId::TaskCreate.name(), &text)?;
        Ok(task)
    };
    let schema = create("Design the schema", "medium", json!([]))?;
    let migration = create("Write the migration", "high", json!([]))?;
    let release = create("Announce the release", "critical", json!([migration.id]))?;
    Ok(Plan { session_id: started.session_id, schema, migration, release })
}

fn queue(
    page: &mut Transcript<'_>,
    session: &mut Session,
    question: &str,
    plan: &Plan,
) -> Result<(), Failure> {
    page.heading(question)?;
    let tool = ToolId::TaskNextActions;
    let queue: TaskNextActionsOutput = session.accepted(tool, &json!({ "project_id": "demo" }))?;
    let waiting = match queue.blocked_count {
        0 => "none is waiting".to_owned(),
        count => format!("{count} waiting for another"),
    };
    page.call(tool.name(), &format!("{} to work on, most urgent first; {waiting}", queue.total_count))?;
    for (place, task) in queue.tasks.iter().enumerate() {
        let priority = task.priority.as_deref().unwrap_or("none");
        page.more(&format!(
            "{}. {} ({}, priority {priority})",
            place + 1,
            plan.title(&task.id),
            task.status
        ))?;
    }
    Ok(())
}

/// Works on the migration and records the reasons on the way; returns the decision's record.
fn work(
    page: &mut Transcript<'_>,
    session: &mut Session,
    plan: &Plan,
) -> Result<ThoughtRecordOutput, Failure> {
    let task = &plan.migration;
    page.heading(&format!("\"{}\" moves one checked step at a time, and says why", task.title))?;
    let mut at = TaskStatus::Init;
    step(page, session, task, &mut at, TaskStatus::Gather)?;
    step(page, session, task, &mut at, TaskStatus::Analyze)?;
    let text = "Add the new columns, copy in the background, drop the old ones last.";
    think(page, session, plan, ThoughtType::Plan, text)?;
    step(page, session, task, &mut at, TaskStatus::Plan)?;
    let decision = think(page, session, plan, ThoughtType::Decision, DECISION)?;
    step(page, session, task, &mut at, TaskStatus::Apply)?;
    step(page, session, task, &mut at, TaskStatus::Verify)?;
    let text = "1,204,331 rows copied, the counts agree, the way back was rehearsed.";
    think(page, session, plan, ThoughtType::Reflection, text)?;
    Ok(decision)
}

fn step(
    page: &mut Transcript<'_>,
    session: &mut Session,
    task: &Task,
    at: &mut TaskStatus,
    next: TaskStatus,
) -> Result<(), Failure> {
    let moved: Task = session.accepted(ToolId::TaskUpdate, &json!({ "id": task.id, "status": next }))?;
    let arrived = page.paint(Tone::Good, &moved.status.to_string());
    page.call(ToolId::TaskUpdate.name(), &format!("{at} -> {arrived}"))?;
    *at = moved.status;
    Ok(())
}

fn think(
    page: &mut Transcript<'_>,
    session: &mut Session,
    plan: &Plan,
    kind: ThoughtType,
    content: &str,
) -> Result<ThoughtRecordOutput, Failure> {
    let arguments = json!({
        "type": kind, "task_id": plan.migration.id, "agent_id": AGENT, "content": content, "session_id": plan.session_id,
    });
    let record: ThoughtRecordOutput = session.accepted(ToolId::ThoughtRecord, &arguments)?;
    page.call(ToolId::ThoughtRecord.name(), &format!("{kind}: {content}"))?;
    let (follows, own) = (prefix(&record.prev_hash), prefix(&record.hash));
    page.more(&page.paint(Tone::Faint, &format!("follows {follows}, hash {own}")))?;
    Ok(record)
}

fn refusals(page: &mut Transcript<'_>, session: &mut Session, plan: &Plan) -> Result<(), Failure> {
    page.heading("Short cuts are refused, with the reason as data")?;
    refusal(page, session, &plan.release)?;
    page.more("A task moves one step at a time; it cannot jump to the end.")?;
    let walked = walk(page, session, &plan.schema)?;
    refusal(page, session, &walked)?;
    page.more("Finished work must leave a record of its reasoning first.")?;
    Ok(())
}

/// Moves a task up to the last state before DONE without recording a thought.
fn walk(page: &mut Transcript<'_>, session: &mut Session, task: &Task) -> Result<Task, Failure> {
    use TaskStatus::{Analyze, Apply, Gather, Plan, Verify};
    let (mut task, mut passed) = (task.clone(), task.status.to_string());
    for next in [Gather, Analyze, Plan, Apply, Verify] {
        task = session.accepted(ToolId::TaskUpdate, &json!({ "id": task.id, "status": next }))?;
        passed.push_str(&format!(" -> {}", task.status));
    }
    page.call(ToolId::TaskUpdate.name(), &format!("\"{}\": {passed}", task.title))?;
    Ok(task)
}

/// Asks for DONE and shows the refusal.
fn refusal(page: &mut Transcript<'_>, session: &mut Session, task: &Task) -> Result<(), Failure> {
    let (tool, from, wanted) = (ToolId::TaskUpdate, task.status, TaskStatus::Done);
    match session.call(tool, &json!({ "id": task.id, "status": wanted }))? {
        Answer::Refused { code, message } => {
            let refused = page.paint(Tone::Refused, &format!("refused: {code}"));
            page.call(tool.name(), &format!("\"{}\" {from} -> {wanted}  {refused}", task.title))?;
            page.more(&message.replace(&task.id, &format!("\"{}\"", task.title)))?;
            Ok(())
        }
        Answer::Accepted(_) => Err(Failure::Failed(format!(
            "the server moved a task from {from} to {wanted}, which it must refuse"
        ))),
    }
}

/// Finishes the migration and seals the session.
fn finish(
    page: &mut Transcript<'_>,
    session: &mut Session,
    plan: &Plan,
) -> Result<MerkleFinalizeOutput, Failure> {
    page.heading("The work is done and the session is sealed")?;
    let mut at = TaskStatus::Verify;
    step(page, session, &plan.migration, &mut at, TaskStatus::Done)?;
    let seal: MerkleFinalizeOutput =
        session.accepted(ToolId::MerkleFinalize, &json!({ "session_id": plan.session_id }))?;
    page.call(
        ToolId::MerkleFinalize.name(),
        &format!("{} under one root", counted(seal.record_count, "record")),
    )?;
    page.more(&format!("tree head {}", seal.tree_head.head_hash))?;
    page.more("Kept elsewhere, these 64 digits pin the whole history.")?;
    Ok(seal)
}

/// Returns the beginning of a hash: enough to see which follows which.
fn prefix(hash: &str) -> &str {
    hash.get(..10).unwrap_or(hash)
}

/// Returns the failure for a reply after which the demonstration cannot go on.
fn unexpected(what: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("the server answered something unexpected: {what}"))
}
