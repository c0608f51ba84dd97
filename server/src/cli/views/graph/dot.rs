//! The picture in the DOT language of Graphviz.

use super::{COLORS, label, remark};
use crate::domains::tasks::shown::graph::Graph;

pub(super) fn draw(graph: &Graph) -> String {
    let mut text = "digraph tasks {\n  rankdir=LR;\n".to_owned();
    text += "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontcolor=\"#000000\"];\n";
    for (place, node) in graph.nodes.iter().enumerate() {
        let (title, state) = label(node);
        let color = COLORS.into_iter().find(|(group, ..)| *group == node.group);
        let (_, fill, edge) = color.unwrap_or(COLORS[0]);
        text += &format!(
            "  t{place} [label=\"{}\\n{}\", fillcolor=\"{fill}\", color=\"{edge}\"];\n",
            escaped(&title),
            escaped(&state)
        );
    }
    for arrow in &graph.arrows {
        text += &format!("  t{} -> t{};\n", arrow.from, arrow.to);
    }
    if let Some(remark) = remark(graph) {
        text += &format!("  // {remark}\n");
    }
    text + "}\n"
}

/// Escapes quotes and backslashes. Graphviz also reads HTML's names of characters in a label, which begin with `&`.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_title_stays_inside_its_quotes() {
        for (title, written) in [
            ("Ship it", "Ship it"),
            ("a\"]; b", "a\\\"]; b"),
            ("ends with \\", "ends with \\\\"),
            ("\\N &lt;", "\\\\N &amp;lt;"),
        ] {
            assert_eq!(escaped(title), written);
        }
    }
}
