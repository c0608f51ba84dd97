//! `colibri demo`: the main job as a transcript. A real server runs as a child on a database in a
//! temporary folder; this process is its MCP client, and at the end reads what the server wrote down.

mod session;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use self::session::{Answer, Session};
use super::Failure;
use super::folder::TemporaryFolder;
use super::transcript::{Tone, Transcript};
use crate::catalogue::{CATALOGUE, Task, TaskNextActionsOutput, TaskStatus, ToolId};
use crate::store::inspect::Inspection;

/// Shows it all; [`Failure::Failed`] when the server does not answer as it should.
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
    walk(&mut page, &mut session, &plan)?;
    refusals(&mut page, &mut session, &plan)?;
    change_of_plan(&mut page, &mut session, &plan)?;
    queue(&mut page, &mut session, "What is left?", &plan)?;
    session.stop()?;
    audit_log(&mut page, &database)?;
    drop(folder);

    page.line(&format!("\nDone in {:.1} s; the temporary folder is gone.", started.elapsed().as_secs_f64()))?;
    page.line("Next: `colibri tools` lists the tools, `colibri --help` the commands and settings.")?;
    Ok(())
}

/// The demonstration's tasks: the third waits for the second.
struct Plan {
    schema: Task,
    migration: Task,
    release: Task,
}

impl Plan {
    /// The task's title, for readers who do not know ids by heart.
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
    page.heading("An agent plans three tasks; the last one has to wait")?;
    let mut create = |title: &str, priority: &str, waits_for: Option<&Task>| -> Result<Task, Failure> {
        let mut arguments = json!({ "title": title, "project_id": "demo", "priority": priority });
        if let Some(task) = waits_for {
            arguments["depends_on"] = json!([task.id]);
        }
        let task: Task = session.accepted(ToolId::TaskCreate, &arguments)?;
        let waits = waits_for.map_or_else(String::new, |task| format!(", waits for \"{}\"", task.title));
        let text = format!("\"{title}\" is in {}, priority {priority}{waits}", task.status);
        page.call(ToolId::TaskCreate.name(), &text)?;
        Ok(task)
    };
    let schema = create("Design the schema", "medium", None)?;
    let migration = create("Write the migration", "high", None)?;
    let release = create("Announce the release", "critical", Some(&migration))?;
    Ok(Plan { schema, migration, release })
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

fn walk(page: &mut Transcript<'_>, session: &mut Session, plan: &Plan) -> Result<(), Failure> {
    let task = &plan.migration;
    page.heading(&format!("\"{}\" moves one checked step at a time", task.title))?;
    let mut at = task.status;
    for next in
        [TaskStatus::Gather, TaskStatus::Analyze, TaskStatus::Plan, TaskStatus::Apply, TaskStatus::Verify]
    {
        let moved: Task = session.accepted(ToolId::TaskUpdate, &json!({ "id": task.id, "status": next }))?;
        let arrived = page.paint(Tone::Good, &moved.status.to_string());
        page.call(ToolId::TaskUpdate.name(), &format!("{at} -> {arrived}"))?;
        at = moved.status;
    }
    Ok(())
}

fn refusals(page: &mut Transcript<'_>, session: &mut Session, plan: &Plan) -> Result<(), Failure> {
    page.heading("Short cuts are refused, with the reason as data")?;
    refusal(page, session, &plan.schema, TaskStatus::Init)?;
    page.more("A task passes every state; it cannot jump to the end.")?;
    refusal(page, session, &plan.migration, TaskStatus::Verify)?;
    page.more("Finished work must leave a record of its reasoning first.")?;
    Ok(())
}

/// Asks for DONE and shows the refusal.
fn refusal(
    page: &mut Transcript<'_>,
    session: &mut Session,
    task: &Task,
    from: TaskStatus,
) -> Result<(), Failure> {
    let tool = ToolId::TaskUpdate;
    let wanted = TaskStatus::Done;
    match session.call(tool, &json!({ "id": task.id, "status": wanted }))? {
        Answer::Refused { code, message } => {
            let refused = page.paint(Tone::Refused, &format!("refused: {code}"));
            page.call(tool.name(), &format!("\"{}\" {from} -> {wanted}  {refused}", task.title))?;
            page.more(&message.replace(&task.id, &format!("\"{}\"", task.title)))?;
            Ok(())
        }
        Answer::Accepted(_) => {
            Err(Failure::Failed(format!("the server let a task go from {from} to {wanted}; it must not")))
        }
    }
}

fn change_of_plan(page: &mut Transcript<'_>, session: &mut Session, plan: &Plan) -> Result<(), Failure> {
    page.heading("Plans change")?;
    let task = &plan.release;
    let arguments = json!({ "id": task.id, "status": TaskStatus::Cancelled });
    let cancelled: Task = session.accepted(ToolId::TaskUpdate, &arguments)?;
    page.call(ToolId::TaskUpdate.name(), &format!("\"{}\" is {}", task.title, cancelled.status))?;
    Ok(())
}

/// What the server wrote down, read from the file after it has stopped.
fn audit_log(page: &mut Transcript<'_>, database: &Path) -> Result<(), Failure> {
    page.heading("The server has stopped. What did it write down?")?;
    let failed = |reason: String| Failure::Failed(format!("cannot read the audit log: {reason}"));
    let look = Inspection::open(database).map_err(failed)?;
    let calls = look.closed_calls().map_err(|fault| failed(fault.to_string()))?;
    page.line(&page.paint(Tone::Faint, &log_line("no", "tool", "outcome", "ms", "follows", "row hash")))?;
    for call in &calls {
        let outcome = call.error_code.as_deref().unwrap_or(&call.outcome);
        let duration = call.duration_ms.map_or_else(String::new, |ms| ms.to_string());
        let (follows, own) = (prefix(&call.prev_hash), prefix(&call.row_hash));
        page.line(&log_line(&call.sequence_no.to_string(), &call.tool, outcome, &duration, follows, own))?;
    }
    let report = look.verify_log().map_err(|fault| failed(fault.to_string()))?;
    let Some(report) = report else { return Err(failed("there is none".to_owned())) };
    if let Some(finding) = report.finding {
        return Err(Failure::Failed(format!("the audit log is not sound: {finding}")));
    }
    let unbroken = page.paint(Tone::Good, "unbroken");
    page.line(&format!(
        "   Each row's hash covers the row before it. Recomputed: {} rows, {unbroken}.",
        report.closed
    ))?;
    Ok(())
}

fn log_line(number: &str, tool: &str, outcome: &str, duration: &str, follows: &str, own: &str) -> String {
    format!("   {number:>2}  {tool:18}  {outcome:24}  {duration:>3}  {follows:10}  {own}")
}

/// The beginning of a hash: enough to see which row follows which.
fn prefix(hash: &str) -> &str {
    hash.get(..10).unwrap_or(hash)
}

/// A reply that the demonstration cannot go on with.
fn unexpected(what: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("the server answered something unexpected: {what}"))
}
