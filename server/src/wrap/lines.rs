//! The server's lines on their way to the client: short ones are held whole, of a long one everything but the last byte of each
//! outermost value leaves as it comes. Without that byte no reader has a message, so its end can wait for what the message needs.
//! Pure: bytes go in, [`Piece`]s come out, and what they wait for is not known here.
//!
//! Lines are cut at `\n` alone. A line that begins with something else than a message is not held. Bytes are never changed. A reader
//! that looks at no lines must find the same messages: a value that may go on in the next line is ambiguous.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::extents;
use super::limits::{ARRAY_BYTES, HOLD_BYTES, LINE_MESSAGES};
use super::scan::{Found, Kind, Message, Scan};

/// What comes next for the client, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// May leave as soon as all before it has.
    Pass(Vec<u8>),
    /// A message. It ends with the next [`Held`](Self::Held) or [`Last`](Self::Last), of which several messages may be part.
    Message(Message),
    /// A line with messages, of which no byte has left.
    Held(Held),
    /// The last byte of an outermost value, all others of which have left. A newline in its place makes the line unreadable.
    Last(u8),
    /// The line ends inside an outermost value, or readers divide that differently. The messages since the last `Held` or `Last` are
    /// not to be counted.
    Broken,
    /// The line ends inside an outermost value, most of which has left. A reader that does not look at lines might go on in the next
    /// one, and has to be stopped.
    Unfinished,
}

/// A line that is held whole, with its newline.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The line.
    pub bytes: Vec<u8>,
    /// The outermost values, in order.
    values: Vec<Range<usize>>,
}

/// Cuts the server's stream into pieces.
#[derive(Debug)]
pub struct Lines {
    scan: Scan,
    /// How long lines are held.
    limit: usize,
    /// The present line, as long as it is held.
    held: Vec<u8>,
    /// What ended in it.
    values: Vec<Range<usize>>,
    messages: Vec<Message>,
    /// An outermost array began in the line.
    array: bool,
    /// The line is longer than lines are held, or begins with no message.
    streamed: bool,
    /// Messages of the present line were handed over whose value has not ended.
    owed: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            scan: Scan::default(),
            limit: HOLD_BYTES,
            held: Vec::new(),
            values: Vec::new(),
            messages: Vec::new(),
            array: false,
            streamed: false,
            owed: false,
        }
    }
}

impl Lines {
    /// Says how long lines are held from now on, without their newlines: [`HOLD_BYTES`], or more while a line may come that has to
    /// be looked at whole. A line that is longer already goes on as it is.
    pub fn hold(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Takes what the server wrote and adds what comes next for the client.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Piece>) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.read(&rest[..end], out);
            self.end_line(out);
            rest = &rest[end + 1..];
        }
        self.read(rest, out);
    }

    /// The server's output has ended. A line without its newline gets one, so that what follows is a line of its own.
    pub fn finish(&mut self, out: &mut Vec<Piece>) {
        if self.streamed || !self.held.is_empty() {
            self.end_line(out);
        }
    }

    /// Takes a part of a line.
    fn read(&mut self, part: &[u8], out: &mut Vec<Piece>) {
        let mut rest = part;
        while let Some(at) = memchr::memchr(b'\r', rest) {
            self.read_on(&rest[..at], out);
            self.scan.carriage_return();
            self.read_on(&rest[at..=at], out);
            rest = &rest[at + 1..];
        }
        self.read_on(rest, out);
    }

    /// Ends the line here, if no reader takes the part that has left for a message. What the server writes next is a line of its own then.
    pub(crate) fn break_off(&mut self) -> bool {
        let may_end = self.streamed && self.scan.is_foreign();
        if may_end {
            *self = Self { limit: self.limit, ..Self::default() };
        }
        may_end
    }

    /// Takes a part without a carriage return, or that alone.
    fn read_on(&mut self, mut part: &[u8], out: &mut Vec<Piece>) {
        while !self.streamed && !part.is_empty() {
            let limit = if self.array { self.limit.max(ARRAY_BYTES) } else { self.limit };
            let room = limit.saturating_sub(self.held.len()).min(part.len());
            let (read, found) = self.scan.read(&part[..room]);
            let (read, rest) = part.split_at(read);
            part = rest;
            self.held.extend_from_slice(read);
            self.array |= self.scan.is_array();
            let message = match found {
                Some(Found::Value(place, message)) => {
                    let inside = |own: &mut Message| message.is_some() && own.place.start >= place.start;
                    while self.messages.pop_if(inside).is_some() {}
                    self.values.push(place);
                    message
                }
                Some(Found::Element(message)) => Some(message),
                None => None,
            };
            self.messages.extend(message);
            let many = self.values.len().max(self.messages.len()) > LINE_MESSAGES;
            if room == 0 || many || self.scan.is_foreign() && self.messages.is_empty() {
                self.stream(out);
            }
        }
        while !part.is_empty() {
            let (read, found) = self.scan.read(part);
            let (read, rest) = part.split_at(read);
            part = rest;
            match (found, read.split_last()) {
                (Some(Found::Value(_, message)), Some((last, before))) if self.owed || message.is_some() => {
                    pass(out, before);
                    if self.owed && message.is_some() {
                        out.push(Piece::Broken);
                    }
                    out.extend(message.map(Piece::Message));
                    out.push(Piece::Last(*last));
                    self.owed = false;
                }
                (Some(Found::Element(message)), _) => {
                    pass(out, read);
                    out.push(Piece::Message(message));
                    self.owed = true;
                }
                _ => pass(out, read),
            }
        }
    }

    /// Lets go of the held line, which is too long, or holds no message.
    fn stream(&mut self, out: &mut Vec<Piece>) {
        self.streamed = true;
        let (held, mut at) = (std::mem::take(&mut self.held), 0);
        let mut messages = self.messages.drain(..).peekable();
        for value in self.values.drain(..) {
            let own = |message: &Message| message.place.start < value.end;
            let Some(first) = messages.next_if(own) else { continue };
            let last = value.end - 1;
            pass(out, &held[at..last]);
            out.push(Piece::Message(first));
            while let Some(message) = messages.next_if(own) {
                out.push(Piece::Message(message));
            }
            out.push(Piece::Last(held[last]));
            at = value.end;
        }
        pass(out, &held[at..]);
        self.owed = messages.peek().is_some();
        out.extend(messages.map(Piece::Message));
    }

    /// Ends the line with its newline.
    fn end_line(&mut self, out: &mut Vec<Piece>) {
        // No reader takes what stands in an array that never closed.
        let end = self.values.last().map_or(0, |value| value.end);
        self.messages.retain(|message| message.place.end <= end);
        let open = self.scan.open_since();
        self.held.push(b'\n');
        let bytes = std::mem::take(&mut self.held);
        if let Some(start) = open.filter(|start| !self.streamed && may_go_on(&bytes[*start..])) {
            let place = start..bytes.len() - 1;
            self.values.push(place.clone());
            self.messages.push(Message { place, kind: Kind::Ambiguous });
        }
        if self.messages.is_empty() {
            if self.owed {
                out.push(Piece::Broken);
            }
            if self.streamed && open.is_some() {
                out.push(Piece::Unfinished);
            }
            pass(out, &bytes);
        } else {
            out.extend(self.messages.drain(..).map(Piece::Message));
            out.push(Piece::Held(Held { bytes, values: std::mem::take(&mut self.values) }));
        }
        *self = Self { limit: self.limit, ..Self::default() };
    }
}

fn pass(out: &mut Vec<Piece>, bytes: &[u8]) {
    if let Some(Piece::Pass(before)) = out.last_mut() {
        before.extend_from_slice(bytes);
    } else if !bytes.is_empty() {
        out.push(Piece::Pass(bytes.to_vec()));
    }
}

impl Held {
    /// Returns the line without some of its messages, which are named by their places, in order, and without `parts` of the others. An
    /// element of an array goes with one comma, an array without messages goes as a whole, and so does a line without values; all
    /// other bytes stay. Where an array is not well-formed, readers disagree on where its elements end, so the line goes as a whole.
    pub fn without(&self, messages: &[Range<usize>], parts: &[Range<usize>]) -> Vec<u8> {
        let (mut gone, mut rest) = (Vec::new(), messages);
        for value in &self.values {
            let own = rest.iter().take_while(|place| place.start < value.end).count();
            let (dropped, others) = rest.split_at(own);
            rest = others;
            let is_dropped = |item: &Range<usize>| {
                let found = dropped.binary_search_by_key(&item.start, |place| place.start);
                found.is_ok_and(|at| dropped[at] == *item)
            };
            match extents::items(&self.bytes, value) {
                _ if dropped.is_empty() => {}
                // The message itself.
                _ if is_dropped(value) => gone.push(value.clone()),
                Some(items) => {
                    match items.extents.iter().filter(|item| is_dropped(item)).count() {
                        all if all == items.extents.len() => gone.push(value.clone()),
                        all if all == dropped.len() => {
                            gone.extend(items.without(|index| {
                                items.extents.get(index).is_some_and(|item| !is_dropped(item))
                            }));
                        }
                        _ => return Vec::new(),
                    }
                }
                None => return Vec::new(),
            }
        }
        gone.extend_from_slice(parts);
        gone.sort_unstable_by_key(|range| range.start);
        let left = extents::cut(&self.bytes, &gone);
        if is_blank(&left) { Vec::new() } else { left }
    }
}

/// Returns whether a value may go on in the next line: it is the beginning of one so far.
fn may_go_on(value: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(value).into_iter::<IgnoredAny>();
    values.next().is_some_and(|read| read.is_err_and(|error| error.is_eof()))
}

/// White space and byte order marks.
fn is_blank(bytes: &[u8]) -> bool {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(blank))
}
