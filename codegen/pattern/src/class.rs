//! Sets of characters, as ranges of code points, in the meaning of ECMAScript's Unicode mode.

use regex_syntax::hir::{Class as Known, HirKind};

/// Sorted, disjoint ranges of code points.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Class(Vec<(u32, u32)>);

impl Class {
    /// The last code point.
    pub(crate) const LAST: u32 = 0x10_FFFF;

    pub(crate) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
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

    /// The ranges, each with its first and last code point. No text holds those of surrogates.
    #[must_use]
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub(crate) fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(from, to) in &self.0 {
            if from > next {
                gaps.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= Self::LAST {
            gaps.push((next, Self::LAST));
        }
        Self(gaps)
    }

    /// `.` without the flag `s`: everything but line terminators.
    pub(crate) fn dot() -> Self {
        Self::new(vec![(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]).complement()
    }

    /// `\d`, `\w`, `\s` and their opposites.
    pub(crate) fn escape(letter: char) -> Option<Self> {
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

    /// One code point.
    pub(crate) fn one(code: u32) -> Self {
        Self(vec![(code, code)])
    }

    pub(crate) fn contains(&self, code: u32) -> bool {
        let next = self.0.partition_point(|(from, _)| *from <= code);
        next > 0 && self.0[next - 1].1 >= code
    }

    /// `\p{Name}` or `\p{Name=Value}`; `None` if the tables do not have it.
    pub(crate) fn property(name: &str) -> Option<Self> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '=');
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        match regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?.into_kind() {
            HirKind::Class(Known::Unicode(class)) => Some(Self::new(
                class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect(),
            )),
            // The parser has a literal for a class of one character.
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                Some(Self::new(text.chars().map(|c| (u32::from(c), u32::from(c))).collect()))
            }
            _ => None,
        }
    }
}
