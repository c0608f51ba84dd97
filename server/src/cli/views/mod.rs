//! What people look at: tasks, sessions, the order of events. Each view reads one snapshot and writes nothing.
//!
//! ```text
//! table     columns that fit the terminal
//! events    what happened to a task, in words
//! tasks, task, next, sessions, timeline      a view each
//! board     the tasks by their states
//! graph     which tasks wait for which, as a picture
//! overview  all of it on one HTML page
//! ```

mod board;
mod events;
mod graph;
mod next;
mod overview;
mod sessions;
mod table;
mod task;
mod tasks;
mod timeline;
mod wrapped;

use std::io::{BufWriter, Write};

use colibri_runtime::handler::Fault;

use super::Failure;
use super::arguments::views::{View, Views};
use super::database::open_for_reading;
use super::moments::Clock;
use super::output::{ToTheEnd, Visible};
use crate::settings::environment::Environment;
use colibri_store::db::Db;
pub use table::{Screen, Style, cut};

/// What a view reads from, and what it prints on.
struct Look {
    db: Db,
    clock: Clock,
    screen: Screen,
    json: bool,
}

impl Look {
    fn open(view: &View, env: &Environment, screen: Screen, err: &mut dyn Write) -> Result<Self, Failure> {
        let (clock, problem) = Clock::read(env, view.utc);
        if let Some(problem) = problem {
            // A closed stderr changes nothing about the view.
            let _ = writeln!(err, "colibri: {problem}");
        }
        Ok(Self { db: open_for_reading(env, view.database.db.as_deref())?, clock, screen, json: view.json })
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Failed(format!("the database cannot be read: {fault}; `colibri verify` says what is wrong"))
    }
}

/// Runs a view.
pub fn run(
    view: &Views,
    env: &Environment,
    screen: Screen,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(out);
    let mut open = |view: &View| Look::open(view, env, screen, &mut Visible(&mut *err));
    match view {
        Views::Tasks(arguments) => tasks::run(arguments, &open(&arguments.view)?, &mut out)?,
        Views::Task(arguments) => task::run(arguments, &open(&arguments.view)?, &mut out)?,
        Views::Next(arguments) => next::run(arguments, &open(&arguments.view)?, &mut out)?,
        Views::Sessions(arguments) => sessions::run(arguments, &open(&arguments.view)?, &mut out)?,
        Views::Timeline(arguments) => timeline::run(arguments, &open(&arguments.view)?, &mut out)?,
        Views::Board(arguments) => board::run(arguments, env, screen, &mut out, &mut Visible(err))?,
        Views::Graph(arguments) => graph::run(arguments, env, &mut out, &mut Visible(err))?,
        Views::Overview(arguments) => {
            overview::run(arguments, env, &mut ToTheEnd(&mut Visible(&mut out)), err)?;
        }
    }
    Ok(out.flush()?)
}
