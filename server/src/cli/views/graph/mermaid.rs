//! The picture as a Mermaid flowchart.

use super::{COLORS, label, name, remark};
use crate::domains::tasks::shown::graph::Graph;

pub(super) fn draw(graph: &Graph) -> String {
    let mut text = "flowchart LR\n".to_owned();
    for (place, node) in graph.nodes.iter().enumerate() {
        let (title, state) = label(node);
        text += &format!("  t{place}[\"{}<br/>{}\"]\n", escaped(&title), escaped(&state));
    }
    for arrow in &graph.arrows {
        text += &format!("  t{} --> t{}\n", arrow.from, arrow.to);
    }
    for (group, fill, edge) in COLORS {
        let places = graph.nodes.iter().enumerate().filter(|(_, node)| node.group == group);
        let members: Vec<String> = places.map(|(place, _)| format!("t{place}")).collect();
        if !members.is_empty() {
            let name = name(group);
            text += &format!("  classDef {name} fill:{fill},stroke:{edge},color:#000000\n");
            text += &format!("  class {} {name}\n", members.join(","));
        }
    }
    if let Some(remark) = remark(graph) {
        text += &format!("  %% {remark}\n");
    }
    text
}

/// Writes every sign that may mean something to Mermaid, or to the HTML that it makes, as the number of its character: `#35;`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ' ' | ',' | '.' | '-' | '_' => out.push(character),
            _ if character.is_ascii_alphanumeric() || !character.is_ascii() => out.push(character),
            _ => out += &format!("#{};", u32::from(character)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_title_means_nothing_to_mermaid() {
        for (title, written) in [
            ("Ship it, v1.2 - now", "Ship it, v1.2 - now"),
            ("a\"] --> b", "a#34;#93; --#62; b"),
            ("#35; & `x`", "#35;35#59; #38; #96;x#96;"),
            ("<b>日本</b>", "#60;b#62;日本#60;#47;b#62;"),
        ] {
            assert_eq!(escaped(title), written);
        }
    }
}
