//! The page: its sections in reading order, and its figures. Pure.

use super::model::{Overview, Part};
use super::{calls, lists, tasks, verdict};
use crate::report::UNCHECKED;
use crate::report::frame;
use crate::report::html::Html;
use crate::report::verdict::limits;

const STYLE: &str = include_str!("style.css");

/// Renders the overview as an HTML document.
pub fn render(overview: &Overview) -> String {
    let mut html = Html::default();
    frame::open("Overview: ", &overview.database, STYLE, &mut html);
    verdict::heading(overview, &mut html);
    figures(overview, &mut html);
    section(&mut html, "calls", "Calls", &overview.calls, calls::bars);
    section(&mut html, "board", "Board", &overview.tasks, tasks::board);
    section(&mut html, "dependencies", "Dependencies", &overview.dependencies, tasks::dependencies);
    section(&mut html, "decisions", "Decisions", &overview.decisions, lists::decisions);
    section(&mut html, "sessions", "Sessions and seals", &overview.sessions, lists::sessions);
    section(&mut html, "standing", "Standing", &overview.standing, |domains, html| {
        lists::standing(domains, html);
    });
    html.element("<p class=\"note\">", UNCHECKED, "</p>\n");
    limits(&overview.judged, &mut html);
    frame::close(&overview.version, &overview.made_at, &mut html);
    html.finish()
}

fn section<T>(
    html: &mut Html,
    id: &'static str,
    title: &'static str,
    part: &Part<T>,
    write: impl FnOnce(&T, &mut Html),
) {
    html.tags("<section id=\"");
    html.tags(id);
    html.tags("\">\n<h2>");
    html.tags(title);
    html.tags("</h2>\n");
    match part {
        Ok(part) => write(part, html),
        Err(reason) => html.element("<p class=\"bad\">This part cannot be read: ", reason, "</p>\n"),
    }
    html.tags("</section>\n");
}

/// Writes the numbers that matter at a glance.
fn figures(overview: &Overview, html: &mut Html) {
    html.tags("<ul class=\"figures\">\n");
    if let Ok(tasks) = &overview.tasks {
        figure(html, "ready", tasks.ready, "ready");
        figure(html, "held", tasks.held, "held");
        figure(html, "blocked", tasks.blocked, "blocked");
        for column in &tasks.finished {
            let name = if column.state == "DONE" { "done" } else { "cancelled" };
            figure(html, "finished", column.count, name);
        }
    }
    if let Ok(calls) = &overview.calls {
        let total = calls.total.total();
        figure(html, "calls", total, if total == 1 { "call" } else { "calls" });
        figure(html, "refused", calls.total.refused, "failed or refused");
    }
    if let Ok(decisions) = &overview.decisions {
        let total = decisions.total;
        figure(html, "calls", total, if total == 1 { "decision" } else { "decisions" });
    }
    if let Ok(sessions) = &overview.sessions {
        let open = sessions.open;
        figure(html, "calls", open, if open == 1 { "open session" } else { "open sessions" });
    }
    html.tags("</ul>\n");
}

fn figure(html: &mut Html, style: &'static str, number: i64, name: &'static str) {
    html.tags("<li class=\"");
    html.tags(style);
    html.tags("\"><b>");
    html.number(number);
    html.tags("</b> ");
    html.tags(name);
    html.tags("</li>\n");
}
