//! The positions of all nodes of a YAML text, and the check that the text keeps to plain YAML.
//!
//! Works on the parser's events, before anything is built. So it refuses text made to blow up (anchors
//! that expand without bound, endless nesting) while it is still small. The reader that makes values keeps
//! no positions and silently takes the last of two equal keys; this module closes both gaps.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::layout;
use super::source::{MAX_DEPTH, MAX_NODES, end};

/// The largest integer that JavaScript and canonical JSON (RFC 8785) keep exactly.
const MAX_SAFE_INTEGER: i128 = (1 << 53) - 1;

/// JSON pointer to position.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    spots: HashMap<String, Spot>,
}

#[derive(Debug, Clone, Copy)]
struct Spot {
    key: Option<(usize, usize)>,
    value: (usize, usize),
    scalar: bool,
}

/// Something in the text that a catalogue may not hold.
#[derive(Debug)]
pub(super) struct Fault {
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub help: String,
}

impl Index {
    /// Walks the whole text. The index covers as much of the text as could be read.
    pub fn build(text: &str) -> (Self, Vec<Fault>) {
        let mut builder = Builder::default();
        builder.odd_line_ends(text);
        for event in Parser::new_from_str(text) {
            match event {
                Ok((event, span)) => {
                    if !builder.take(event, span) {
                        break;
                    }
                }
                Err(error) if error.info().contains("recursion limit") => {
                    builder.too_deep(position(error.marker()));
                    break;
                }
                Err(error) => {
                    let help = "indent with spaces, close every quote and bracket, and quote text that holds `: ` or ` #`";
                    let at = position(error.marker());
                    match layout::wrong(text, at.0) {
                        Some((line, column, what, help)) => {
                            builder.fault((line, column), format!("not YAML: {what}"), help)
                        }
                        None => builder.fault(at, format!("not YAML: {}", error.info()), help),
                    }
                    break;
                }
            }
        }
        if builder.faults.is_empty() && builder.nodes == 0 {
            builder.fault((1, 1), "the file is empty".into(), "write the file's keys, or remove the file");
        }
        (Self { spots: builder.spots }, builder.faults)
    }

    /// Returns the position of the node, or of its nearest existing ancestor.
    pub fn node(&self, pointer: &str) -> (usize, usize) {
        self.nearest(pointer, |spot| if spot.scalar { spot.value } else { spot.key.unwrap_or(spot.value) })
    }

    /// Returns the pointer of the innermost node that begins at a position, with its key or its value.
    #[cfg(feature = "cli")]
    pub fn pointer(&self, at: (usize, usize)) -> Option<&str> {
        let here = self.spots.iter().filter(|(_, spot)| spot.value == at || spot.key == Some(at));
        here.map(|(pointer, _)| pointer.as_str()).max_by_key(|pointer| pointer.len())
    }

    /// Returns the position of the node's key.
    pub fn key(&self, pointer: &str) -> (usize, usize) {
        self.nearest(pointer, |spot| spot.key.unwrap_or(spot.value))
    }

    fn nearest(&self, pointer: &str, place: impl Fn(&Spot) -> (usize, usize)) -> (usize, usize) {
        let mut pointer = pointer;
        loop {
            if let Some(spot) = self.spots.get(pointer) {
                return place(spot);
            }
            match pointer.rfind('/') {
                Some(end) => pointer = &pointer[..end],
                None => return (1, 1),
            }
        }
    }
}

fn position(marker: &saphyr_parser::Marker) -> (usize, usize) {
    (marker.line().max(1), marker.col() + 1)
}

/// A mapping or sequence that is still open.
enum Frame {
    Map { pointer: String, keys: HashSet<String>, pending: Option<(String, (usize, usize))> },
    Seq { pointer: String, next: usize },
}

#[derive(Default)]
struct Builder {
    spots: HashMap<String, Spot>,
    faults: Vec<Fault>,
    frames: Vec<Frame>,
    nodes: usize,
    documents: usize,
}

impl Builder {
    fn fault(&mut self, (line, column): (usize, usize), message: String, help: &str) {
        self.faults.push(Fault { line, column, message, help: help.to_owned() });
    }

    /// Reports odd line ends. The reader that makes values takes these for line ends, as YAML 1.1 did; YAML 1.2 does not.
    /// The two would disagree about positions.
    fn odd_line_ends(&mut self, text: &str) {
        let odd =
            text.char_indices().find(|(_, letter)| matches!(letter, '\u{85}' | '\u{2028}' | '\u{2029}'));
        if let Some((at, letter)) = odd {
            let message = format!(
                "YAML readers disagree whether the character U+{:04X} ends a line",
                u32::from(letter)
            );
            let help =
                "remove it, or write it as `\\N` (U+0085), `\\L` (U+2028) or `\\P` (U+2029) in double quotes";
            self.fault(end(&text[..at]), message, help);
        }
    }

    /// Takes one event; `false` ends the walk.
    fn take(&mut self, event: Event<'_>, span: Span) -> bool {
        let at = position(&span.start);
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.fault(
                        at,
                        "a second YAML document starts here".into(),
                        "keep one document a file: remove the `---`",
                    );
                    return false;
                }
                true
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.properties(at, anchor, tag.is_some());
                let plain = style == ScalarStyle::Plain;
                if self.expects_key() {
                    return self.key(at, &text, plain);
                }
                if plain {
                    self.number(at, &text);
                }
                // An empty value has no text of its own: its position is that of its key.
                let empty = plain && span.start.index() == span.end.index();
                self.node(at, !empty).is_some()
            }
            Event::Alias(_) => {
                if self.expects_key() {
                    return self.complex_key(at);
                }
                self.node(at, true).is_some()
            }
            Event::SequenceStart(anchor, tag) => {
                self.properties(at, anchor, tag.is_some());
                self.open(at, |pointer| Frame::Seq { pointer, next: 0 })
            }
            Event::MappingStart(anchor, tag) => {
                self.properties(at, anchor, tag.is_some());
                self.open(at, |pointer| Frame::Map { pointer, keys: HashSet::new(), pending: None })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.frames.pop();
                true
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => true,
        }
    }

    /// Reports anchors and tags, on any node.
    fn properties(&mut self, at: (usize, usize), anchor: usize, tag: bool) {
        if anchor > 0 {
            let help = "write the value out, or share a schema through types.yaml and `$ref`";
            self.fault(at, "anchors and aliases are not allowed".into(), help);
        }
        if tag {
            self.fault(at, "tags are not allowed".into(), "remove the `!tag`; quote the value if it is text");
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Map { pending: None, .. }))
    }

    fn complex_key(&mut self, at: (usize, usize)) -> bool {
        self.fault(at, "a key must be a string".into(), "write a plain word before the `:`");
        false
    }

    fn key(&mut self, at: (usize, usize), text: &str, plain: bool) -> bool {
        if plain && text == "<<" {
            self.fault(at, "merge keys are not allowed".into(), "write the members out");
        } else if plain && !is_string(text) {
            self.fault(at, format!("the key `{text}` is not a string"), "quote the key");
        }
        let mut twice = false;
        if let Some(Frame::Map { keys, pending, .. }) = self.frames.last_mut() {
            twice = !keys.insert(text.to_owned());
            *pending = Some((text.to_owned(), at));
        }
        if twice {
            self.fault(at, format!("the key `{text}` stands here a second time"), "remove one of the two");
        }
        true
    }

    /// Notes a node's position and returns its pointer; `None` when there are too many.
    fn node(&mut self, at: (usize, usize), scalar: bool) -> Option<String> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            self.fault(at, format!("the file has more than {MAX_NODES} nodes"), "split the domain");
            return None;
        }
        let (pointer, key) = match self.frames.last_mut() {
            None => (String::new(), None),
            Some(Frame::Seq { pointer, next }) => {
                let item = format!("{pointer}/{next}");
                *next += 1;
                (item, None)
            }
            Some(Frame::Map { pointer, pending, .. }) => {
                let (name, key) = pending.take().unwrap_or_default();
                (format!("{pointer}/{}", escape(&name)), Some(key))
            }
        };
        // The first of two equal keys keeps its place.
        self.spots.entry(pointer.clone()).or_insert(Spot { key, value: at, scalar });
        Some(pointer)
    }

    fn open(&mut self, at: (usize, usize), frame: impl FnOnce(String) -> Frame) -> bool {
        if self.expects_key() {
            return self.complex_key(at);
        }
        if self.frames.len() >= MAX_DEPTH {
            self.too_deep(at);
            return false;
        }
        let Some(pointer) = self.node(at, false) else { return false };
        self.frames.push(frame(pointer));
        true
    }

    fn too_deep(&mut self, at: (usize, usize)) {
        self.fault(at, format!("nested deeper than {MAX_DEPTH} levels"), "name inner schemas in types.yaml");
    }

    /// Reports numbers that JSON or JavaScript cannot hold.
    fn number(&mut self, at: (usize, usize), text: &str) {
        if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
            return;
        }
        match serde_yaml::from_str::<serde_yaml::Value>(text) {
            Ok(serde_yaml::Value::Number(number)) => {
                if number.as_f64().is_none_or(|value| !value.is_finite()) {
                    let help = "write a finite number, or quote it if it is text";
                    self.fault(at, format!("`{text}` is not a number JSON can hold"), help);
                } else if is_integer_text(text) && !is_safe(text, &number) {
                    let help =
                        "integers stay within -9007199254740991 and 9007199254740991; quote it if it is text";
                    self.fault(at, format!("the integer `{text}` is beyond 2^53-1"), help);
                }
            }
            Ok(serde_yaml::Value::String(_)) | Err(_) if is_long_integer(text) => {
                let help =
                    "integers stay within -9007199254740991 and 9007199254740991; quote it if it is text";
                self.fault(at, format!("the integer `{text}` is beyond 2^53-1"), help);
            }
            _ => {}
        }
    }
}

fn is_long_integer(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() > 15
}

fn is_integer_text(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.starts_with("0x") || digits.starts_with("0o") || !digits.contains(['.', 'e', 'E'])
}

fn is_safe(text: &str, number: &serde_yaml::Number) -> bool {
    let value = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    value
        .or_else(|| text.parse().ok())
        .is_some_and(|value| (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&value))
}

/// Returns whether a plain scalar is text by the rules of YAML's core schema.
fn is_string(text: &str) -> bool {
    match serde_yaml::from_str::<serde_yaml::Value>(text) {
        Ok(value) => value.is_string(),
        // A word that the reader refuses is certainly not a number, boolean or null.
        Err(_) => true,
    }
}

/// Escapes a key for a JSON pointer (RFC 6901 §3).
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
