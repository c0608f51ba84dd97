//! What a verification of the same moment found, in the same words on each page; how to check it, and what it does not prove. Pure.

use super::html::Html;
use crate::verification::finding::Found;
use crate::verification::judgement::{Judgement, NOT_PROVEN};
use colibri_proof::Verdict;

/// Writes the banner. `good` is what a sound database means on this page.
pub fn banner(judged: &Judgement, good: &'static str, html: &mut Html) {
    match judged.verdict {
        Some(Verdict::Holds) => {
            html.tags("<p class=\"verdict good\">");
            html.tags(good);
            html.tags("</p>\n");
        }
        Some(Verdict::Unconfirmed) => {
            html.tags(
                "<p class=\"verdict\"><strong>Holds, but only by a key that you did not give.</strong> Every hash, link, \
                 seal and tie of this database was recomputed and matches. ",
            );
            html.text(&judged.unknown_key().unwrap_or_default());
            html.tags("</p>\n");
        }
        None => html.tags(
            "<p class=\"verdict\"><strong>Not verified.</strong> The database may have been changed: \
             <code>colibri verify</code> recomputes it.</p>\n",
        ),
        Some(Verdict::Fails) => broken(judged, html),
    }
    if !judged.warnings.is_empty() {
        html.tags("<div class=\"verdict\">\n<p><strong>To be noticed:</strong></p>\n");
        issues(&judged.warnings, html);
        html.tags("</div>\n");
    }
}

fn broken(judged: &Judgement, html: &mut Html) {
    let count = judged.count();
    html.tags("<div class=\"verdict bad\">\n<p><strong>Not sound: ");
    html.number(i64::try_from(count).unwrap_or(i64::MAX));
    html.tags(if count == 1 { " finding.</strong>" } else { " findings.</strong>" });
    html.tags(
        " This page shows what the database says now, which is not what was recorded. Keep a copy of the database as \
         evidence.</p>\n",
    );
    issues(&judged.findings, html);
    html.tags("</div>\n");
}

/// Lists the first of each kind.
fn issues(kinds: &[Found], html: &mut Html) {
    html.tags("<ul class=\"issues\">\n");
    for Found { count, first } in kinds {
        html.element("<li><strong>", first.check, " ");
        html.element("", first.code, "</strong>");
        if *count > 1 {
            html.tags(" (");
            html.number(i64::try_from(*count).unwrap_or(i64::MAX));
            html.tags(", the first is shown)");
        }
        html.element(": ", &first.message, "<br>");
        html.code(&first.subject);
        html.tags("</li>\n");
    }
    html.tags("</ul>\n");
}

/// Writes the values to compare with ones that were kept elsewhere, and what no page proves.
pub fn limits(judged: &Judgement, html: &mut Html) {
    html.tags("<section id=\"limits\">\n<h2>What this page does not prove</h2>\n<ul>\n");
    for text in NOT_PROVEN {
        html.element("<li>", text, "</li>\n");
    }
    html.tags(
        "<li>This page is a view. Anyone who can write it can write anything into it: trust <code>colibri verify --key \
         PUBLIC-KEY</code> on the database instead, with a key from its owner.</li>\n</ul>\n",
    );
    if judged.log.is_some() || judged.last_head().is_some() {
        html.tags("<p>Compare these values with ones that were kept where no writer of the database can change them:</p>\n<dl>");
    } else {
        html.tags("</section>\n");
        return;
    }
    if let Some((index, hash)) = judged.last_head() {
        html.tags("\n<dt>Last tree head, number ");
        html.number(index);
        html.tags("</dt><dd>");
        html.code(hash);
        if let Some(signatures) = judged.signatures() {
            html.element("<br><span class=\"note\">", &signatures, "</span>");
        }
        html.tags("</dd>");
    }
    if let Some(end) = &judged.log {
        html.tags("\n<dt>End of the log, ");
        html.number(end.last_exit_no);
        html.tags(" closed calls</dt><dd>");
        html.code(end.last_row_hash.as_str());
        html.tags("</dd>");
    }
    html.tags("\n</dl>\n</section>\n");
}
