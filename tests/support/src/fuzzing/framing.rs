//! Lines: they are what a plain split gives, wherever the stream was cut.

use colibri_runtime::wire::frame::{Frame, Frames, LINE_LIMIT};

use crate::dice::Dice;

/// What the splitter looks for.
pub const TOKENS: &[&str] =
    &["\n", "\r\n", "\r", "\u{feff}", " ", "\t", "\n\n", "\r\r\n", "{}", "\0", "\u{b}", "\u{85}"];

/// Takes the stream in pieces of one, of few and of many bytes, and as a whole.
pub fn check(stream: &[u8]) -> bool {
    let expected = plain(stream);
    let dice = Dice::of(stream);
    assert_eq!(cut(stream, || usize::MAX), expected, "in one piece");
    for most in [1, 3, 50] {
        assert_eq!(cut(stream, || 1 + dice.place(most)), expected, "in pieces of at most {most}");
    }
    !expected.is_empty()
}

/// The frames of a stream that arrives in pieces of those sizes.
pub fn cut(stream: &[u8], mut size: impl FnMut() -> usize) -> Vec<Frame> {
    let (mut splitter, mut found, mut rest) = (Frames::default(), Vec::new(), stream);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(size().min(rest.len()));
        rest = after;
        let before = splitter.pending();
        splitter.push(piece);
        assert!(splitter.pending() <= before + piece.len());
        let promised = splitter.has_line();
        let taken: Vec<Frame> = splitter.by_ref().map(without_id).collect();
        assert!(
            promised || taken.iter().all(|frame| *frame == Frame::TooLong(None)),
            "a frame without a line"
        );
        found.extend(taken);
        assert!(!splitter.has_line() && splitter.pending() <= LINE_LIMIT + 4, "more is kept than a line");
    }
    found.extend(splitter.finish().map(without_id));
    assert_eq!((splitter.pending(), splitter.finish(), splitter.next()), (0, None, None), "nothing is left");
    found
}

/// The definition below does not say which id a long line has.
fn without_id(frame: Frame) -> Frame {
    match frame {
        Frame::TooLong(_) => Frame::TooLong(None),
        line => line,
    }
}

/// The frames of a stream by the definition.
pub fn plain(stream: &[u8]) -> Vec<Frame> {
    let lines = stream.split(|byte| *byte == b'\n').enumerate().map(|(index, line)| {
        let line = if index == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        line.strip_suffix(b"\r").unwrap_or(line)
    });
    let frames = lines.filter_map(|line| match line.len() {
        length if length > LINE_LIMIT => Some(Frame::TooLong(None)),
        _ if line.iter().all(u8::is_ascii_whitespace) => None,
        _ => Some(Frame::Line(line.to_vec())),
    });
    frames.collect()
}
