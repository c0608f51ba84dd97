//! The thoughts in order, each with its link to its predecessor in the chain. Pure.

use std::collections::{HashMap, HashSet};

use super::UNCHECKED;
use super::html::Html;
use super::model::{Content, Report, Thought};
use colibri_canonical::HexDigest;

/// Writes all thoughts that the page holds.
pub fn section(report: &Report, html: &mut Html) {
    let thoughts = &report.thoughts;
    html.tags("<section id=\"thoughts\">\n<h2>Thoughts</h2>\n");
    if thoughts.shown.is_empty() {
        html.tags("<p>None yet.</p>\n</section>\n");
        return;
    }
    let places: HashMap<&str, i64> =
        thoughts.shown.iter().map(|thought| (thought.hash.as_str(), thought.position)).collect();
    let unfit: HashSet<&str> =
        report.verdict.issues.iter().filter_map(|issue| issue.record_id.as_deref()).collect();
    for note in &thoughts.notes {
        html.element("<p class=\"note\"><strong>", note, "</strong></p>\n");
    }
    html.element("<p class=\"note\">", UNCHECKED, "</p>\n<ol>\n");
    let mut next = 0;
    for thought in &thoughts.shown {
        if thought.position > next {
            left_out(next, thought.position, html);
        }
        let previous = places.get(thought.prev_hash.as_str()).copied();
        entry(thought, previous, unfit.contains(thought.id.as_str()), html);
        next = thought.position + 1;
    }
    html.tags("</ol>\n</section>\n");
}

fn left_out(from: i64, to: i64, html: &mut Html) {
    html.tags("<li class=\"gap\">Thoughts ");
    html.number(from);
    html.tags(" to ");
    html.number(to - 1);
    html.tags(" are left out of this page; <code>colibri export</code> has them all.</li>\n");
}

fn entry(thought: &Thought, previous: Option<i64>, unfit: bool, html: &mut Html) {
    html.tags(if unfit { "<li class=\"unfit\" id=\"t" } else { "<li id=\"t" });
    html.number(thought.position);
    html.tags("\">\n<div class=\"line\"><span class=\"number\">");
    html.number(thought.position);
    html.element("</span> <strong>", &thought.kind, "</strong> ");
    html.element("<span>by <span class=\"agent\">", &thought.who, "</span></span> ");
    html.element("<time>", &thought.timestamp, "</time></div>\n");
    if unfit {
        html.tags(
            "<p class=\"note bad\">A check of this record failed: <a href=\"#chains\">see why</a>.</p>\n",
        );
    }
    content(&thought.content, html);
    html.tags("<dl class=\"hashes\">\n<dt>Record</dt><dd>");
    html.code(&thought.id);
    html.tags("</dd>\n<dt>Task</dt><dd>");
    html.code(&thought.task_id);
    html.tags("</dd>\n<dt>Hash</dt><dd>");
    html.code(&thought.hash);
    html.tags("</dd>\n<dt>Follows</dt><dd>");
    follows(thought, previous, html);
    html.tags("</dd>\n</dl>\n</li>\n");
}

fn follows(thought: &Thought, previous: Option<i64>, html: &mut Html) {
    if thought.prev_hash == HexDigest::ZERO.as_str() {
        html.tags("nothing: the first record of its task");
        return;
    }
    html.code(&thought.prev_hash);
    match previous {
        Some(position) => {
            html.tags(" <a href=\"#t");
            html.number(position);
            html.tags("\">thought ");
            html.number(position);
            html.tags("</a>");
        }
        None => html.tags(" a record that this page does not show"),
    }
}

fn content(content: &Content, html: &mut Html) {
    match content {
        Content::Whole(text) => written(text, html),
        Content::Cut { beginning, bytes } => {
            written(beginning, html);
            html.tags("<p class=\"note\">Cut here; the whole content has ");
            html.number(*bytes as i64);
            html.tags(" bytes, and <code>colibri export</code> has it.</p>\n");
        }
        Content::Dropped { content_hash } => {
            html.tags("<p class=\"note\">The content was pruned by the retention policy. Its SHA-256 is ");
            html.code(content_hash);
            html.tags(".</p>\n");
        }
        Content::Lost => html.tags("<p class=\"note bad\">The content cannot be read: it is damaged.</p>\n"),
    }
}

fn written(text: &str, html: &mut Html) {
    // The line feed after the tag is not part of the content. Without it, the parser would drop a line feed at the
    // start of the content.
    html.tags("<pre dir=\"auto\">\n");
    html.lines(text);
    html.tags("</pre>\n");
}
