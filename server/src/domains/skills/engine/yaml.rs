//! Reads one YAML mapping event by event, so that refusals can name the forbidden feature: anchors, aliases, tags,
//! merge keys, equal keys, further documents, deep nesting (skills#file-syntax). Pure.

use std::collections::BTreeMap;

use colibri_visible::characters;
use saphyr_parser::{Event, Parser, ScalarStyle};

use super::node::{Mapping, Node};
use super::text::{Reason, Refusal, shown};

/// The deepest nesting of mappings and lists; the root is the first level.
pub const MAX_DEPTH: usize = 16;

/// Reads the block between the two lines of hyphens.
///
/// # Errors
/// [`Reason::YamlSyntax`] and [`Reason::NotAMapping`].
pub fn read_mapping(block: &str) -> Result<Mapping, Refusal> {
    refuse_unprintable(block)?;
    let mut reader = Reader::default();
    for event in Parser::new_from_str(block) {
        let (event, span) = event.map_err(|error| syntax(error.marker().line(), error.info()))?;
        reader.take(event).map_err(|what| syntax(span.start.line(), &what))?;
    }
    match reader.root {
        Some(Node::Map(members)) => Ok(members),
        Some(other) => Err(not_a_mapping(other.kind())),
        None => Err(not_a_mapping("empty")),
    }
}

fn not_a_mapping(found: &str) -> Refusal {
    let detail =
        format!("the front matter is {found}; write `key: value` lines, name and description at least");
    Refusal { reason: Reason::NotAMapping, detail }
}

/// Makes a refusal. `line` counts from 1 within the block, which begins at the file's second line.
fn syntax(line: usize, what: &str) -> Refusal {
    Refusal { reason: Reason::YamlSyntax, detail: format!("line {}: {what}", line.max(1) + 1) }
}

/// Refuses characters outside YAML's `c-printable` (YAML 1.2.2 §5.1), and invisible ones. The parser takes U+0000 for
/// the end of its input, which would silently lose the text after it, and drops U+FEFF.
fn refuse_unprintable(block: &str) -> Result<(), Refusal> {
    let printable = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'..);
    let mut line = 1;
    for (c, hidden) in characters(block) {
        if !printable(c) || hidden && !is_layout(c) {
            return Err(syntax(line, &not_allowed(c)));
        }
        line += usize::from(c == '\n');
    }
    Ok(())
}

/// Refuses invisible characters in a text with resolved escapes. Names and descriptions go to a model, which reads
/// what people do not see.
fn refuse_hidden(text: &str) -> Result<(), String> {
    let found = characters(text).find(|(c, hidden)| *hidden && !is_layout(*c));
    found.map_or(Ok(()), |(c, _)| Err(not_allowed(c)))
}

fn not_allowed(character: char) -> String {
    format!("U+{:04X} is not allowed: a reader cannot see it", u32::from(character))
}

/// Returns whether the character lays out lines.
fn is_layout(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r')
}

/// An unfinished mapping or list.
enum Frame {
    Map { members: Mapping, key: Option<String> },
    List(Vec<Node>),
}

#[derive(Default)]
struct Reader {
    frames: Vec<Frame>,
    root: Option<Node>,
    documents: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err("a second YAML document starts here; keep one".to_owned());
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse_hidden(&text)?;
                refuse_properties(anchor, tag.is_some())?;
                let plain = style == ScalarStyle::Plain;
                match self.frames.last_mut() {
                    Some(Frame::Map { members, key: key @ None }) => {
                        *key = Some(new_key(members, &text, plain)?)
                    }
                    _ if plain => self.put(Node::of_plain(&text)),
                    _ => self.put(Node::Text(text.into_owned())),
                }
            }
            Event::Alias(_) => return Err("aliases are not allowed; write the value out".to_owned()),
            Event::SequenceStart(anchor, tag) => {
                refuse_properties(anchor, tag.is_some())?;
                self.open(Frame::List(Vec::new()))?;
            }
            Event::MappingStart(anchor, tag) => {
                refuse_properties(anchor, tag.is_some())?;
                self.open(Frame::Map { members: BTreeMap::new(), key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.frames.pop() {
                Some(Frame::Map { members, .. }) => self.put(Node::Map(members)),
                Some(Frame::List(items)) => self.put(Node::List(items)),
                None => {}
            },
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn open(&mut self, frame: Frame) -> Result<(), String> {
        if let Some(Frame::Map { key: None, .. }) = self.frames.last() {
            return Err("a key must be a word, not a list or mapping".to_owned());
        }
        if self.frames.len() >= MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Adds a finished node to its parent.
    fn put(&mut self, node: Node) {
        match self.frames.last_mut() {
            Some(Frame::Map { members, key }) => drop(members.insert(key.take().unwrap_or_default(), node)),
            Some(Frame::List(items)) => items.push(node),
            None => self.root = Some(node),
        }
    }
}

fn refuse_properties(anchor: usize, tag: bool) -> Result<(), String> {
    if anchor > 0 {
        return Err("anchors are not allowed; write the value out".to_owned());
    }
    if tag {
        return Err("tags are not allowed; quote the value if it is text".to_owned());
    }
    Ok(())
}

/// Returns a key as JSON will have it: its text, even if a plain scalar of that spelling would mean another value.
fn new_key(members: &Mapping, text: &str, plain: bool) -> Result<String, String> {
    if plain && text == "<<" {
        return Err("merge keys are not allowed; write the members out".to_owned());
    }
    if members.contains_key(text) {
        return Err(format!("the key {} stands here a second time", shown(text)));
    }
    Ok(text.to_owned())
}
