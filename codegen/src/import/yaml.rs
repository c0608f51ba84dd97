//! JSON values as YAML that people read and that reads back as the same values.

use colibri_visible::is_hidden;
use serde_json::{Map, Value};

/// Words that YAML readers of one version or another take for something else than text.
const WORDS: [&str; 11] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
/// The longest text that stands without quotes.
const MAX_PLAIN: usize = 160;

/// Writes `key: value` with a line end, at this depth of indentation.
pub(super) fn member(out: &mut String, depth: usize, key: &str, value: &Value) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(&scalar(key));
    out.push(':');
    nested(out, depth, value);
}

/// Writes the members of a mapping.
pub(super) fn members(out: &mut String, depth: usize, all: &Map<String, Value>) {
    all.iter().for_each(|(key, value)| member(out, depth, key, value));
}

/// Writes a value behind its key or dash.
fn nested(out: &mut String, depth: usize, value: &Value) {
    match value {
        Value::Object(all) if !all.is_empty() => {
            out.push('\n');
            members(out, depth + 1, all);
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            out.push('\n');
            for item in items {
                out.push_str(&"  ".repeat(depth + 1));
                out.push('-');
                nested(out, depth + 1, item);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            out.push_str(&format!(" [{}]\n", items.join(", ")));
        }
        Value::String(text) if is_block(text) => block(out, depth + 1, text),
        Value::Object(_) => out.push_str(" {}\n"),
        plain => out.push_str(&format!(" {}\n", flow(plain))),
    }
}

/// A scalar, or an empty list, inside a line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text in one line: plain where no reader can mistake it, quoted otherwise.
pub(super) fn scalar(text: &str) -> String {
    let letter = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || " _.-/'();+=".contains(c));
    let word = WORDS.contains(&text.to_ascii_lowercase().as_str());
    if letter && plain && !word && text.len() <= MAX_PLAIN && !text.ends_with(' ') {
        return text.to_owned();
    }
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            hidden if hidden.is_control() || is_hidden(hidden) => {
                quoted.push_str(&format!("\\U{:08X}", u32::from(hidden)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a text of several lines reads back from a block without a mark of its indentation.
fn is_block(text: &str) -> bool {
    let odd = |c: char| c != '\n' && (c.is_control() || is_hidden(c));
    text.contains('\n') && !text.starts_with([' ', '\n']) && !text.ends_with("\n\n") && !text.chars().any(odd)
        // A line of blanks alone is one of those that chomping and indentation treat in their own way.
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
}

fn block(out: &mut String, depth: usize, text: &str) {
    out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in text.lines() {
        if !line.is_empty() {
            out.push_str(&"  ".repeat(depth));
            out.push_str(line);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_read_back_as_they_were() {
        let texts = [
            "",
            " ",
            "a",
            "a: b",
            "a #b",
            "- a",
            "yes",
            "No",
            "1",
            "1.0",
            "1e3",
            "~",
            "null",
            "0x1f",
            "a\nb",
            "a\n\nb\n",
            "a\n\n",
            " a\nb",
            "a\n  b",
            "a\n \nb",
            "a\tb",
            "\ta\nb",
            "a\r\nb",
            "\"q\" 'p' \\",
            "🧪 ✓ é",
            "a\u{feff}b",
            "a\u{2028}b\nc",
            "a\u{1b}[0m",
            "{a}",
            "[x]",
            "a, b",
            "%a",
            "@a",
            "`a`",
            "a:",
            "a: |-",
            "# a",
            "---",
            "...",
            "? a",
            "!a",
            "&a",
            "*a",
            "trailing ",
            "a\u{e000}b",
            "a\u{200b}",
        ];
        for text in texts {
            let value = json!({ text: text, "list": [text, {text: [text]}], "deep": {"er": {"est": text}} });
            let mut yaml = String::new();
            members(&mut yaml, 0, value.as_object().unwrap_or(&Map::new()));
            let read: Result<Value, _> = serde_yaml::from_str(&yaml);
            assert_eq!(read.ok(), Some(value), "{yaml}");
        }
        let mut yaml = String::new();
        let numbers =
            json!({"a": [1, -2, 1.5, 1e300, 0.0, true, null], "b": [], "c": {}, "d": [[], {}, [1]]});
        members(&mut yaml, 0, numbers.as_object().unwrap_or(&Map::new()));
        let read: Result<Value, _> = serde_yaml::from_str(&yaml);
        assert_eq!(read.ok(), Some(numbers), "{yaml}");
    }
}
