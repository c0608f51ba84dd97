//! The heading: what the page is about, and what a verification of the same moment found. Pure.

use super::model::{Kind, Overview, Verdict};
use crate::report::html::Html;

/// Writes title, verdict and period.
pub fn heading(overview: &Overview, html: &mut Html) {
    html.tags("<header>\n<p class=\"kind\">Overview of a database</p>\n");
    html.element("<h1 dir=\"auto\">", &overview.database, "</h1>\n");
    match &overview.verdict {
        Verdict::Sound => html.tags(
            "<p class=\"verdict good\"><strong>Sound.</strong> Every hash, link, seal and tie of this database was \
             recomputed and matches.</p>\n",
        ),
        Verdict::Unknown => html.tags(
            "<p class=\"verdict\"><strong>Not verified.</strong> The database may have been changed: \
             <code>colibri verify</code> recomputes it.</p>\n",
        ),
        Verdict::Broken { count, kinds } => broken(*count, kinds, html),
    }
    html.element("<p class=\"note\">Calls and decisions since ", &overview.since, "");
    html.element("; everything else as of ", &overview.made_at, "");
    html.element(". Times: ", &overview.zone, ".</p>\n</header>\n");
}

fn broken(count: u64, kinds: &[Kind], html: &mut Html) {
    html.tags("<div class=\"verdict bad\">\n<p><strong>Not sound: ");
    html.number(i64::try_from(count).unwrap_or(i64::MAX));
    html.tags(if count == 1 { " finding.</strong>" } else { " findings.</strong>" });
    html.tags(
        " This page shows what the database says now, which is not what was recorded. Keep a copy of the database as \
         evidence.</p>\n<ul class=\"issues\">\n",
    );
    for kind in kinds {
        html.element("<li><strong>", &kind.name, "</strong>");
        if kind.count > 1 {
            html.tags(" (");
            html.number(i64::try_from(kind.count).unwrap_or(i64::MAX));
            html.tags(", the first is shown)");
        }
        html.element(": ", &kind.message, "<br>");
        html.code(&kind.subject);
        html.tags("</li>\n");
    }
    html.tags("</ul>\n</div>\n");
}
