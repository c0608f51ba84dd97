//! Cuts a stream of bytes into lines, with a limit (protocol#framing).

use super::flaw::id_at_start;
use super::message::RequestId;

/// The longest line accepted, without its newline: 4 MiB.
pub const LINE_LIMIT: usize = 4 * 1024 * 1024;

/// Room that is kept between lines; more is given back after a long one.
const KEPT_CAPACITY: usize = 256 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// What the stream holds next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A line that is not blank, without its end and without a byte-order mark.
    Line(Vec<u8>),
    /// A line over [`LINE_LIMIT`]. It is dropped up to its newline and reported once, with the request's id if that came before the
    /// limit.
    TooLong(Option<RequestId<'static>>),
}

/// The splitter: [`push`](Self::push) what was read, then take frames from the iterator until it has
/// none; at the end of the stream ask [`finish`](Self::finish) for the rest.
#[derive(Debug, Default)]
pub struct Frames {
    buffer: Vec<u8>,
    /// Everything before is taken.
    start: usize,
    /// No newline stands between `start` and here.
    scanned: usize,
    /// Inside a line that was too long.
    discarding: bool,
    /// A byte-order mark is looked for on the first line only.
    past_first: bool,
}

impl Frames {
    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        if self.discarding {
            let Some(end) = newline(bytes) else { return };
            self.discarding = false;
            bytes = &bytes[end + 1..];
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
            if self.buffer.len() < KEPT_CAPACITY && self.buffer.capacity() > 4 * KEPT_CAPACITY {
                self.buffer.shrink_to(KEPT_CAPACITY);
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// How many bytes wait in the buffer.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Whether a complete line waits; it may turn out to be blank.
    pub fn has_line(&self) -> bool {
        newline(&self.buffer[self.scanned..]).is_some()
    }

    /// The stream has ended: its last line, if that had no newline. Take all other frames first.
    pub fn finish(&mut self) -> Option<Frame> {
        let end = self.buffer.len();
        let frame = self.cut(end);
        self.start = end;
        self.scanned = end;
        self.discarding = false;
        frame
    }

    /// The bytes from `start` to `end` as a frame, or nothing when they are blank.
    fn cut(&mut self, end: usize) -> Option<Frame> {
        let mut line = &self.buffer[self.start..end];
        if !self.past_first {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        line = line.strip_suffix(b"\r").unwrap_or(line);
        self.past_first = true;
        if line.len() > LINE_LIMIT {
            return Some(Frame::TooLong(id_at_start(&line[..LINE_LIMIT])));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(Frame::Line(line.to_vec()))
    }

    /// Drops an unfinished line that can no longer become short enough.
    fn overflow(&mut self) -> Option<Frame> {
        // The mark in front and the carriage return at the end do not count.
        let slack = 1 + if self.past_first { 0 } else { BOM.len() };
        if self.pending() <= LINE_LIMIT + slack {
            return None;
        }
        let start = &self.buffer[self.start..];
        let start = if self.past_first { start } else { start.strip_prefix(BOM).unwrap_or(start) };
        // The same bytes as of a line that came whole, so that the answer does not depend on how it came.
        let id = id_at_start(&start[..LINE_LIMIT]);
        self.buffer = Vec::new();
        self.start = 0;
        self.scanned = 0;
        self.discarding = true;
        self.past_first = true;
        Some(Frame::TooLong(id))
    }
}

impl Iterator for Frames {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        while let Some(offset) = newline(&self.buffer[self.scanned..]) {
            let end = self.scanned + offset;
            let frame = self.cut(end);
            self.start = end + 1;
            self.scanned = self.start;
            if frame.is_some() {
                return frame;
            }
        }
        self.scanned = self.buffer.len();
        self.overflow()
    }
}

/// The place of the first newline. Whole blocks are tested first, which the compiler turns into vector
/// instructions.
fn newline(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let mut skipped = 0;
    for block in bytes.chunks(BLOCK) {
        if block.iter().fold(false, |found, byte| found | (*byte == b'\n')) {
            return block.iter().position(|byte| *byte == b'\n').map(|offset| skipped + offset);
        }
        skipped += block.len();
    }
    None
}
