//! Reads the messages in a line of the server's while it passes. Pure.
//!
//! One pass that knows brackets, strings and escapes, and validates nothing: clients differ in what they take for JSON, so the
//! scanner follows what any of them might read. White space and byte order marks are skipped; each outermost object, and each
//! object that is an element of an outermost array, is a message. A line goes on being read behind a value, since some clients
//! take several values of a line. No client takes what begins otherwise for a message, and the rest of its line is not read,
//! up to a carriage return, at which some readers end lines.

mod draft;
mod kept;
mod members;
mod message;

pub use message::{Answer, Ending, Kind, Message};

use std::ops::Range;

use draft::Draft;
use members::{Members, Step};

use super::flights::Id;
use super::limits::LINE_MESSAGES;

/// Reads one line, in pieces of any size.
#[derive(Debug, Default)]
pub struct Scan {
    /// How many bytes of the line came before the present piece.
    passed: usize,
    /// How many brackets are open.
    depth: usize,
    text: Text,
    /// The rest of the line is not read.
    foreign: bool,
    /// Where the outermost value began.
    start: usize,
    /// It is an array.
    array: bool,
    /// How many messages ended in it, if it is an array.
    elements: usize,
    /// It goes as a whole: readers divide it differently, or it holds more messages than a line may.
    torn: bool,
    /// The first bytes of a character between two values.
    partial: Vec<u8>,
    draft: Option<Box<Draft>>,
}

/// So many bytes of a string are looked at one by one before many are at a time.
const NEAR: usize = 16;

/// Whether a string is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Text {
    #[default]
    Outside,
    Inside,
    /// Inside, behind a backslash.
    Escaped,
}

/// What ends with the last byte that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// An element of an outermost array that is a message.
    Element(Message),
    /// An outermost value, and where it stands in the line; with the message, if it is one. An array with a message goes as a whole, and
    /// its elements do not count.
    Value(Range<usize>, Option<Message>),
}

/// A bracket that closes.
const fn is_end(byte: u8) -> bool {
    matches!(byte, b'}' | b']')
}

impl Scan {
    /// Reads on until a message or an outermost value ends, or the piece does. Returns how many bytes were read, and what ends
    /// with the last of them. The pieces hold no newline.
    pub fn read(&mut self, piece: &[u8]) -> (usize, Option<Found>) {
        let (mut at, mut found) = (0, None);
        while at < piece.len() && found.is_none() {
            if self.foreign {
                at = piece.len();
            } else if self.text != Text::Outside {
                at = self.read_text(piece, at);
            } else if self.depth == 0 {
                self.outermost(piece[at], at);
                at += 1;
            } else if self.depth > self.followed() && !is_end(piece[at]) {
                at = self.read_deep(piece, at);
            } else {
                found = self.structure(piece, at);
                at += 1;
            }
        }
        if let Some(draft) = &mut self.draft {
            draft.pause(piece, at);
        }
        self.passed += at;
        (at, found)
    }

    /// A carriage return comes next. Some readers end a line there, so a message may follow, and none may lie around it.
    pub(crate) fn carriage_return(&mut self) {
        self.foreign = false;
        self.partial.clear();
        self.torn = self.depth > 0;
    }

    /// Returns where the outermost value began that is open, unless inside a text, where no JSON goes on in another line.
    pub(crate) fn open_since(&self) -> Option<usize> {
        (self.depth > 0 && self.text == Text::Outside).then_some(self.start)
    }

    /// Returns whether the rest of the line is not read, because something else than a message begins in it.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Returns whether the outermost value that is open, or was the last one, is an array.
    pub fn is_array(&self) -> bool {
        self.array
    }

    /// Returns the id of the request that is being read, if it has one already.
    pub(in crate::wrap) fn request_id(self) -> Option<Id> {
        self.draft?.request_id()
    }

    /// A byte between outermost values.
    fn outermost(&mut self, byte: u8, at: usize) {
        match byte {
            b'{' | b'[' if self.partial.is_empty() => {
                self.depth = 1;
                self.start = self.passed + at;
                (self.array, self.elements, self.torn) = (byte == b'[', 0, false);
                self.draft = (!self.array).then(|| Box::new(Draft::new(self.start, 1)));
            }
            // What a client that trims its lines takes for white space: Unicode's, and the separators of ASCII.
            b'\t' | 0x0b..=b'\r' | 0x1c..=b' ' if self.partial.is_empty() => {}
            0x80.. => {
                self.partial.push(byte);
                match std::str::from_utf8(&self.partial) {
                    Ok(text) if text.chars().all(|c| c.is_whitespace() || c == '\u{feff}') => {
                        self.partial.clear();
                    }
                    Err(error) if error.error_len().is_none() => {}
                    _ => self.foreign = true,
                }
            }
            _ => self.foreign = true,
        }
    }

    /// Returns how many brackets are open where members or elements are still read.
    fn followed(&self) -> usize {
        self.draft.as_ref().map_or(1, |draft| draft.followed())
    }

    /// Goes to the bracket that leads back to what is read, or to the end of the piece.
    fn read_deep(&mut self, piece: &[u8], mut at: usize) -> usize {
        let last = self.followed() + 1;
        while let Some(byte) = piece.get(at) {
            match byte {
                b'"' => {
                    self.text = Text::Inside;
                    at = self.read_text(piece, at + 1);
                    continue;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth == last => break,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Goes to the end of a string, or of the piece.
    fn read_text(&mut self, piece: &[u8], mut at: usize) -> usize {
        if self.text == Text::Escaped && at < piece.len() {
            self.text = Text::Inside;
            at += 1;
        }
        // Between two escapes there is often less than a search for many bytes at a time costs.
        let mut plain = 0;
        while let Some(byte) = piece.get(at) {
            match byte {
                b'\\' if at + 1 < piece.len() => (at, plain) = (at + 2, 0),
                b'\\' => {
                    self.text = Text::Escaped;
                    return at + 1;
                }
                b'"' => {
                    self.text = Text::Outside;
                    self.step(self.depth, Members::text_ends, piece, at);
                    return at + 1;
                }
                _ if plain < NEAR => (at, plain) = (at + 1, plain + 1),
                _ => at = memchr::memchr2(b'"', b'\\', &piece[at..]).map_or(piece.len(), |next| at + next),
            }
        }
        at
    }

    /// A byte inside an outermost value, outside strings.
    fn structure(&mut self, piece: &[u8], at: usize) -> Option<Found> {
        match piece[at] {
            b'"' => {
                self.text = Text::Inside;
                self.step(self.depth, Members::text_begins, piece, at);
            }
            byte @ (b'{' | b'[') => {
                if self.array && self.depth == 1 && byte == b'{' {
                    self.draft = Some(Box::new(Draft::new(self.passed + at, 2)));
                } else {
                    self.step(self.depth, Members::nested_begins, piece, at);
                }
                self.depth += 1;
            }
            b'}' | b']' => return self.closed(piece, at),
            byte => self.step(self.depth, |members| members.byte(byte), piece, at),
        }
        None
    }

    fn closed(&mut self, piece: &[u8], at: usize) -> Option<Found> {
        self.step(self.depth, Members::object_ends, piece, at);
        self.depth -= 1;
        let outermost = usize::from(self.array);
        if self.depth > outermost {
            self.step(self.depth, Members::nested_ends, piece, at);
            return None;
        }
        let end = self.passed + at + 1;
        let message = self.draft.take().and_then(|draft| draft.finish(end));
        if self.depth > 0 {
            self.elements += usize::from(message.is_some());
            self.torn |= self.elements > LINE_MESSAGES;
            return message.filter(|_| !self.torn).map(Found::Element);
        }
        let place = self.start..end;
        let message = match self.torn {
            true => Some(Message { place: place.clone(), kind: Kind::Ambiguous }),
            false => message,
        };
        Some(Found::Value(place, message))
    }

    /// Hands an event to the message that is being read.
    fn step(&mut self, depth: usize, event: impl FnOnce(&mut Members) -> Step, piece: &[u8], at: usize) {
        if let Some(draft) = &mut self.draft {
            draft.step(depth, event, piece, at, self.passed);
        }
    }
}
