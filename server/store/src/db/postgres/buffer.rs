//! Bytes on their way in one direction: added at the end, taken from the start.

use std::ops::Range;

/// An empty buffer that was larger is given back.
const KEPT_BYTES: usize = 1 << 20;

/// A queue of bytes in one piece.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// How many bytes at the start have been taken.
    taken: usize,
}

impl Buffer {
    /// Returns the bytes that have not been taken.
    pub fn rest(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    /// Returns how many these are.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.taken
    }

    /// Returns whether all have been taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes to append to. What was taken before may be gone.
    pub fn end(&mut self) -> &mut Vec<u8> {
        // Each byte is moved at most once on average, because at least as many go.
        if self.taken >= self.len() {
            drop(self.bytes.drain(..self.taken));
            self.taken = 0;
        }
        &mut self.bytes
    }

    /// Takes bytes, at most all. [`Buffer::at`] shows them until more are added.
    pub fn take(&mut self, count: usize) -> Range<usize> {
        let start = self.taken;
        self.taken += count.min(self.len());
        start..self.taken
    }

    /// Returns bytes that were taken.
    pub fn at(&self, taken: Range<usize>) -> &[u8] {
        self.bytes.get(taken).unwrap_or_default()
    }

    /// Keeps the first `count` of the bytes that have not been taken, and drops those behind them.
    pub fn keep(&mut self, count: usize) {
        self.bytes.truncate(self.taken + count);
    }

    /// Gives memory back that nothing uses.
    pub fn tidy(&mut self) {
        if self.is_empty() && self.bytes.capacity() > KEPT_BYTES {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_come_out_as_they_went_in(steps in proptest::collection::vec((0_usize..50, 0_usize..60, 0_usize..9), 0..60)) {
            let (mut buffer, mut model) = (Buffer::default(), std::collections::VecDeque::new());
            for (step, (add, take, keep)) in steps.into_iter().enumerate() {
                let added: Vec<u8> = (0..add).map(|at| u8::try_from((step + at) % 251).unwrap_or(0)).collect();
                buffer.end().extend_from_slice(&added);
                model.extend(added);
                let taken = buffer.take(take);
                let expected: Vec<u8> = model.drain(..take.min(model.len())).collect();
                prop_assert_eq!(buffer.at(taken), &expected[..]);
                if keep == 0 {
                    buffer.keep(buffer.len() / 2);
                    model.truncate(model.len() / 2);
                }
                buffer.tidy();
                prop_assert_eq!(buffer.rest(), &*model.make_contiguous());
                prop_assert_eq!((buffer.len(), buffer.is_empty()), (model.len(), model.is_empty()));
            }
        }
    }

    #[test]
    fn a_large_buffer_is_given_back() {
        let mut buffer = Buffer::default();
        buffer.end().resize(KEPT_BYTES + 1, 1);
        buffer.take(KEPT_BYTES);
        buffer.tidy();
        assert_eq!(buffer.rest(), [1]);
        buffer.take(1);
        buffer.tidy();
        assert_eq!(buffer.end().capacity(), 0);
    }
}
