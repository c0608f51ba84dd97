//! The line splitter.

use colibri_runtime::wire::frame::{Frame, Frames, LINE_LIMIT};

fn line(text: &str) -> Frame {
    Frame::Line(text.as_bytes().to_vec())
}

/// All frames of a stream that arrives in pieces of `size` bytes.
fn frames(stream: &[u8], size: usize) -> Vec<Frame> {
    let mut splitter = Frames::default();
    let mut found = Vec::new();
    for piece in stream.chunks(size) {
        splitter.push(piece);
        found.extend(splitter.by_ref());
    }
    found.extend(splitter.finish());
    found
}

#[test]
fn lines_come_out_whole_however_they_arrive() {
    let stream = b"{\"a\":1}\r\n\n  \t\r\n{\"b\":\"\xc3\xa9\"}\nlast";
    let expected = vec![line("{\"a\":1}"), line("{\"b\":\"é\"}"), line("last")];
    for size in 1..=stream.len() {
        assert_eq!(frames(stream, size), expected, "pieces of {size}");
    }
}

#[test]
fn byte_order_mark_is_dropped_from_the_first_line_only() {
    let stream = b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n";
    for size in 1..=stream.len() {
        assert_eq!(frames(stream, size), [line("one"), line("\u{feff}two")], "pieces of {size}");
    }
}

#[test]
fn empty_streams_hold_nothing() {
    for stream in ["", "\n", "\r\n\r\n", "   ", "\u{feff}", "\u{feff}\r\n"] {
        assert_eq!(frames(stream.as_bytes(), 1), [], "{stream:?}");
    }
}

#[test]
fn limit_is_exact_and_does_not_count_the_line_end() {
    for (length, end, fits) in [
        (LINE_LIMIT, "\n", true),
        (LINE_LIMIT, "\r\n", true),
        (LINE_LIMIT, "", true),
        (LINE_LIMIT + 1, "\n", false),
        (LINE_LIMIT + 1, "\r\n", false),
        (LINE_LIMIT + 1, "", false),
        (LINE_LIMIT + 2, "", false),
    ] {
        for mark in ["", "\u{feff}"] {
            let stream = format!("{mark}{}{end}", "x".repeat(length));
            let found = frames(stream.as_bytes(), 65_536);
            assert_eq!(found.len(), 1, "{length} {end:?}");
            assert_eq!(
                matches!(&found[0], Frame::Line(line) if line.len() == length),
                fits,
                "{length} {end:?}"
            );
            assert_eq!(matches!(found[0], Frame::TooLong(None)), !fits, "{length} {end:?}");
        }
    }
}

#[test]
fn too_long_line_is_reported_once_and_dropped_in_constant_memory() {
    let mut splitter = Frames::default();
    let mut reported = 0;
    for _ in 0..640 {
        splitter.push(&[b'x'; 65_536]);
        reported += splitter.by_ref().filter(|frame| *frame == Frame::TooLong(None)).count();
        assert!(splitter.pending() <= LINE_LIMIT + 65_536);
    }
    assert_eq!(reported, 1);
    splitter.push(b"tail\n{\"next\":1}\n");
    assert_eq!(splitter.next(), Some(line("{\"next\":1}")));
    assert_eq!(splitter.next(), None);
    assert_eq!(splitter.finish(), None);
}

#[test]
fn too_long_line_at_the_end_of_the_stream_is_reported_once() {
    let stream = vec![b'x'; LINE_LIMIT + 100];
    assert_eq!(frames(&stream, 1 << 20), [Frame::TooLong(None)]);
    assert_eq!(frames(&stream, stream.len()), [Frame::TooLong(None)]);
}

#[test]
fn a_complete_line_is_seen_before_it_is_taken() {
    let mut splitter = Frames::default();
    assert!(!splitter.has_line());
    splitter.push(b"{\"a\":1}\n{\"b\"");
    assert!(splitter.has_line());
    assert_eq!(splitter.next(), Some(line("{\"a\":1}")));
    assert!(!splitter.has_line());
    assert_eq!(splitter.next(), None);
    splitter.push(b":2}\n");
    assert!(splitter.has_line());
}

/// The id that a line over the limit is answered with.
fn id_of(start: &str, end: &str) -> Option<String> {
    let line = format!("{start}{}{end}", "x".repeat(LINE_LIMIT));
    let mut found: Vec<Option<String>> = [65_536, line.len()]
        .into_iter()
        .map(|size| match frames(line.as_bytes(), size).as_slice() {
            [Frame::TooLong(id)] => id.as_ref().map(|id| id.as_str().to_owned()),
            other => panic!("{start}: {} frames", other.len()),
        })
        .collect();
    found.dedup();
    assert_eq!(found.len(), 1, "{start}: it depends on how the line arrives: {found:?}");
    found.pop().flatten()
}

#[test]
fn a_line_that_is_too_long_keeps_its_id_if_that_comes_first() {
    for (start, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":""#, Some("7")),
        (r#"{"id":"a\u0041","params":""#, Some(r#""a\u0041""#)),
        ("\u{feff} {\"params\":{\"id\":1,\"deep\":[[{}]]},\"id\":-1.5e3 ,\"a\":\"", Some("-1.5e3")),
        (r#"{"params":{"id":1},"text":""#, None),
        (r#"{"id":null,"text":""#, None),
        (r#"{"id":{"a":1},"text":""#, None),
        (r#"[{"id":1},""#, None),
        (r#"{"id":1 "text":""#, Some("1")),
        (r#"{id:1,"text":""#, None),
        ("\u{feff}\u{feff}{\"id\":1,\"text\":\"", None),
    ] {
        assert_eq!(id_of(start, "\"}\n").as_deref(), id, "{start}");
    }
    let digits = format!(r#"{{"id":{}"#, "1".repeat(LINE_LIMIT + 70_000));
    assert_eq!(frames(digits.as_bytes(), 65_536), [Frame::TooLong(None)], "a number that is cut off");
}
