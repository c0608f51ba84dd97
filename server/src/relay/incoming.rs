//! What waits for the server, in the order in which the client wrote it. A call waits for its row; what stands behind it waits, too.

use std::collections::VecDeque;

use colibri_canonical::HexDigest;
use colibri_runtime::chain::foreign::{ForeignCall, ForeignEnd, Ticket};
use colibri_runtime::chain::store::StoreFault;

use super::Flight;
use crate::wrap::flights::Id;
use crate::wrap::rounds::LaterRound;

/// A line of the client's that was read.
#[derive(Debug, Default)]
pub struct Waiting {
    /// The line, newline included. Empty if the server is not to get it.
    pub bytes: Vec<u8>,
    /// Its calls.
    pub calls: Vec<Entering>,
    /// What else is noted when it leaves.
    pub notes: Vec<Note>,
    /// What answers it in the server's place; ready when its rows are.
    pub answer: Vec<u8>,
    /// It is an array, so that none of its messages leaves if one must not.
    pub batch: bool,
}

impl Waiting {
    /// Returns how many bytes it holds.
    fn bytes(&self) -> usize {
        self.bytes.len() + self.answer.len()
    }

    /// Returns whether it takes a request with that id to the server.
    fn has(&self, id: &Id) -> bool {
        if self.bytes.is_empty() {
            return false;
        }
        self.calls.iter().any(|call| call.id.as_ref() == Some(id))
            || self.notes.iter().any(|note| matches!(note, Note::Request(other, _) if other == id))
    }

    /// Returns how many requests it holds.
    fn requests(&self) -> usize {
        let noted = self.notes.iter().filter(|note| matches!(note, Note::Request(..))).count();
        noted + self.calls.len()
    }
}

/// What a line changes when it leaves.
#[derive(Debug)]
pub enum Note {
    /// A request is in flight.
    Request(Id, Flight),
    /// The handshake is over.
    Initialized,
    /// A request is cancelled, for the reason whose text has that hash.
    Cancelled(Id, Option<String>),
}

/// A call on its way to its row.
#[derive(Debug)]
pub struct Entering {
    /// The id; `None` for a malformed call without one.
    pub id: Option<Id>,
    /// The tool's name, as received.
    pub tool: String,
    /// Whether the call came in the stateless era.
    pub stateless: bool,
    /// The row, until it is tried, and how it ends at once if the call is refused.
    pub row: Option<(ForeignCall, Option<ForeignEnd>)>,
    /// The hash of its arguments alone.
    pub arguments: Option<HexDigest>,
    /// Which call it continues.
    pub round: Option<LaterRound>,
    /// The row's result.
    pub entered: Option<Result<Option<Ticket>, StoreFault>>,
}

/// The lines that wait.
#[derive(Debug, Default)]
pub struct Incoming {
    lines: VecDeque<Waiting>,
    bytes: usize,
    requests: usize,
}

impl Incoming {
    /// Returns how many bytes wait.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how many rows wait to be tried.
    pub fn rows(&self) -> usize {
        self.lines.iter().map(|line| line.calls.iter().filter(|call| call.row.is_some()).count()).sum()
    }

    /// Returns whether a request with that id waits to be sent.
    pub fn has(&self, id: &Id) -> bool {
        self.lines.iter().any(|line| line.has(id))
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns how many requests wait to be sent.
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// Adds a line.
    pub fn push(&mut self, line: Waiting) {
        self.bytes += line.bytes();
        self.requests += line.requests();
        self.lines.push_back(line);
    }

    /// Returns the calls whose rows wait, oldest first.
    pub fn entering(&mut self) -> impl Iterator<Item = &mut Entering> {
        self.lines.iter_mut().flat_map(|line| &mut line.calls).filter(|call| call.entered.is_none())
    }

    /// Returns the next line, if its rows were tried.
    pub fn next(&mut self) -> Option<Waiting> {
        let tried = |line: &Waiting| line.calls.iter().all(|call| call.entered.is_some());
        let line = if self.lines.front().is_some_and(tried) { self.lines.pop_front() } else { None };
        if let Some(line) = &line {
            self.bytes -= line.bytes();
            self.requests -= line.requests();
        }
        line
    }
}
