//! The board, and the picture of dependencies. Pure.

use super::model::{Card, Column, Dependencies, Tasks};
use crate::report::html::Html;

/// Writes the open tasks by their states.
pub fn board(tasks: &Tasks, html: &mut Html) {
    html.tags("<div class=\"board\">\n");
    tasks.open.iter().for_each(|column| state(column, html));
    html.tags("</div>\n");
}

fn state(column: &Column, html: &mut Html) {
    html.tags(if column.count == 0 { "<div class=\"empty\">\n<h3>" } else { "<div>\n<h3>" });
    html.tags(column.state);
    html.tags(" <span class=\"number\">");
    html.number(column.count);
    html.tags("</span></h3>\n");
    if !column.cards.is_empty() {
        html.tags("<ol>\n");
        column.cards.iter().for_each(|task| card(task, html));
        html.tags("</ol>\n");
    }
    let more = column.count - column.cards.len() as i64;
    if more > 0 {
        html.tags("<p class=\"note\">and ");
        html.number(more);
        html.tags(" more</p>\n");
    }
    html.tags("</div>\n");
}

fn card(card: &Card, html: &mut Html) {
    html.tags("<li class=\"");
    html.tags(card.group);
    html.element("\">\n<p class=\"title\" dir=\"auto\">", &card.title, "</p>\n<p class=\"facts\">");
    html.code(&card.id);
    for fact in &card.facts {
        html.element(" <span dir=\"auto\">", fact, "</span>");
    }
    html.tags("</p>\n");
    html.element("<p class=\"obstacle\">", card.obstacle.as_deref().unwrap_or(card.group), "</p>\n</li>\n");
}

/// Writes the picture of the tasks that wait or are waited for.
pub fn dependencies(found: &Dependencies, html: &mut Html) {
    if found.drawn == 0 {
        html.tags("<p>No task waits for another one.</p>\n");
        return;
    }
    html.tags(
        "<p class=\"key\">An arrow leads to the task that waits: <span class=\"ready\">ready</span> \
         <span class=\"held\">held</span> <span class=\"blocked\">blocked</span> <span class=\"finished\">finished</span>",
    );
    html.tags("</p>\n<div class=\"wide\" tabindex=\"0\">\n");
    html.piece(&found.picture);
    html.tags("</div>\n");
    if found.left_out > 0 {
        html.tags("<p class=\"note\">");
        html.number(found.drawn as i64);
        html.tags(" tasks are drawn, ");
        html.number(found.left_out as i64);
        html.tags(" are left out. <code>colibri graph</code> draws what one task reaches.</p>\n");
    }
}
