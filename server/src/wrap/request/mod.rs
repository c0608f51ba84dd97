//! The client's lines: cut, read strictly, and each message named for what it asks. Pure.
//!
//! A line is one JSON text (RFC 8259) in UTF-8 with at most 512 levels; half a surrogate pair in an escape passes, as many
//! servers take it. Other lines are refused, and so are messages that readers of JSON understand differently.

mod hash;
mod message;
mod object;
mod read;

pub use message::{Asked, BadCall, Call, Line, Message, Refusal, TaskRequest, Told};

use super::limits::{HOLD_BYTES, REQUEST_LINE_BYTES};
use super::scan::Scan;

/// Cuts what the client writes into lines. A line over [`REQUEST_LINE_BYTES`] is refused as soon as it is too long, and not kept.
#[derive(Debug, Default)]
pub struct Requests {
    line: Vec<u8>,
    /// The rest of a refused line comes.
    refused: bool,
}

impl Requests {
    /// Takes what the client wrote and adds the lines that are complete.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Line>) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, others) = rest.split_at(end + 1);
            rest = others;
            // The newline does not count.
            self.take(&line[..end], out);
            if !self.refused {
                self.line.push(b'\n');
                out.push(Line::read(std::mem::take(&mut self.line)));
            }
            self.refused = false;
        }
        self.take(rest, out);
    }

    /// The client writes no more. Its last line needs no newline.
    pub fn finish(&mut self, out: &mut Vec<Line>) {
        if !self.line.is_empty() {
            out.push(Line::read(std::mem::take(&mut self.line)));
        }
        self.refused = false;
    }

    fn take(&mut self, part: &[u8], out: &mut Vec<Line>) {
        if self.refused {
            return;
        }
        if self.line.len() + part.len() <= REQUEST_LINE_BYTES {
            self.line.extend_from_slice(part);
            return;
        }
        let room = HOLD_BYTES.saturating_sub(self.line.len()).min(part.len());
        self.line.extend_from_slice(&part[..room]);
        self.line.truncate(HOLD_BYTES);
        let mut scan = Scan::default();
        scan.read(&self.line);
        out.push(Line {
            bytes: Vec::new(),
            messages: vec![Message::Refused(Refusal::too_large(scan.request_id()))],
            batch: false,
        });
        (self.line, self.refused) = (Vec::new(), true);
    }
}
