//! The session's calls to other servers. Pure.

use super::html::Html;
use super::model::{ForeignCalls, ForeignTool};

/// Writes the section; nothing where no run of `colibri wrap` had to do with the session.
pub fn section(calls: &ForeignCalls, sealed: bool, html: &mut Html) {
    if calls.tools.is_empty() && calls.later.is_empty() && calls.others == 0 {
        return;
    }
    html.tags("<section id=\"calls\">\n<h2>Calls to other servers</h2>\n");
    if !calls.tools.is_empty() {
        table(&calls.tools, html);
    } else if calls.later.is_empty() {
        html.tags("<p>No run of <code>colibri wrap</code> named this session.</p>\n");
    } else {
        html.tags("<p>No call of this session's runs had ended when it was sealed.</p>\n");
    }
    html.tags("<p class=\"note\">While the session was open, other runs made ");
    html.number(calls.others);
    html.tags(if calls.others == 1 { " call" } else { " calls" });
    html.tags(" to other servers. ");
    html.tags(match sealed {
        true => "The seal commits to the log up to then, and so to all of these calls.</p>\n",
        false => {
            "A seal will commit to the log up to then, and so to all of these calls that have ended.</p>\n"
        }
    });
    if !calls.later.is_empty() {
        html.tags("<h3>After the seal</h3>\n");
        table(&calls.later, html);
        html.tags("<p class=\"note\">These calls ended after the seal, or run still. It does not commit to them.</p>\n");
    }
    if !calls.pins.is_empty() {
        html.tags("<dl>");
        for (server, state) in &calls.pins {
            html.element("\n<dt>Tools of ", server, "</dt>");
            html.element("<dd>", state, "</dd>");
        }
        html.tags("\n</dl>\n");
    }
    html.tags("</section>\n");
}

fn table(tools: &[ForeignTool], html: &mut Html) {
    html.tags(
        "<table>\n<thead><tr><th>Server</th><th>Tool</th><th>Done</th><th>Failed</th><th>Refused</th><th>Unfinished</th></tr></thead>\n\
         <tbody>\n",
    );
    for tool in tools {
        html.tags("<tr><td data-name=\"Server\">");
        html.code(&tool.server);
        html.tags("</td><td data-name=\"Tool\">");
        html.code(&tool.tool);
        let counts = [
            ("Done", tool.ok),
            ("Failed", tool.failed),
            ("Refused", tool.refused),
            ("Unfinished", tool.unfinished),
        ];
        for (name, count) in counts {
            html.tags("</td><td data-name=\"");
            html.tags(name);
            html.tags("\">");
            html.number(count);
        }
        html.tags("</td></tr>\n");
    }
    html.tags("</tbody>\n</table>\n");
}
