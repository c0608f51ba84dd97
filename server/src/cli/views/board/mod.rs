//! `colibri board`: the tasks by their states.
//!
//! ```text
//! card     the lines of a task
//! once     the board as a text
//! ```

mod card;
mod once;
#[cfg(test)]
mod sample;

use std::io::{self, IsTerminal, Write};

use super::Look;
use crate::cli::Failure;
use crate::cli::arguments::views::Board;
use crate::cli::output::print_json;
use crate::domains::tasks::shown::Filter;
use crate::domains::tasks::shown::columns::columns;

pub(super) fn run(arguments: &Board, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    if !(arguments.once || look.json || io::stdout().is_terminal()) {
        let text = "the board needs a terminal; colibri board --once prints it";
        return Err(Failure::Usage(text.to_owned()));
    }
    let columns = columns(&look.db, &filter(arguments), look.clock.now_ms())?;
    if look.json {
        return Ok(print_json(out, &serde_json::json!({ "columns": columns }))?);
    }
    Ok(once::print(&columns, &look.clock, look.screen, out)?)
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
