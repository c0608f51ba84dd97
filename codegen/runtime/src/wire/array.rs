//! Arrays of messages, the batches of JSON-RPC: the answers to one array leave together, as one array.
//!
//! Only revision 2025-03-26 has them. Their calls queue up and run like any others. This module keeps only what
//! joins them: the answers that must wait for one another.

use std::collections::HashMap;

use super::outbox::FULL_BYTES;
use crate::chain::call::Member;

/// The most messages of an array: as many calls as share a transaction.
pub const MEMBERS: usize = 64;
/// When more bytes of answers than this are held back, the requests of a further array are refused.
pub const HELD_BYTES: usize = FULL_BYTES;

/// The arrays that are not answered yet.
#[derive(Debug, Default)]
pub struct Arrays {
    open: HashMap<u64, Array>,
    last: u64,
    held: usize,
    /// The ids of calls whose array has been answered.
    ended: Vec<Box<str>>,
}

/// The answers to one array.
#[derive(Debug)]
struct Array {
    /// One for each message, in their order, with its line end; empty for a message without an answer.
    answers: Vec<Vec<u8>>,
    /// How many calls have not ended, and one more until the whole array has been taken.
    missing: usize,
    /// The ids of its calls, which are in flight until it is answered.
    calls: Vec<Box<str>>,
}

impl Arrays {
    /// Begins the answer to an array of that many messages.
    pub fn open(&mut self, messages: usize) -> u64 {
        self.last += 1;
        self.open
            .insert(self.last, Array { answers: vec![Vec::new(); messages], missing: 1, calls: Vec::new() });
        self.last
    }

    /// Marks the array as taken; it is answered now unless it has calls.
    pub fn taken(&mut self, array: u64, out: &mut Vec<u8>) {
        self.one_less(array, out);
    }

    /// Keeps the answer to a message other than a call.
    pub fn put(&mut self, member: Member, line: Vec<u8>) {
        self.held += line.len();
        let kept = self.open.get_mut(&member.array).and_then(|array| array.answers.get_mut(member.place));
        if let Some(place) = kept {
            *place = line;
        }
    }

    /// Notes that the array waits for the answer or the end of the message. If it is a call, its id is in flight until then.
    pub fn expect(&mut self, member: Member, call: Option<&str>) {
        if let Some(array) = self.open.get_mut(&member.array) {
            array.missing += 1;
            array.calls.extend(call.map(Box::from));
        }
    }

    /// Returns the id of a call whose array has been answered, once for each.
    pub(super) fn next_ended(&mut self) -> Option<Box<str>> {
        self.ended.pop()
    }

    /// Takes the answer of a call.
    pub fn answered(&mut self, member: Member, line: Vec<u8>, out: &mut Vec<u8>) {
        self.put(member, line);
        self.one_less(member.array, out);
    }

    /// Notes that the call gets no answer.
    pub fn unanswered(&mut self, member: Member, out: &mut Vec<u8>) {
        self.one_less(member.array, out);
    }

    /// Returns whether too much is held back.
    pub(crate) fn is_full(&self) -> bool {
        self.held > HELD_BYTES
    }

    fn one_less(&mut self, key: u64, out: &mut Vec<u8>) {
        let Some(array) = self.open.get_mut(&key) else { return };
        array.missing -= 1;
        if array.missing > 0 {
            return;
        }
        let Some(Array { answers, calls, .. }) = self.open.remove(&key) else { return };
        self.ended.extend(calls);
        let mut between = b'[';
        for line in answers.iter().filter(|line| !line.is_empty()) {
            self.held -= line.len();
            out.push(between);
            out.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            between = b',';
        }
        // An array without requests has no answer.
        if between == b',' {
            out.extend_from_slice(b"]\n");
        }
    }
}
