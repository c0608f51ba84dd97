//! The picture as an SVG image, without scripts and without links.

use super::layout::{Layout, Spot, layout};
use super::{label, name, remark};
use crate::cli::views::table::cut;
use crate::domains::tasks::shown::Node;
use crate::domains::tasks::shown::graph::{Arrow, Graph};
use crate::report::html::Html;

/// The size of a box.
const BOX: (i64, i64) = (230, 44);
/// The distance between the left edges of two columns, and between the upper edges of two rows.
const STEP: (i64, i64) = (310, 60);
/// The room around the picture.
const MARGIN: i64 = 20;
/// The height of the line below the boxes, and the width that it needs.
const REMARK: (i64, i64) = (270, 24);
/// How many columns of a fixed width a box shows of a title. Its tooltip has the whole title.
const SHOWN: usize = 26;

/// The colours in light and in dark. The image brings its own background, since it cannot know that of the page around it.
const STYLE: &str = "<style>\
    .page{fill:#ffffff}text{font:13px ui-monospace,monospace;fill:#111111}.state{font-size:11px;fill:#444444}\
    path{fill:none;stroke:#777777;stroke-width:1.3}\
    .ready rect{fill:#d9f2df;stroke:#1f7a3d}.held rect{fill:#fff1c2;stroke:#8a6100}\
    .blocked rect{fill:#fbdcd9;stroke:#b3261e}.finished rect{fill:#e8e8e8;stroke:#6b6b6b}\
    @media (prefers-color-scheme:dark){\
    .page{fill:#15181c}text{fill:#f0f0f0}.state{fill:#c4c4c4}path{stroke:#9a9a9a}\
    .ready rect{fill:#173d24;stroke:#62c283}.held rect{fill:#443507;stroke:#e0b43c}\
    .blocked rect{fill:#4d1a17;stroke:#f2857c}.finished rect{fill:#30343a;stroke:#8d8d8d}}\
    </style>\n";

/// Draws the picture as an image.
pub(super) fn draw(graph: &Graph) -> String {
    let mut svg = Html::default();
    svg.tags("<svg xmlns=\"http://www.w3.org/2000/svg\"");
    draw_inside(graph, STYLE, &mut svg);
    svg.finish()
}

/// Draws the picture as an element of a page, which brings the colours.
pub(in crate::cli::views) fn element(graph: &Graph) -> Html {
    let mut svg = Html::default();
    svg.tags("<svg class=\"tasks\"");
    draw_inside(graph, "", &mut svg);
    svg
}

fn draw_inside(graph: &Graph, style: &'static str, svg: &mut Html) {
    let layout = layout(graph);
    let remark = remark(graph);
    let (width, below) = (right_of(&layout), bottom_of(&layout));
    let (width, height) = match remark {
        Some(_) => (width.max(REMARK.0 + 2 * MARGIN), below + REMARK.1),
        None => (width, below),
    };
    svg.tags(" role=\"img\" aria-label=\"Which tasks wait for which\"");
    numbers(
        svg,
        [(" width=\"", width), ("\" height=\"", height), ("\" viewBox=\"0 0 ", width), (" ", height)],
    );
    svg.tags("\">\n");
    svg.tags(style);
    svg.tags("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    for arrow in &graph.arrows {
        draw_arrow(svg, *arrow, &layout);
    }
    for (node, spot) in graph.nodes.iter().zip(&layout.spots) {
        draw_node(svg, node, *spot);
    }
    if let Some(remark) = remark {
        numbers(svg, [("<text x=\"", MARGIN), ("\" y=\"", below + REMARK.1 / 2 - MARGIN / 2)]);
        svg.tags("\">");
        svg.value(&remark);
        svg.tags("</text>\n");
    }
    svg.tags("</svg>\n");
}

/// Returns where the picture ends, with its margin.
fn right_of(layout: &Layout) -> i64 {
    2 * MARGIN + (layout.columns as i64 * STEP.0 - (STEP.0 - BOX.0)).max(0)
}

fn bottom_of(layout: &Layout) -> i64 {
    2 * MARGIN + (layout.rows as i64 * STEP.1 - (STEP.1 - BOX.1)).max(0)
}

/// Returns the upper left corner of a box.
fn corner(spot: Spot) -> (i64, i64) {
    (MARGIN + spot.column as i64 * STEP.0, MARGIN + spot.row as i64 * STEP.1)
}

/// Draws a curve from the right edge of the prerequisite to the left edge of what waits, with its head. On the way past other columns it
/// runs between two rows, where no box hides it.
fn draw_arrow(svg: &mut Html, arrow: Arrow, layout: &Layout) {
    let (from, to) = (layout.spots[arrow.from], layout.spots[arrow.to]);
    let ((from_x, from_y), (to_x, to_y)) = (corner(from), corner(to));
    let (mut x, mut y, to_y) = (from_x + BOX.0, from_y + BOX.1 / 2, to_y + BOX.1 / 2);
    let gap = STEP.0 - BOX.0;
    numbers(svg, [("<path d=\"M", x), (" ", y)]);
    if to.column > from.column + 1 {
        let side = if to_y > y { STEP.1 / 2 } else { -STEP.1 / 2 };
        // Several arrows between the same rows stay apart.
        let lane = y + side + 3 * (arrow.to as i64 % 5 - 2);
        curve(svg, (x, y), (x + gap, lane));
        (x, y) = (to_x - gap, lane);
        numbers(svg, [("L", x), (" ", y)]);
    }
    curve(svg, (x, y), (to_x, to_y));
    numbers(svg, [("M", to_x - 7), (" ", to_y - 4), ("L", to_x), (" ", to_y)]);
    numbers(svg, [("L", to_x - 7), (" ", to_y + 4)]);
    svg.tags("\"/>\n");
}

/// Goes on to a point, level at both ends.
fn curve(svg: &mut Html, (x, y): (i64, i64), (to_x, to_y): (i64, i64)) {
    let bend = (STEP.0 - BOX.0) / 2;
    numbers(svg, [("C", x + bend), (" ", y), (" ", to_x - bend), (" ", to_y), (" ", to_x), (" ", to_y)]);
}

fn draw_node(svg: &mut Html, node: &Node, spot: Spot) {
    let (x, y) = corner(spot);
    let (title, state) = label(node);
    svg.tags("<g class=\"");
    svg.tags(name(node.group));
    svg.tags("\"><title>");
    write(svg, &title);
    numbers(
        svg,
        [("</title><rect x=\"", x), ("\" y=\"", y), ("\" width=\"", BOX.0), ("\" height=\"", BOX.1)],
    );
    numbers(svg, [("\" rx=\"6\"/><text x=\"", x + 10), ("\" y=\"", y + 19)]);
    svg.tags("\">");
    write(svg, &cut(&title, SHOWN));
    numbers(svg, [("</text><text class=\"state\" x=\"", x + 10), ("\" y=\"", y + 35)]);
    svg.tags("\">");
    write(svg, &state);
    svg.tags("</text></g>\n");
}

/// Writes numbers, each behind its markup.
fn numbers<const N: usize>(svg: &mut Html, parts: [(&'static str, i64); N]) {
    for (markup, number) in parts {
        svg.tags(markup);
        svg.number(number);
    }
}

/// Writes a stored text. XML forbids two characters that JSON allows.
fn write(svg: &mut Html, text: &str) {
    svg.value(&text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"));
}
