//! Decisions, sessions and standing. Pure.

use super::model::{Decisions, Sessions, Standing};
use crate::report::html::Html;

/// The most characters of a decision on the page.
const MOST_SAID: usize = 2_000;

/// Writes the decisions of the period.
pub fn decisions(decisions: &Decisions, html: &mut Html) {
    for note in &decisions.notes {
        html.element("<p class=\"note\"><strong>", note, "</strong></p>\n");
    }
    if decisions.shown.is_empty() {
        html.tags("<p>No decision in this time.</p>\n");
        return;
    }
    html.tags("<ol>\n");
    for decision in &decisions.shown {
        html.element("<li>\n<div class=\"line\"><strong class=\"agent\">", &decision.who, "</strong> ");
        html.tags("<span>on ");
        html.code(&decision.task);
        if let Some(title) = &decision.title {
            html.element(" <span dir=\"auto\">", title, "</span>");
        }
        html.tags("</span> ");
        html.element("<time>", &decision.at, "</time></div>\n");
        match &decision.content {
            None => html.tags("<p class=\"note\">The content is pruned or damaged.</p>\n"),
            Some(content) => said(content, html),
        }
        html.tags("</li>\n");
    }
    html.tags("</ol>\n");
    let more = decisions.total - decisions.shown.len() as i64;
    if more > 0 {
        html.tags("<p class=\"note\">and ");
        html.number(more);
        html.tags(" earlier ones; <code>colibri timeline</code> has them all.</p>\n");
    }
}

fn said(content: &str, html: &mut Html) {
    html.tags("<p class=\"said\" dir=\"auto\">");
    match content.char_indices().nth(MOST_SAID) {
        None => html.lines(content.trim()),
        Some((end, _)) => {
            html.lines(content[..end].trim());
            html.tags("…");
        }
    }
    html.tags("</p>\n");
}

/// Writes the newest sessions with their seals.
pub fn sessions(sessions: &Sessions, html: &mut Html) {
    if sessions.shown.is_empty() {
        html.tags("<p>No session was started yet.</p>\n");
        return;
    }
    html.tags("<table>\n<thead><tr>");
    for name in ["Session", "Intent", "State", "Records", "Started", "Task", "Seal"] {
        html.element("<th>", name, "</th>");
    }
    html.tags("</tr></thead>\n<tbody>\n");
    for session in &sessions.shown {
        html.tags("<tr><td data-name=\"Session\">");
        html.code(&session.id);
        html.element("</td><td data-name=\"Intent\" dir=\"auto\">", &session.intent, "</td>");
        html.tags(if session.state == "open" {
            "<td data-name=\"State\" class=\"is-open\">"
        } else {
            "<td data-name=\"State\" class=\"good\">"
        });
        html.tags(session.state);
        html.element("</td><td data-name=\"Records\">", &session.records, "</td>");
        html.element("<td data-name=\"Started\">", &session.started, "</td><td data-name=\"Task\">");
        html.code(&session.task);
        html.tags("</td><td data-name=\"Seal\">");
        html.code(&session.seal);
        html.tags("</td></tr>\n");
    }
    html.tags("</tbody>\n</table>\n");
    if sessions.more {
        html.tags(
            "<p class=\"note\">Older sessions are left out; <code>colibri sessions</code> lists them.</p>\n",
        );
    }
}

/// Writes the best nodes of each domain.
pub fn standing(domains: &[Standing], html: &mut Html) {
    if domains.is_empty() {
        html.tags("<p>No node has a standing yet.</p>\n");
        return;
    }
    html.tags("<p class=\"note\">Scores of 10000 at most, after decay.</p>\n<div class=\"domains\">\n");
    for Standing { domain, nodes } in domains {
        html.tags("<div>\n<h3>");
        html.tags(domain);
        html.tags("</h3>\n<ol>\n");
        for node in nodes {
            html.element("<li><span class=\"agent\">", &node.id, "</span> ");
            if node.banned {
                html.tags("<span class=\"bad\">banned</span> ");
            }
            html.tags("<b>");
            html.number(node.score);
            html.tags("</b></li>\n");
        }
        html.tags("</ol>\n</div>\n");
    }
    html.tags("</div>\n");
}
