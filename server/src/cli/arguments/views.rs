//! The arguments of the views.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::audit::Database;
use crate::catalogue::TaskStatus;

/// What people look at.
#[derive(Debug, Subcommand, PartialEq, Eq)]
pub enum Views {
    /// List the tasks, most urgent first: who holds them, and what they wait for
    Tasks(Tasks),
    /// Show a task with its dependencies, sessions, history and thoughts
    Task(Task),
    /// Show what to do next, and what keeps the other tasks
    Next(Next),
    /// List the audit sessions and their seals, newest first
    Sessions(Sessions),
    /// Tell what was done and who did it, in the order of the calls
    Timeline(Timeline),
    /// Show the tasks by their states in the terminal, and follow what changes
    Board(Board),
    /// Draw which tasks wait for which, as Mermaid, DOT or SVG
    Graph(Graph),
    /// Write tasks, calls, decisions and sessions as one HTML page; exit 1 if the database is not sound
    Overview(Box<Overview>),
}

/// What all views take.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct View {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Print one JSON document, with whole ids and UTC times
    #[arg(long)]
    pub json: bool,
    /// Print and read times in UTC
    #[arg(long)]
    pub utc: bool,
}

/// Of `colibri tasks`.
#[derive(Debug, Args, PartialEq, Eq)]
#[group(skip)]
pub struct Tasks {
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// Only tasks that are free and wait for nothing
    #[arg(long, group = "which")]
    pub ready: bool,
    /// Only tasks that an agent holds
    #[arg(long, group = "which")]
    pub held: bool,
    /// Only free tasks that wait for another one
    #[arg(long, group = "which")]
    pub blocked: bool,
    /// Finished tasks, too
    #[arg(long, group = "which")]
    pub all: bool,
    /// Only tasks in this state; may be repeated
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(STATES), ignore_case = true)]
    pub status: Vec<String>,
    /// Only tasks of this project
    #[arg(long, value_name = "ID")]
    pub project: Option<String>,
    /// Only tasks of this assignee
    #[arg(long, value_name = "NAME")]
    pub assignee: Option<String>,
    /// Only tasks with this text in their title or description, in any case
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// At most N tasks
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// Of `colibri task`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Task {
    /// The task's id, or at least 4 characters of it that no other id has
    pub id: String,
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// The whole history and all thoughts; by default the newest 20
    #[arg(long)]
    pub all: bool,
}

/// Of `colibri next`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Next {
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// Only tasks of this project
    #[arg(long, value_name = "ID")]
    pub project: Option<String>,
    /// Only tasks of this assignee
    #[arg(long, value_name = "NAME")]
    pub assignee: Option<String>,
    /// At most N tasks
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// Of `colibri sessions`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Sessions {
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// Only sessions that take records
    #[arg(long, conflicts_with = "sealed")]
    pub open: bool,
    /// Only sealed sessions
    #[arg(long)]
    pub sealed: bool,
    /// Only sessions that were started for this task: its id, or at least 4 characters of it
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// At most N sessions, the newest
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// Of `colibri timeline`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Timeline {
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// From this time on: 2h, today, yesterday 14:00, 2026-11-01
    #[arg(long, value_name = "TIME", default_value = "today")]
    pub since: String,
    /// Up to this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only calls about this task: its id, or at least 4 characters of it
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Only calls of this actor, client, agent or wrapped server
    #[arg(long, value_name = "NAME")]
    pub who: Option<String>,
    /// Reads and renewed claims, too
    #[arg(long)]
    pub all: bool,
}

/// Of `colibri board`.
#[derive(Debug, Args, PartialEq, Eq)]
#[command(
    after_help = "Keys: arrows or h j k l select a task, and Enter shows it. / finds a text, p and a choose a project or an\n\
                  assignee, b shows blocked tasks only, d finished ones, too. ? lists all keys, q ends the board."
)]
pub struct Board {
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// Print the board and end
    #[arg(long)]
    pub once: bool,
    /// Finished tasks, too
    #[arg(long)]
    pub all: bool,
    /// Only tasks of this project
    #[arg(long, value_name = "ID")]
    pub project: Option<String>,
    /// Only tasks of this assignee
    #[arg(long, value_name = "NAME")]
    pub assignee: Option<String>,
    /// At most N tasks of each state
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// Of `colibri graph`.
#[derive(Debug, Args, PartialEq, Eq)]
#[group(skip)]
pub struct Graph {
    /// Only what this task needs and what waits for it, however far: its id, or at least 4 characters of it
    pub id: Option<String>,
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// As a Mermaid flowchart; this is the default
    #[arg(long, group = "form", conflicts_with = "json")]
    pub mermaid: bool,
    /// As a graph in the DOT language of Graphviz
    #[arg(long, group = "form", conflicts_with = "json")]
    pub dot: bool,
    /// As an SVG image
    #[arg(long, group = "form", conflicts_with = "json")]
    pub svg: bool,
    /// Finished tasks, too; by default only those that a shown task waited for
    #[arg(long)]
    pub all: bool,
    /// Write to this new file; by default to stdout
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Of `colibri overview`.
#[derive(Debug, Args, PartialEq, Eq)]
#[command(
    after_help = "The page needs no other file, runs nothing and loads nothing. The database is verified as `colibri verify`\n\
                  does it, at the same moment, and the exit codes are the same."
)]
pub struct Overview {
    /// What all views take.
    #[command(flatten)]
    pub view: View,
    /// The new file to write the page to
    #[arg(long, value_name = "FILE")]
    pub html: PathBuf,
    /// Calls and decisions from this time on: 2h, today, yesterday 14:00, 2026-11-01
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub since: String,
    /// A public key that you trust, as for `colibri verify`; may be repeated
    #[arg(long = "key", value_name = "FILE|HEX", conflicts_with = "no_verify")]
    pub keys: Vec<String>,
    /// Do not verify the database; the page says so
    #[arg(long)]
    pub no_verify: bool,
    /// Show progress on stderr, even if stderr is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// The states of tasks, in the order of the pipeline.
const STATES: [&str; 8] = [
    TaskStatus::Init.as_str(),
    TaskStatus::Gather.as_str(),
    TaskStatus::Analyze.as_str(),
    TaskStatus::Plan.as_str(),
    TaskStatus::Apply.as_str(),
    TaskStatus::Verify.as_str(),
    TaskStatus::Done.as_str(),
    TaskStatus::Cancelled.as_str(),
];
