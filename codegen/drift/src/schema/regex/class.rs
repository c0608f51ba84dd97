//! Sets of characters, as ranges of code points, in the meaning of ECMAScript's Unicode mode.

use std::fmt::Write;

const LAST: u32 = 0x10_FFFF;

/// Sorted, disjoint ranges of code points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class(Vec<(u32, u32)>);

impl Class {
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some((_, end)) if from <= end.saturating_add(1) => *end = to.max(*end),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub(super) fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(from, to) in &self.0 {
            if from > next {
                gaps.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= LAST {
            gaps.push((next, LAST));
        }
        Self(gaps)
    }

    /// `.` without the flag `s`: everything but line terminators.
    pub(super) fn dot() -> Self {
        Self::new(vec![(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]).complement()
    }

    /// `\d`, `\w`, `\s` and their opposites.
    pub(super) fn escape(letter: char) -> Option<Self> {
        let class = match letter.to_ascii_lowercase() {
            'd' => Self::new(vec![(0x30, 0x39)]),
            'w' => Self::new(vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]),
            's' => Self::new(vec![
                (0x09, 0x0D),
                (0x20, 0x20),
                (0xA0, 0xA0),
                (0x1680, 0x1680),
                (0x2000, 0x200A),
                (0x2028, 0x2029),
                (0x202F, 0x202F),
                (0x205F, 0x205F),
                (0x3000, 0x3000),
                (0xFEFF, 0xFEFF),
            ]),
            _ => return None,
        };
        Some(if letter.is_ascii_uppercase() { class.complement() } else { class })
    }

    /// As `regex-syntax` writes it. No string of JSON holds a surrogate.
    pub(super) fn write(&self, out: &mut String) {
        let start = out.len();
        out.push('[');
        for &(from, to) in &self.0 {
            for (from, to) in [(from, to.min(0xD7FF)), (from.max(0xE000), to)] {
                if from <= to {
                    let _ = write!(out, "\\x{{{from:X}}}-\\x{{{to:X}}}");
                }
            }
        }
        if out.len() == start + 1 {
            out.push_str("a&&b");
        }
        out.push(']');
    }
}
