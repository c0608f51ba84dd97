//! Lines of about the longest length: the same as [`framing`](super::framing), with a stretch of 4 MiB.

use colibri_runtime::wire::frame::LINE_LIMIT;

use super::framing::{cut, plain};
use crate::dice::Dice;

/// What a read of the loop gives at most, and a little more.
const PIECE_BYTES: usize = 80_000;

/// The first byte says how long the stretch is, 8 bytes around the limit; the first NUL behind it is where it stands.
pub fn check(bytes: &[u8]) -> bool {
    let Some((first, rest)) = bytes.split_first() else { return false };
    let place = rest.iter().position(|byte| *byte == 0);
    let (before, after) = place.map_or((rest, &[][..]), |at| (&rest[..at], &rest[at + 1..]));
    let stretch = LINE_LIMIT - 8 + usize::from(first % 16);
    let stream = [before, &vec![b'x'; stretch], after].concat();
    let dice = Dice::of(bytes);
    let found = cut(&stream, || 1 + dice.place(PIECE_BYTES));
    let expected = plain(&stream);
    // Not by `assert_eq`, which would print the stretch.
    assert!(found == expected, "{} frames instead of {}", found.len(), expected.len());
    found.iter().any(|frame| *frame != colibri_runtime::wire::frame::Frame::TooLong(None))
}
