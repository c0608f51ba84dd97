//! The heading: what the page is about, and the verdict. Pure.

use super::model::Overview;
use crate::report::html::Html;
use crate::report::verdict::banner;

const GOOD: &str =
    "<strong>Sound.</strong> Every hash, link, seal and tie of this database was recomputed and matches.";

/// Writes title, verdict and period.
pub fn heading(overview: &Overview, html: &mut Html) {
    html.tags("<header>\n<p class=\"kind\">Overview of a database</p>\n");
    html.element("<h1 dir=\"auto\">", &overview.database, "</h1>\n");
    banner(&overview.judged, GOOD, html);
    html.element("<p class=\"note\">Calls and decisions since ", &overview.since, "");
    html.element("; everything else as of ", &overview.made_at, "");
    html.element(". Times: ", &overview.zone, ".</p>\n</header>\n");
}
