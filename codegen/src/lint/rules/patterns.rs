//! `patterns`: patterns compile as ECMAScript expressions with the flag `u`, which is how JSON
//! Schema means them, and use nothing that engines without backtracking refuse.

use serde_json::Value;

use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        let Some(Value::String(pattern)) = node.schema.get("pattern") else { continue };
        let place = node.place.child("pattern");
        if let Err(error) = regress::Regex::with_flags(pattern, "u") {
            let message = format!("the pattern does not compile: {error}");
            report.value(&place, message, "write an ECMAScript expression; escape what is meant literally");
        } else if let Some(construct) = backtracking(pattern).filter(|_| !context.is_open()) {
            let message = format!("the pattern uses {construct}");
            report.value(&place, message, "not every client's engine knows it: write a plain expression");
        }
    }
}

/// A construct that needs backtracking, if the pattern has one.
fn backtracking(pattern: &str) -> Option<&'static str> {
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let mut taken = first.len_utf8();
        match first {
            '\\' => {
                let escaped = after.chars().next()?;
                if !in_class && (matches!(escaped, '1'..='9') || escaped == 'k') {
                    return Some("a backreference");
                }
                taken += escaped.len_utf8();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && ["?=", "?!", "?<=", "?<!"].iter().any(|look| after.starts_with(look)) => {
                return Some("a lookaround");
            }
            _ => {}
        }
        rest = &rest[taken..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::backtracking;

    #[test]
    fn constructs_are_found_outside_classes_and_escapes_only() {
        assert_eq!(backtracking(r"^(a)\1$"), Some("a backreference"));
        assert_eq!(backtracking(r"^(?!x)"), Some("a lookaround"));
        assert_eq!(backtracking(r"(?<=x)y"), Some("a lookaround"));
        assert_eq!(backtracking(r"^[(?=\1]+\\(?:a)(?<n>b)\("), None);
    }
}
