//! SKILL.md: an answer for every file, and what was read can be written as JSON and read again.

use std::fmt::Write as _;

use colibri::domains::skills::{ParsedSkill, REASONS, Reason, Refusal, parse_skill_bytes};
use serde_json::Value;

/// Pieces that mean something to YAML, and the keys.
pub const TOKENS: &[&str] = &[
    "---",
    "...",
    "\n",
    "\r\n",
    "\r",
    ": ",
    "- ",
    "? ",
    "&a ",
    "*a",
    "!!str ",
    "!",
    "<<: ",
    "|",
    ">-",
    "\"",
    "'",
    "\\",
    "[",
    "]",
    "{",
    "}",
    ",",
    "#",
    "%YAML 1.2\n",
    "\t",
    "  ",
    "\0",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\\u0000",
    "\\x",
    ".inf",
    "0x",
    "1e999",
    "@",
    "`",
    "name: ab\n",
    "capabilities: [read]\n",
    "greekLetter: π\n",
    "~",
    "1.0",
    "-0.0",
    "null",
];

/// The longest key that YAML reads without a mark.
const KEY_BYTES: usize = 500;

/// Parses a file.
pub fn check(bytes: &[u8]) -> bool {
    match parse_skill_bytes(bytes) {
        Ok(skill) => {
            accepted(bytes, &skill);
            true
        }
        Err(refusal) => {
            refused(bytes, &refusal);
            false
        }
    }
}

fn refused(bytes: &[u8], refusal: &Refusal) {
    assert!(REASONS.contains(&refusal.reason) && !refusal.detail.is_empty(), "{refusal:?}");
    if refusal.reason == Reason::YamlSyntax {
        let (line, _) =
            refusal.detail.strip_prefix("line ").and_then(|rest| rest.split_once(": ")).expect("a line");
        let lines = 1 + bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
        let line: usize = line.parse().expect("a number");
        assert!((2..=lines).contains(&line), "line {line} of {lines}: {refusal:?}");
    }
}

fn accepted(bytes: &[u8], skill: &ParsedSkill) {
    assert!(bytes.ends_with(skill.body.as_bytes()), "the body is the end of the file, as it is");
    let json = skill.frontmatter.json();
    let value: Value = serde_json::from_str(&json).expect("the front matter is JSON");
    assert_eq!(value["name"], skill.frontmatter.name.as_str());
    assert_eq!(value["description"], skill.frontmatter.description.as_str());
    let written = format!("---\n{}\n---\n{}", ascii(&json), skill.body);
    if longest_key(&value) > KEY_BYTES {
        return;
    }
    match parse_skill_bytes(written.as_bytes()) {
        Ok(again) => {
            assert_eq!(again.frontmatter.json(), json, "JSON is YAML");
            assert_eq!(again.body, skill.body);
        }
        // Escapes are longer than what they stand for.
        Err(refusal) => assert_eq!(refusal.reason, Reason::TooLarge, "{refusal:?}: {written}"),
    }
}

/// JSON with YAML's escapes for what YAML may not hold as it is.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            ' '..='~' => text.push(c),
            // Writing to a String cannot fail.
            _ => drop(write!(text, "\\U{:08x}", u32::from(c))),
        }
    }
    text
}

fn longest_key(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest_key).max().unwrap_or(0),
        Value::Object(members) => {
            members.iter().map(|(key, value)| ascii(key).len().max(longest_key(value))).max().unwrap_or(0)
        }
        _ => 0,
    }
}
