//! Where the members of a JSON object and the items of an array stand in a line, and the line without some of them. The line is
//! not validated: clients differ in what they take, and bytes that stay must stay as they are.

use std::ops::Range;

/// The parts of an object or an array: where each stands, and the comma behind each but the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// Each part without the white space around it; of an object, from the name to the end of the value.
    pub extents: Vec<Range<usize>>,
    commas: Vec<usize>,
}

impl Parts {
    /// Returns the pieces of the line to leave out so that only the parts remain that `keep` takes by their index: every other
    /// part with one comma.
    pub fn without(&self, keep: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
        let mut pieces = Vec::new();
        let mut kept_before = false;
        for (index, extent) in self.extents.iter().enumerate() {
            if keep(index) {
                kept_before = true;
                continue;
            }
            let comma = match kept_before {
                true => index.checked_sub(1).and_then(|before| self.commas.get(before)),
                false => self.commas.get(index),
            };
            pieces.extend(comma.map(|at| *at..*at + 1));
            pieces.push(extent.clone());
        }
        pieces.sort_by_key(|piece| piece.start);
        pieces
    }
}

/// Returns the line without some pieces, which are in order of their beginnings; one may lie inside another.
pub fn cut(line: &[u8], pieces: &[Range<usize>]) -> Vec<u8> {
    let mut rest = Vec::with_capacity(line.len());
    let mut from = 0;
    for piece in pieces {
        rest.extend_from_slice(line.get(from..piece.start).unwrap_or_default());
        from = from.max(piece.end);
    }
    rest.extend_from_slice(line.get(from..).unwrap_or_default());
    rest
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, escapes undone; `None` if it is not text that all readers agree on.
    pub name: Option<String>,
    /// Where its value stands.
    pub value: Range<usize>,
}

/// Reads the members of the object that stands at `place`; `None` if something else stands there.
pub fn members(line: &[u8], place: &Range<usize>) -> Option<(Vec<Member>, Parts)> {
    let mut members = Vec::new();
    let parts = parts(line, place, [b'{', b'}'], |walk| {
        let name = walk.text()?;
        walk.space();
        walk.byte(b':')?;
        walk.space();
        let value = walk.value()?;
        members.push(Member { name: text(line.get(name)?), value });
        Some(())
    })?;
    Some((members, parts))
}

/// Reads the items of the array that stands at `place`; `None` if something else stands there.
pub fn items(line: &[u8], place: &Range<usize>) -> Option<Parts> {
    parts(line, place, [b'[', b']'], |walk| walk.value().map(drop))
}

/// Returns the text of a JSON string, escapes undone; `None` for anything else, and for lone surrogates and bytes that are not UTF-8.
pub fn text(raw: &[u8]) -> Option<String> {
    serde_json::from_slice(raw).ok()
}

fn parts<'a>(
    line: &'a [u8],
    place: &Range<usize>,
    [open, close]: [u8; 2],
    mut part: impl FnMut(&mut Walk<'a>) -> Option<()>,
) -> Option<Parts> {
    let mut walk = Walk { line: line.get(..place.end)?, at: place.start };
    let mut parts = Parts::default();
    walk.byte(open)?;
    walk.space();
    if walk.byte(close).is_some() {
        return Some(parts);
    }
    loop {
        let start = walk.at;
        part(&mut walk)?;
        parts.extents.push(start..walk.at);
        walk.space();
        if walk.byte(close).is_some() {
            return Some(parts);
        }
        parts.commas.push(walk.at);
        walk.byte(b',')?;
        walk.space();
    }
}

/// A place in a line.
struct Walk<'a> {
    line: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Steps over a byte, if it is this one.
    fn byte(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Steps over a string, quotation marks included.
    fn text(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.byte(b'"')?;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// Steps over a value of any depth.
    fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.text().map(drop)?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => {
                    if depth == 0 {
                        return None;
                    }
                    self.at += 1;
                }
                _ => self.literal(),
            }
            if depth == 0 {
                return Some(start..self.at);
            }
        }
    }

    /// Steps over a number or a word, of which readers know more than JSON has.
    fn literal(&mut self) {
        let ends = |byte: u8| b"\"{}[],: \t\r\n".contains(&byte);
        while self.peek().is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
    }
}
