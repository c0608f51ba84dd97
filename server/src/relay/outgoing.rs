//! What waits for the client, in the order in which the server wrote it. A reply waits for its row; what stands behind it waits, too.

use std::collections::VecDeque;
use std::ops::Range;

use colibri_runtime::chain::foreign::{ForeignEnd, Ticket};
use colibri_runtime::chain::store::StoreFault;

use crate::wrap::lines::Held;

/// No value goes on with this byte, not even in the next line.
const SPOILT: &[u8] = b"!";

/// What becomes of a message of the server's.
#[derive(Debug)]
pub struct Verdict {
    /// Where it stands in its line.
    pub place: Range<usize>,
    /// Its fate.
    pub fate: Fate,
}

/// See [`Verdict`].
#[derive(Debug)]
pub enum Fate {
    /// It goes on.
    Forward,
    /// It goes on without these parts.
    Cut(Vec<Range<usize>>),
    /// It is dropped. With a line, that follows in its place.
    Drop(Option<Vec<u8>>),
    /// It answers a call, and waits for the call's row.
    Reply(Box<Reply>),
}

/// A reply, and the row that closes with it.
#[derive(Debug)]
pub struct Reply {
    /// What closes the row; gone once the row was tried.
    pub exit: Option<(Ticket, ForeignEnd)>,
    /// The line that follows if the row could not be closed, for then the reply is dropped.
    pub otherwise: Vec<u8>,
    /// Whether the row was closed, once it was tried.
    pub closed: Option<Result<(), StoreFault>>,
}

/// A piece of the stream.
#[derive(Debug)]
enum Piece {
    Pass(Vec<u8>),
    Line(Held, Vec<Verdict>),
    Last(u8, Vec<Verdict>),
    /// A line of this process's own that waits for a row.
    Own(Box<Reply>, Vec<u8>),
}

/// The pieces that wait.
#[derive(Debug, Default)]
pub struct Outgoing {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// The last piece does not end its line.
    open: bool,
    /// Lines of this process's own, which wait for the end of a line of the server's.
    own: Vec<u8>,
    /// The line that leaves now has become unreadable: the rest of it is left out.
    voided: bool,
}

impl Outgoing {
    /// Returns how many bytes wait. Lines of this process's own that wait for the end of the server's line do not count: it comes
    /// only if the server is read.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how many bytes wait for the end of the server's line.
    pub fn own_bytes(&self) -> usize {
        self.own.len()
    }

    /// Returns whether a line of this process's own would cut one of the server's in two.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Makes sure that the unfinished value before cannot go on in the next line.
    pub fn spoil(&mut self) {
        self.pass(SPOILT.to_vec());
    }

    /// Adds bytes that belong to no message.
    pub fn pass(&mut self, bytes: Vec<u8>) {
        self.open = bytes.last() != Some(&b'\n');
        self.add(bytes.len(), Piece::Pass(bytes));
    }

    /// Adds a whole line with its messages.
    pub fn line(&mut self, held: Held, verdicts: Vec<Verdict>) {
        self.open = false;
        self.add(held.bytes.len(), Piece::Line(held, verdicts));
    }

    /// Adds the last byte of a value.
    pub fn last(&mut self, byte: u8, verdicts: Vec<Verdict>) {
        self.open = true;
        self.add(1, Piece::Last(byte, verdicts));
    }

    fn add(&mut self, bytes: usize, piece: Piece) {
        self.bytes += bytes;
        self.pieces.push_back(piece);
        if !self.open && !self.own.is_empty() {
            let own = std::mem::take(&mut self.own);
            self.bytes += own.len();
            self.pieces.push_back(Piece::Pass(own));
        }
    }

    /// Adds a line of this process's own, which is not to cut one of the server's in two.
    pub fn say(&mut self, line: &[u8]) {
        if self.open {
            self.own.extend_from_slice(line);
        } else {
            self.add(line.len(), Piece::Pass(line.to_vec()));
        }
    }

    /// Adds a line of this process's own that answers a call, and waits for its row. The server writes no more by then.
    pub fn answer(&mut self, reply: Reply, line: Vec<u8>) {
        self.add(line.len(), Piece::Own(Box::new(reply), line));
    }

    /// Ends a line that the server left unfinished.
    pub fn end_line(&mut self) {
        if self.open {
            self.pass(b"\n".to_vec());
        }
    }

    /// Returns the replies whose rows wait, oldest first.
    pub fn waiting(&mut self) -> impl Iterator<Item = &mut Reply> {
        self.pieces.iter_mut().flat_map(Piece::replies).filter(|reply| reply.closed.is_none())
    }

    /// Moves what may leave to the output.
    pub fn release(&mut self, into: &mut Vec<u8>) {
        while self.pieces.front().is_some_and(Piece::is_ready)
            && let Some(piece) = self.pieces.pop_front()
        {
            match piece {
                Piece::Pass(bytes) => {
                    self.bytes -= bytes.len();
                    self.leave(bytes, into);
                }
                Piece::Line(held, verdicts) => {
                    self.bytes -= held.bytes.len();
                    line_without(held, verdicts, into);
                }
                Piece::Last(byte, verdicts) => {
                    self.bytes -= 1;
                    self.leave_last(byte, verdicts, into);
                }
                Piece::Own(reply, line) => {
                    self.bytes -= line.len();
                    into.extend_from_slice(if reply.closed == Some(Ok(())) {
                        &line
                    } else {
                        &reply.otherwise
                    });
                }
            }
        }
    }

    fn leave(&mut self, bytes: Vec<u8>, into: &mut Vec<u8>) {
        if self.voided {
            let Some(end) = memchr::memchr(b'\n', &bytes) else { return };
            self.voided = false;
            into.extend_from_slice(&bytes[end + 1..]);
        } else if into.is_empty() {
            // Most of a long reply leaves this way, and is not copied once more.
            *into = bytes;
        } else {
            into.extend_from_slice(&bytes);
        }
    }

    fn leave_last(&mut self, byte: u8, verdicts: Vec<Verdict>, into: &mut Vec<u8>) {
        if self.voided {
            return;
        }
        let mut after = Vec::new();
        for verdict in verdicts {
            if let Some(line) = verdict.gone() {
                self.voided = true;
                after.extend_from_slice(&line);
            }
        }
        // No reader takes a value that ends like this.
        match self.voided {
            true => into.extend_from_slice(&[SPOILT, b"\n"].concat()),
            false => into.push(byte),
        }
        into.extend_from_slice(&after);
    }
}

/// Writes a line without what does not go on, and what follows in its place.
fn line_without(held: Held, verdicts: Vec<Verdict>, into: &mut Vec<u8>) {
    let (mut dropped, mut cuts, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for verdict in verdicts {
        let place = verdict.place.clone();
        match verdict.fate {
            Fate::Cut(parts) => cuts.extend(parts),
            _ => {
                if let Some(line) = verdict.gone() {
                    dropped.push(place);
                    after.extend_from_slice(&line);
                }
            }
        }
    }
    if dropped.is_empty() && cuts.is_empty() {
        into.extend_from_slice(&held.bytes);
    } else {
        into.extend_from_slice(&held.without(&dropped, &cuts));
    }
    into.extend_from_slice(&after);
}

impl Piece {
    fn replies(&mut self) -> impl Iterator<Item = &mut Reply> {
        let (verdicts, own): (&mut [Verdict], _) = match self {
            Self::Pass(_) => (&mut [], None),
            Self::Line(_, verdicts) | Self::Last(_, verdicts) => (verdicts, None),
            Self::Own(reply, _) => (&mut [], Some(&mut **reply)),
        };
        let answering = verdicts.iter_mut().filter_map(|verdict| match &mut verdict.fate {
            Fate::Reply(reply) => Some(&mut **reply),
            _ => None,
        });
        answering.chain(own)
    }

    fn is_ready(&self) -> bool {
        match self {
            Self::Pass(_) => true,
            Self::Own(reply, _) => reply.closed.is_some(),
            Self::Line(_, verdicts) | Self::Last(_, verdicts) => {
                verdicts.iter().all(|verdict| match &verdict.fate {
                    Fate::Reply(reply) => reply.closed.is_some(),
                    _ => true,
                })
            }
        }
    }
}

impl Verdict {
    /// Returns what follows in the place of a message that goes no further; `None` if it goes on.
    fn gone(self) -> Option<Vec<u8>> {
        match self.fate {
            Fate::Forward | Fate::Cut(_) => None,
            Fate::Drop(instead) => Some(instead.unwrap_or_default()),
            Fate::Reply(reply) if reply.closed == Some(Ok(())) => None,
            Fate::Reply(reply) => Some(reply.otherwise),
        }
    }
}
