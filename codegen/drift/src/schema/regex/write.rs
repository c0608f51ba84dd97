//! Writes the portable dialect in the syntax of the automata: literals, classes, groups, alternation, counts and anchors.
//!
//! Leaves out what only other engines match (look-around, back references), boundaries of words, properties (`\p`), and what only
//! the old mode allows.

use std::fmt::Write as _;

use colibri_pattern::{Class, Node, parse};

/// Greater counts are refused; they make automata too large anyway.
const MAX_COUNT: u32 = 10_000;

/// Translates the pattern to the syntax of `regex-syntax`; `None` outside the dialect.
pub(super) fn translate(pattern: &str) -> Option<String> {
    // Engines differ in the version of Unicode.
    if pattern.contains("\\p") || pattern.contains("\\P") {
        return None;
    }
    let mut out = String::with_capacity(pattern.len() * 4);
    write(&parse(pattern).ok()?, &mut out)?;
    Some(out)
}

fn write(node: &Node, out: &mut String) -> Option<()> {
    match node {
        Node::Class(class) => write_class(class, out),
        Node::Start => out.push_str("\\A"),
        Node::End => out.push_str("\\z"),
        Node::Boundary(_) => return None,
        Node::Sequence(nodes) => return nodes.iter().try_for_each(|node| write(node, out)),
        Node::Choice(nodes) => {
            out.push_str("(?:");
            for (index, node) in nodes.iter().enumerate() {
                if index > 0 {
                    out.push('|');
                }
                write(node, out)?;
            }
            out.push(')');
        }
        Node::Repeat(inner, least, most) => {
            if *least > MAX_COUNT || most.is_some_and(|most| most > MAX_COUNT) {
                return None;
            }
            out.push_str("(?:");
            write(inner, out)?;
            let most = most.map_or_else(String::new, |most| most.to_string());
            let _ = write!(out, "){{{least},{most}}}");
        }
    }
    Some(())
}

/// No string of JSON holds a surrogate.
fn write_class(class: &Class, out: &mut String) {
    let start = out.len();
    out.push('[');
    for &(from, to) in class.ranges() {
        for (from, to) in [(from, to.min(0xD7FF)), (from.max(0xE000), to)] {
            if from <= to {
                let _ = write!(out, "\\x{{{from:X}}}-\\x{{{to:X}}}");
            }
        }
    }
    if out.len() == start + 1 {
        out.push_str("a&&b");
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn dialect_has_edges() {
        for inside in [
            "",
            "a|b",
            "^[a-z][^0-9]$",
            "(?:a){2,}?",
            "(?<year>\\d{4})",
            "[\\w.-]+",
            "\\u{1F600}",
            "\\uD83D\\uDE00",
            "[]",
            "[^]",
            "\\/",
            "a{0}",
            "(|a)*",
            "[\\b\\-]",
            "^$",
        ] {
            assert!(translate(inside).is_some(), "{inside}");
        }
        for outside in [
            "(?=a)", "(?<!a)b", "(a)\\1", "\\bword", "\\p{L}", "a{", "]", "a**", "^*", "[z-a]", "(a", "a)",
            "\\-", "\\a", "[\\d-z]", "(?i:a)", "a{2,1}", "\\k<a>", "\\01", "(?<1a>b)", "a{10001}",
        ] {
            assert!(translate(outside).is_none(), "{outside}");
        }
    }
}
