//! What the literal client reads out of a server's instructions. It knows English of the simplest kind, and no tool.

use std::collections::BTreeSet;

use serde_json::Value;

/// A call that a text writes as `name {arguments}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// The tool.
    pub tool: String,
    /// Names of arguments, each with the value that the text gives it.
    pub arguments: Vec<(String, Option<Value>)>,
}

/// One numbered line.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The calls it names, in order; the first is what it asks for, the others are other ways.
    pub calls: Vec<Template>,
    /// The tool that shows what was lost: `If you lost it, TOOL …`.
    pub finder: Option<String>,
    /// The names that the line says to keep.
    pub keeps: Vec<String>,
    /// The values of a chain `A > B > C`.
    pub chain: Vec<String>,
}

/// The whole text.
#[derive(Debug, Clone, PartialEq)]
pub struct Instructions {
    /// The argument that is the client's own name: `Use one NAME for yourself`.
    pub own_name: Option<String>,
    /// The numbered lines in their order.
    pub steps: Vec<Step>,
}

/// Reads instructions. Words are tools if `tools` holds them.
pub fn read(text: &str, tools: &BTreeSet<String>) -> Instructions {
    let steps = text
        .lines()
        .filter(|line| line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok()))
        .map(|line| Step {
            calls: templates(line, tools),
            finder: after(line, "If you lost it, ").filter(|word| tools.contains(word)),
            keeps: kept(line),
            chain: chain(line),
        })
        .collect();
    Instructions { own_name: after(text, "Use one "), steps }
}

/// The word that follows `mark`.
pub fn after(text: &str, mark: &str) -> Option<String> {
    let rest = &text[text.find(mark)? + mark.len()..];
    let word: String = rest.chars().take_while(|c| is_name(*c)).collect();
    (!word.is_empty()).then_some(word)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn templates(line: &str, tools: &BTreeSet<String>) -> Vec<Template> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices(" {") {
        let tool: String = line[..at].rsplit(|c| !is_name(c)).next().unwrap_or_default().to_owned();
        let Some(end) = line[at..].find('}') else { continue };
        if tools.contains(&tool) {
            let arguments = line[at + 2..at + end].split(',').map(argument).collect();
            found.push(Template { tool, arguments });
        }
    }
    found
}

/// `name` or `name: "value"`.
fn argument(text: &str) -> (String, Option<Value>) {
    match text.split_once(':') {
        Some((name, value)) => {
            (name.trim().to_owned(), Some(serde_json::from_str(value.trim()).expect("a JSON value")))
        }
        None => (text.trim().to_owned(), None),
    }
}

/// The names in `keep its X` and `Keep the X, and the Y Z`.
fn kept(line: &str) -> Vec<String> {
    let Some((_, rest)) = line.split_once("eep the ").or_else(|| line.split_once("eep its ")) else {
        return Vec::new();
    };
    let sentence = rest.split('.').next().unwrap_or_default();
    sentence.split(", and the ").filter_map(|part| part.split(' ').next().map(str::to_owned)).collect()
}

/// The values of `A > B > C`.
fn chain(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(|c| !is_name(c))).collect();
    let raw: Vec<&str> = line.split_whitespace().collect();
    let mut chain: Vec<String> = Vec::new();
    for (at, word) in raw.iter().enumerate() {
        if *word == ">" && at > 0 && at + 1 < words.len() {
            if chain.is_empty() {
                chain.push(words[at - 1].to_owned());
            }
            chain.push(words[at + 1].to_owned());
        }
    }
    chain
}
