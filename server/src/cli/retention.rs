//! `colibri retention`: packs and prunes the content of old thoughts, as calls of an operation.
//!
//! Each page of a task is one call in its own transaction, so servers go on writing in between. If the command ends early,
//! the pages before stay moved, and the next run goes on from there.

use std::io::Write;

use colibri_runtime::progress::Progress;
use colibri_visible::printable;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Failure;
use super::arguments::RetentionArguments;
use super::database::open_configured;
use super::operator;
use super::output::print_json_line;
use super::work::Work;
use crate::catalogue::ToolId;
use crate::domains::retention::{has_thoughts, tasks_due};
use crate::settings::environment::Environment;

/// What an interrupted command says.
const MOVED: &str = "interrupted; what was moved before stays moved, and the next run goes on from there";

/// The reply of one call, as far as the command reads it.
#[derive(Deserialize)]
struct Page {
    hot_to_warm: i64,
    hot_to_cold: i64,
    warm_to_cold: i64,
    damaged: Vec<Damaged>,
    next_after: Option<i64>,
}

/// A thought that stays as it is.
#[derive(Deserialize, Serialize)]
struct Damaged {
    id: String,
    reason: String,
}

/// The result over all tasks, which `--json` prints.
#[derive(Default, Serialize)]
struct Moved {
    dry_run: bool,
    tasks: usize,
    hot_to_warm: i64,
    hot_to_cold: i64,
    warm_to_cold: i64,
    damaged: Vec<Damaged>,
}

impl Moved {
    fn is_nothing(&self) -> bool {
        self.hot_to_warm + self.hot_to_cold + self.warm_to_cold == 0 && self.damaged.is_empty()
    }

    fn add(&mut self, page: Page) {
        self.hot_to_warm += page.hot_to_warm;
        self.hot_to_cold += page.hot_to_cold;
        self.warm_to_cold += page.warm_to_cold;
        self.damaged.extend(page.damaged);
    }
}

/// Moves what is due and prints the counts; [`Failure::Finding`] if a thought is damaged.
pub fn run(
    arguments: &RetentionArguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let unreadable = |fault: colibri_runtime::handler::Fault| Failure::Failed(fault.to_string());
    let db = open_configured(env)?;
    let mut tasks = tasks_due(&db).map_err(unreadable)?;
    if let Some(wanted) = &arguments.task {
        if !has_thoughts(&db, wanted).map_err(unreadable)? {
            return Err(Failure::Usage(format!("no thought names the task {wanted}; check the id")));
        }
        tasks.retain(|task| task == wanted);
    }
    // The snapshot ends before the operation opens the file to write.
    drop(db);
    let mut moved = Moved { dry_run: arguments.dry_run, tasks: tasks.len(), ..Moved::default() };
    let mut work = Work::begin("retention", err, arguments.progress);
    let done = if tasks.is_empty() { Ok(()) } else { all(&tasks, env, &mut moved, &mut work) };
    work.clear();
    // What was done before an error is printed all the same.
    if done.is_err() && moved.is_nothing() {
        return done;
    }
    if arguments.json {
        print_json_line(out, &moved)?
    } else {
        print(&moved, out)?
    }
    out.flush()?;
    done?;
    if moved.damaged.is_empty() { Ok(()) } else { Err(Failure::Finding) }
}

/// Calls the operation for each page of each task.
fn all(tasks: &[String], env: &Environment, moved: &mut Moved, work: &mut Work<'_>) -> Result<(), Failure> {
    let mut operator = operator::open(env)?;
    for (done, task_id) in tasks.iter().enumerate() {
        let mut after = Some(0);
        while let Some(from) = after {
            if work.at("tasks", done as u64, tasks.len() as u64).is_break() {
                return Err(Failure::Interrupted(Some(MOVED)));
            }
            let call = json!({ "task_id": task_id, "after": from, "dry_run": moved.dry_run });
            let page = page(task_id, &operator.call(ToolId::TrailRetention, call, Progress::default())?)?;
            after = page.next_after;
            moved.add(page);
        }
    }
    Ok(())
}

/// Reads the reply of a call.
fn page(task_id: &str, envelope: &Value) -> Result<Page, Failure> {
    let refused = || {
        let reason = envelope.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason given");
        Failure::Failed(format!("retention stopped at task {task_id}: {reason}"))
    };
    envelope.get("data").and_then(|data| Page::deserialize(data).ok()).ok_or_else(refused)
}

fn print(moved: &Moved, out: &mut dyn Write) -> Result<(), Failure> {
    let (packed, removed) = (moved.hot_to_warm, moved.hot_to_cold + moved.warm_to_cold);
    let (would, tasks) = (if moved.dry_run { "would be " } else { "" }, moved.tasks);
    if moved.is_nothing() {
        writeln!(out, "nothing to pack or remove")?;
        return Ok(());
    }
    writeln!(out, "tasks looked at: {tasks}")?;
    writeln!(out, "contents {would}packed: {packed}")?;
    writeln!(out, "contents {would}removed: {removed} ({} of them packed before)", moved.warm_to_cold)?;
    for Damaged { id, reason } in &moved.damaged {
        writeln!(out, "DAMAGED {}: {reason}; it stays as it is", printable(id))?;
    }
    if !moved.damaged.is_empty() {
        writeln!(out, "`colibri verify` lists all damage.")?;
    }
    Ok(())
}
