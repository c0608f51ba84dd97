//! A task as a card: its id and priority, its title, and who holds it or what it waits for.

use colibri_visible::printable;

use crate::cli::ids::short;
use crate::cli::moments::Clock;
use crate::cli::views::table::Style;
use crate::cli::views::tasks::{obstacle, style};
use crate::domains::tasks::shown::{Group, Shown};

/// Returns the lines of a card. The texts are printable.
pub(super) fn card(shown: &Shown, clock: &Clock) -> Vec<(String, Style)> {
    let task = &shown.task;
    let mut head = short(&task.id);
    if let Some(priority) = &task.priority {
        head.push_str("  ");
        head.push_str(&printable(priority));
    }
    let mut lines = vec![(head, style(shown.group)), (printable(&task.title).into_owned(), Style::Plain)];
    if matches!(shown.group, Group::Held | Group::Blocked) {
        let left = if shown.group == Group::Held { " left" } else { "" };
        let obstacle = format!("{}{left}", obstacle(shown, clock));
        lines.push((printable(&obstacle).into_owned(), Style::Dim));
    }
    lines
}
