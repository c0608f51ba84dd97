//! The first sections: the verdict, the session, its tasks, their chains. Pure.

use super::html::Html;
use super::model::{Issue, Report, Task, Verdict};
use super::verdict::banner;

/// Writes title and verdict.
pub fn heading(report: &Report, html: &mut Html) {
    html.tags("<header>\n<p class=\"kind\">Audit report of a session</p>\n");
    html.element("<h1 dir=\"auto\">", &report.session.intent, "</h1>\n");
    let good = match &report.seal {
        Some(_) => "<strong>Sound.</strong> Every hash, every link and the seal were recomputed and match.",
        None => {
            "<strong>Sound so far.</strong> Every hash and every link were recomputed and match. The session is open: no \
             seal covers it yet."
        }
    };
    banner(&report.database, good, html);
    html.tags("</header>\n");
}

/// Writes the session's own facts.
pub fn session(report: &Report, html: &mut Html) {
    let session = &report.session;
    html.tags("<section id=\"session\">\n<h2>Session</h2>\n<dl>\n<dt>Id</dt><dd>");
    html.code(&session.id);
    html.tags("</dd>\n<dt>State</dt><dd>");
    html.tags(if report.seal.is_some() { "sealed" } else { "open" });
    html.tags("</dd>\n<dt>Started</dt><dd>");
    html.text(&session.started_at);
    if let Some(seal) = &report.seal {
        html.element("</dd>\n<dt>Sealed</dt><dd>", &seal.finalized_at, "");
    }
    if let Some(task) = &session.task_id {
        html.tags("</dd>\n<dt>Opened for task</dt><dd>");
        html.code(task);
    }
    html.tags("</dd>\n<dt>Thoughts</dt><dd>");
    html.number(report.thoughts.total);
    html.tags("</dd>\n</dl>\n</section>\n");
}

/// Writes the tasks that the session touched.
pub fn tasks(tasks: &[Task], more: usize, html: &mut Html) {
    html.tags("<section id=\"tasks\">\n<h2>Tasks</h2>\n");
    if tasks.is_empty() {
        html.tags("<p>No thought has been recorded yet.</p>\n</section>\n");
        return;
    }
    html.tags(
        "<table>\n<thead><tr><th>Task</th><th>State</th><th>Thoughts here</th></tr></thead>\n<tbody>\n",
    );
    for task in tasks {
        html.tags("<tr><td data-name=\"Task\">");
        match &task.known {
            Some(known) => {
                html.element("<span dir=\"auto\">", &known.title, "</span><br>");
                html.code(&task.id);
                html.element("</td><td data-name=\"State\">", &known.state, "");
            }
            None => {
                html.code(&task.id);
                html.tags("</td><td data-name=\"State\">not a task of the pipeline");
            }
        }
        html.tags("</td><td data-name=\"Thoughts here\">");
        html.number(task.in_session);
        html.tags("</td></tr>\n");
    }
    html.tags("</tbody>\n</table>\n");
    html.tags("<p class=\"note\">States are the present ones; a seal does not cover them.");
    if more > 0 {
        html.tags(" Not shown here and below: ");
        html.number(more as i64);
        html.tags(" more tasks, whose chains were recomputed too.");
    }
    html.tags("</p>\n</section>\n");
}

/// Writes the result of recomputing the chains.
pub fn chains(report: &Report, html: &mut Html) {
    let Verdict { record_count, unverifiable_count, issues, broken_count, .. } = &report.verdict;
    html.tags("<section id=\"chains\">\n<h2>Chains</h2>\n<p>");
    html.number(*record_count);
    html.tags(if *record_count == 1 { " record was" } else { " records were" });
    html.tags(
        " recomputed: the whole chain of every task above, also where other sessions added to it. Each \
         record's hash covers its content and the hash of the record before it.</p>\n",
    );
    if *unverifiable_count > 0 {
        html.tags("<p class=\"note\">The content of ");
        html.number(*unverifiable_count);
        html.tags(
            " of them was pruned by the retention policy; only their links can be recomputed, not their own hashes.</p>\n",
        );
    }
    if !report.tasks.is_empty() {
        html.tags("<table>\n<thead><tr><th>Chain of task</th><th>Records</th><th>Verdict</th></tr></thead>\n<tbody>\n");
        for task in &report.tasks {
            html.tags("<tr><td data-name=\"Chain of task\">");
            html.code(&task.id);
            html.tags("</td><td data-name=\"Records\">");
            html.number(task.chain_length);
            html.tags("</td><td data-name=\"Verdict\">");
            if task.broken_count == 0 {
                html.tags("<span class=\"good\">sound</span>");
            } else {
                html.tags("<span class=\"bad\">");
                html.number(task.broken_count);
                html.tags(" broken</span>");
            }
            html.tags("</td></tr>\n");
        }
        html.tags("</tbody>\n</table>\n");
    }
    issue_list(issues, *broken_count, html);
    html.tags("</section>\n");
}

fn issue_list(issues: &[Issue], broken_count: i64, html: &mut Html) {
    if broken_count == 0 {
        return;
    }
    html.tags("<h3>Findings</h3>\n<ul class=\"issues\">\n");
    for issue in issues {
        html.element("<li><strong>", issue.code, "</strong>");
        let places = [("task", &issue.task_id), ("record", &issue.record_id)];
        for (name, id) in places {
            let Some(id) = id else { continue };
            html.tags(" ");
            html.text(name);
            html.tags(" ");
            html.code(id);
        }
        if let Some(index) = issue.index {
            html.tags(" at place ");
            html.number(index);
        }
        for (name, value) in &issue.sides {
            html.tags("<br>");
            html.text(name);
            html.tags(" ");
            html.code(value);
        }
        html.tags("</li>\n");
    }
    html.tags("</ul>\n<p class=\"note\">At most a hundred are listed; <code>colibri verify</code> examines everything.</p>\n");
}
