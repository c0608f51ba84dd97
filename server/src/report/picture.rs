//! The tree as an inline SVG: the root on the left, the leaves on the right, one row a leaf. Pure.

use super::html::Html;
use super::tree::FoldedTree;
use colibri_canonical::HexDigest;
use colibri_proof::tree::rfc9162::Hash;

/// The distances between levels and between leaves.
const COLUMN: i64 = 104;
const ROW: i64 = 26;
/// A node's box.
const BOX: (i64, i64) = (76, 20);
/// Room for the text beside a leaf.
const LABEL: i64 = 120;
/// The characters of a hash in a box; the box's title has all of them.
const SHOWN: usize = 8;

/// A drawn node: its left edge and its middle.
#[derive(Clone, Copy)]
struct Place {
    x: i64,
    y: i64,
}

/// Draws the tree. A leaf links to the element that `#t<leaf>` names.
pub fn draw(tree: &FoldedTree, html: &mut Html) {
    let columns = tree.levels.len() as i64;
    let units = tree.units();
    let (width, height) = ((columns - 1) * COLUMN + BOX.0 + LABEL, units as i64 * ROW + 2);
    html.tags("<svg role=\"img\" aria-label=\"The Merkle tree\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    size(html, width, " ");
    size(html, height, "\" width=\"");
    size(html, width, "\" height=\"");
    size(html, height, "\">\n");
    let mut places: Vec<Place> = (0..units)
        .map(|row| Place { x: (columns - 1) * COLUMN, y: row as i64 * ROW + ROW / 2 + 1 })
        .collect();
    for (level, hashes) in tree.levels.iter().enumerate() {
        if level > 0 {
            places = parents(&places, (columns - 1 - level as i64) * COLUMN, html);
        }
        // A lone node that moved up was already drawn in its own level.
        let moved = level > 0 && tree.levels[level - 1].len() % 2 == 1;
        let new = hashes.len() - usize::from(moved);
        for (place, hash) in places.iter().zip(hashes).take(new) {
            node(html, *place, hash, level + 1 == tree.levels.len());
        }
        if level == 0 {
            for (unit, place) in places.iter().enumerate() {
                label(html, *place, tree.leaves_of(unit), tree.block == 1);
            }
        }
    }
    html.tags("</svg>\n");
}

fn size(html: &mut Html, number: i64, after: &'static str) {
    html.number(number);
    html.tags(after);
}

/// Returns the places of the next level's nodes, and draws the lines to their children.
fn parents(children: &[Place], x: i64, html: &mut Html) -> Vec<Place> {
    let place = |pair: &[Place]| match pair {
        [upper, lower] => {
            let place = Place { x, y: (upper.y + lower.y) / 2 };
            line(html, place, *upper);
            line(html, place, *lower);
            place
        }
        lone => lone[0],
    };
    children.chunks(2).map(place).collect()
}

fn line(html: &mut Html, from: Place, to: Place) {
    html.tags("<path d=\"M");
    size(html, from.x + BOX.0, " ");
    size(html, from.y, " H");
    size(html, from.x + (COLUMN + BOX.0) / 2, " V");
    size(html, to.y, " H");
    size(html, to.x, "\"/>\n");
}

fn node(html: &mut Html, place: Place, hash: &Hash, root: bool) {
    let hash = HexDigest::from_raw(hash);
    let hash = hash.as_str();
    html.tags(if root { "<g class=\"root\"><title>" } else { "<g><title>" });
    html.text(hash);
    html.tags("</title><rect rx=\"4\" x=\"");
    size(html, place.x, "\" y=\"");
    size(html, place.y - BOX.1 / 2, "\" width=\"");
    size(html, BOX.0, "\" height=\"");
    size(html, BOX.1, "\"/><text text-anchor=\"middle\" x=\"");
    size(html, place.x + BOX.0 / 2, "\" y=\"");
    size(html, place.y + 4, "\">");
    html.text(hash.get(..SHOWN).unwrap_or(hash));
    html.tags("</text></g>\n");
}

/// Draws the number beside a leaf, with a link to its thought, or the range of a block.
fn label(html: &mut Html, place: Place, (first, last): (u64, u64), leaf: bool) {
    if leaf {
        html.tags("<a href=\"#t");
        html.number(first as i64);
        html.tags("\">");
    }
    html.tags("<text class=\"label\" x=\"");
    size(html, place.x + BOX.0 + 8, "\" y=\"");
    size(html, place.y + 4, "\">");
    if first == last {
        html.tags("leaf ");
        html.number(first as i64);
    } else {
        html.number(first as i64);
        html.tags(" to ");
        html.number(last as i64);
    }
    html.tags(if leaf { "</text></a>\n" } else { "</text>\n" });
}
