//! `colibri board`: the tasks by their states.
//!
//! ```text
//! card      the lines of a task
//! widths    how wide columns are
//! once      the board as a text
//! live      the board in a terminal: the loop
//!   |- reader     reads the database in a thread
//!   |- keys       reads what is pressed, in another thread
//!   |- state      what is shown, and what each key does
//!   |- draw       how it looks
//!   '- terminal   taken, and given back on every way out
//! ```

mod card;
mod draw;
mod keys;
mod live;
mod once;
mod reader;
#[cfg(test)]
mod sample;
mod state;
mod terminal;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod widths;

use std::io::Write;

use super::tasks::print_nothing;
use super::{Look, Screen};
use crate::cli::Failure;
use crate::cli::arguments::views::Board;
use crate::cli::output::{print_json, text_only};
use crate::cli::source::Source;
use crate::domains::tasks::shown::Filter;
use crate::domains::tasks::shown::columns::columns;
use crate::settings::environment::Environment;
use reader::Wanted;

pub(super) fn run(
    arguments: &Board,
    env: &Environment,
    screen: Screen,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    if !(arguments.once || arguments.view.json) {
        if !terminal::is_there() {
            let text = "the board needs a terminal; colibri board --once prints it";
            return Err(Failure::Usage(text.to_owned()));
        }
        if let Some(reason) = text_only(env) {
            let text =
                format!("this terminal can show text only ({reason}); colibri board --once prints the board");
            return Err(Failure::Usage(text));
        }
    }
    let filter = filter(arguments);
    // A database that cannot be read is said before the terminal is taken.
    let look = Look::open(&arguments.view, env, screen, err)?;
    if !(arguments.once || look.json) {
        let clock = look.clock.clone();
        drop(look);
        let source = Source::of(env, arguments.view.database.db.as_deref())?;
        let wanted = Wanted { filter, task: None, names: None };
        return live::run(source, wanted, clock, screen.color);
    }
    let columns = columns(&look.db, &filter, look.clock.now_ms())?;
    if look.json {
        return Ok(print_json(out, &serde_json::json!({ "columns": columns }))?);
    }
    once::print(&columns, &look.clock, look.screen, out)?;
    if columns.iter().all(|column| column.count == 0) {
        print_nothing(&filter, &look, out)?;
    }
    Ok(())
}

fn filter(arguments: &Board) -> Filter {
    Filter {
        all: arguments.all,
        project: arguments.project.clone(),
        assignee: arguments.assignee.clone(),
        limit: arguments.limit as usize,
        ..Filter::default()
    }
}
