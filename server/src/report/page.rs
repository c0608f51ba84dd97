//! A session's page: its sections in reading order. Pure.

use super::frame;
use super::html::Html;
use super::model::Report;
use super::verdict::limits;
use super::{facts, foreign, picture, seal, thoughts};

/// Renders the report as an HTML document.
pub fn render(report: &Report) -> String {
    let mut html = Html::default();
    frame::open("Audit report: ", &report.session.intent, "", &mut html);
    facts::heading(report, &mut html);
    facts::session(report, &mut html);
    facts::tasks(&report.tasks, report.more_tasks, &mut html);
    thoughts::section(report, &mut html);
    foreign::section(&report.calls, report.seal.is_some(), &mut html);
    facts::chains(report, &mut html);
    if let Some(sealed) = &report.seal {
        tree(sealed, &mut html);
    }
    seal::section(report, &mut html);
    seal::steps(report, &mut html);
    limits(&report.database, &mut html);
    frame::close(&report.version, &report.made_at, &mut html);
    html.finish()
}

fn tree(sealed: &super::model::Seal, html: &mut Html) {
    html.tags("<section id=\"tree\">\n<h2>Merkle tree</h2>\n<p>The tree of RFC 9162 over this session's ");
    html.number(sealed.record_count);
    html.tags(
        " thoughts in their order. Its root is on the left; each box shows the beginning of its hash, and the whole \
         of it to a pointer that rests on the box.",
    );
    if sealed.tree.block > 1 {
        html.tags(" <strong>The picture is folded:</strong> each box of the last column stands for ");
        html.number(sealed.tree.block as i64);
        html.tags(" leaves, the lowest for ");
        let (first, last) = sealed.tree.leaves_of(sealed.tree.units().saturating_sub(1));
        html.number((last - first + 1) as i64);
        html.tags(". Their hashes are nodes of the real tree.");
    }
    html.tags("</p>\n");
    if sealed.tree.root_hex().as_deref() != Some(sealed.head.root_hash.as_str()) {
        html.tags("<p class=\"bad\">This is the tree over the present thoughts: its root is not the sealed one.</p>\n");
    }
    html.tags("<div class=\"wide\" tabindex=\"0\">\n");
    picture::draw(&sealed.tree, html);
    html.tags("</div>\n</section>\n");
}
