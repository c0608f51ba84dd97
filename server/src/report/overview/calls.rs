//! Calls by time, as bars: done below, failed or refused above. Pure.

use super::model::{Bar, Calls, Ends};
use crate::report::html::Html;

/// The units of the picture, which the page stretches: the width of a bar with its gap, the gap, and the height of the highest bar.
const BAR: i64 = 10;
const GAP: i64 = 2;
const HEIGHT: i64 = 1_000;
/// The least height of a part that is not empty.
const LEAST: i64 = 12;

/// Writes the sums and the bars.
pub fn bars(calls: &Calls, html: &mut Html) {
    let Ends { done, refused, unfinished } = calls.total;
    html.tags("<p class=\"key\">");
    for (style, count, name) in [
        ("done", done, "done"),
        ("refused", refused, "failed or refused"),
        ("unfinished", unfinished, "unfinished"),
    ] {
        if count == 0 && style == "unfinished" {
            continue;
        }
        html.tags("<span class=\"");
        html.tags(style);
        html.tags("\">");
        html.number(count);
        html.tags(" ");
        html.tags(name);
        html.tags("</span> ");
    }
    let most = calls.bars.iter().map(|bar| bar.calls.total()).max().unwrap_or(0);
    if most == 0 {
        html.tags("</p>\n<p>No call in this time.</p>\n");
        return;
    }
    html.element("A bar is ", &calls.step, "");
    html.tags("; the highest has ");
    html.number(most);
    html.tags(if most == 1 { " call.</p>\n" } else { " calls.</p>\n" });
    picture(&calls.bars, most, html);
    html.tags("<p class=\"axis note\">");
    for label in &calls.axis {
        html.element("<span>", label, "</span> ");
    }
    html.tags("</p>\n<p class=\"note\">A call is a row of the log, as <code>colibri log</code> and <code>colibri verify</code> count \
               them. By ");
    html.number(calls.callers);
    html.tags(" of them the server stored a new caller.</p>\n");
}

fn picture(bars: &[Bar], most: i64, html: &mut Html) {
    html.tags("<svg class=\"bars\" role=\"img\" aria-label=\"Calls by time\" preserveAspectRatio=\"none\" viewBox=\"0 0 ");
    html.number(bars.len() as i64 * BAR - GAP);
    html.tags(" ");
    html.number(HEIGHT);
    html.tags("\">\n");
    for (place, bar) in bars.iter().enumerate().filter(|(_, bar)| bar.calls.total() > 0) {
        let Ends { done, refused, unfinished } = bar.calls;
        html.element("<g><title>", &bar.from, ": ");
        html.number(done);
        html.tags(" done, ");
        html.number(refused);
        html.tags(" failed or refused");
        if unfinished > 0 {
            html.tags(", ");
            html.number(unfinished);
            html.tags(" unfinished");
        }
        html.tags("</title>");
        let above = height(refused, most) + height(unfinished, most);
        let below = if done > 0 { (height(bar.calls.total(), most) - above).max(LEAST) } else { 0 };
        let mut bottom = HEIGHT;
        for (style, height) in
            [("done", below), ("refused", height(refused, most)), ("unfinished", height(unfinished, most))]
        {
            let height = height.min(bottom);
            bottom -= height;
            if height > 0 {
                part(style, (place as i64 * BAR, bottom), height, html);
            }
        }
        html.tags("</g>\n");
    }
    html.tags("</svg>\n");
}

fn height(count: i64, most: i64) -> i64 {
    let height = i128::from(count) * i128::from(HEIGHT) / i128::from(most.max(1));
    let height = i64::try_from(height).unwrap_or(HEIGHT);
    if count > 0 { height.max(LEAST) } else { 0 }
}

fn part(style: &'static str, (x, y): (i64, i64), height: i64, html: &mut Html) {
    html.tags("<rect class=\"");
    html.tags(style);
    for (name, number) in
        [("\" x=\"", x), ("\" y=\"", y), ("\" width=\"", BAR - GAP), ("\" height=\"", height)]
    {
        html.tags(name);
        html.number(number);
    }
    html.tags("\"/>");
}
