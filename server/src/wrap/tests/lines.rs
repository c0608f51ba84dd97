//! Held and streamed lines.

use crate::wrap::limits::{ARRAY_BYTES, HOLD_BYTES, LINE_MESSAGES};
use crate::wrap::lines::{Held, Lines, Piece};
use crate::wrap::scan::Kind;

/// The pieces of a stream that arrives whole.
fn pieces(stream: &[u8]) -> Vec<Piece> {
    let (mut lines, mut out) = (Lines::default(), Vec::new());
    lines.push(stream, &mut out);
    lines.finish(&mut out);
    out
}

/// A piece in short.
fn short(piece: &Piece) -> String {
    match piece {
        Piece::Pass(bytes) if bytes.len() > 60 => format!("pass {} bytes", bytes.len()),
        Piece::Pass(bytes) => format!("pass {}", String::from_utf8_lossy(bytes)),
        Piece::Message(message) => match &message.kind {
            Kind::Answer(answer) => format!("answer {}", answer.id.as_ref().map_or("none", |id| id.as_str())),
            other => format!("{other:?}"),
        },
        Piece::Held(held) => format!("held {}", String::from_utf8_lossy(&held.bytes)),
        Piece::Last(byte) => format!("last {}", char::from(*byte)),
        Piece::Broken => "broken".to_owned(),
        Piece::Unfinished => "unfinished".to_owned(),
    }
}

fn shorts(stream: &[u8]) -> Vec<String> {
    pieces(stream).iter().map(short).collect()
}

#[test]
fn short_lines_with_messages_are_held_and_others_pass() {
    assert_eq!(
        shorts(b"\r\n\xef\xbb\xbfbanner\n{broken\n{\"id\":1,\"result\":1}\r\n{}\n[1]\n [{\"id\":2,\"result\":2}]\ntail"),
        [
            "pass \r\n\u{feff}banner\n{broken\n",
            "answer 1",
            "held {\"id\":1,\"result\":1}\r\n",
            "pass {}\n[1]\n",
            "answer 2",
            "held  [{\"id\":2,\"result\":2}]\n",
            "pass tail\n",
        ]
    );
}

#[test]
fn what_begins_with_no_message_leaves_at_once() {
    let (mut lines, mut out) = (Lines::default(), Vec::new());
    lines.push(b"  load", &mut out);
    assert_eq!(out, [Piece::Pass(b"  load".to_vec())]);
    lines.push(b"ing {\"id\":1,\"result\":1}", &mut out);
    assert_eq!(out, [Piece::Pass(b"  loading {\"id\":1,\"result\":1}".to_vec())]);
    lines.push(b"\n{\"id\"", &mut out);
    assert_eq!(out, [Piece::Pass(b"  loading {\"id\":1,\"result\":1}\n".to_vec())]);
}

#[test]
fn of_a_long_line_all_but_the_last_byte_leaves_as_it_comes() {
    let (mut lines, mut out) = (Lines::default(), Vec::new());
    let start = format!("{{\"result\":\"{}", "x".repeat(HOLD_BYTES - 11));
    lines.push(start.as_bytes(), &mut out);
    assert_eq!((start.len(), out.as_slice()), (HOLD_BYTES, &[][..]), "the longest line that is held");
    lines.push(b"x", &mut out);
    assert_eq!(out, [Piece::Pass(format!("{start}x").into_bytes())]);
    out.clear();
    lines.push(b"\",\"id\":7} \n", &mut out);
    assert_eq!(
        out.iter().map(short).collect::<Vec<_>>(),
        ["pass \",\"id\":7", "answer 7", "last }", "pass  \n"]
    );
    let exact = format!("{}\",\"id\":7}}\n", &start[..HOLD_BYTES - 9]);
    assert!(matches!(pieces(exact.as_bytes()).as_slice(), [Piece::Message(_), Piece::Held(_)]));
}

#[test]
fn values_before_the_limit_wait_for_themselves() {
    let long = "x".repeat(HOLD_BYTES);
    assert_eq!(
        shorts(format!("{{\"id\":1,\"result\":1}} {{}}{{\"id\":2,\"result\":\"{long}\"}}\n").as_bytes()),
        [
            "pass {\"id\":1,\"result\":1",
            "answer 1",
            "last }",
            &format!("pass {} bytes", long.len() + 22),
            "answer 2",
            "last }",
            "pass \n"
        ]
    );
}

#[test]
fn arrays_are_held_up_to_a_mebibyte() {
    let array = |length: usize| {
        let line = r#"[{"id":1,"result":1},{"id":2,"result":""}"#;
        format!("{line}{}]", " ".repeat(length - line.len() - 1))
    };
    let held = format!("{}\r\n", array(ARRAY_BYTES - 1));
    let found = pieces(held.as_bytes());
    assert!(
        matches!(found.as_slice(), [Piece::Message(_), Piece::Message(_), Piece::Held(Held { bytes, .. })]
        if bytes == held.as_bytes())
    );
    let streamed = format!("{}\n", array(ARRAY_BYTES + 1));
    assert_eq!(
        shorts(streamed.as_bytes()),
        [&format!("pass {ARRAY_BYTES} bytes"), "answer 1", "answer 2", "last ]", "pass \n"]
    );
    // Without its end only a reader takes it that goes on in the next line.
    let broken = &streamed[..ARRAY_BYTES];
    assert_eq!(shorts(broken.as_bytes()), ["Ambiguous", &format!("held {broken}\n")]);
    let broken = format!("{} \n", &streamed[..ARRAY_BYTES]);
    assert_eq!(
        shorts(broken.as_bytes()),
        [
            &format!("pass {ARRAY_BYTES} bytes"),
            "answer 1",
            "answer 2",
            "pass  ",
            "broken",
            "unfinished",
            "pass \n"
        ]
    );
    assert_eq!(shorts(b"[{\"id\":1,\"result\":1}\n"), ["Ambiguous", "held [{\"id\":1,\"result\":1}\n"]);
}

#[test]
fn a_higher_limit_holds_longer_lines() {
    let line = format!("{{\"id\":1,\"result\":\"{}\"}}\n", "x".repeat(HOLD_BYTES));
    let (mut lines, mut out) = (Lines::default(), Vec::new());
    lines.push(&line.as_bytes()[..HOLD_BYTES], &mut out);
    lines.hold(ARRAY_BYTES);
    lines.push(&line.as_bytes()[HOLD_BYTES..], &mut out);
    assert!(matches!(out.as_slice(), [Piece::Message(_), Piece::Held(_)]));
    out.clear();
    lines.hold(HOLD_BYTES);
    lines.push(line.as_bytes(), &mut out);
    assert_eq!(out.iter().map(short).collect::<Vec<_>>()[1..], ["answer 1", "last }", "pass \n"]);
}

#[test]
fn an_unfinished_last_line_gets_a_newline() {
    assert_eq!(shorts(b"{\"id\":1,\"result\":1}"), ["answer 1", "held {\"id\":1,\"result\":1}\n"]);
    assert_eq!(shorts(b"{\"id\":1,\"res"), ["pass {\"id\":1,\"res\n"]);
    let long = format!("{{\"id\":1,\"result\":\"{}", "x".repeat(HOLD_BYTES));
    assert_eq!(shorts(long.as_bytes()), [format!("pass {} bytes", long.len() + 1)]);
    assert_eq!(shorts(b""), [] as [String; 0]);
}

/// The line without the messages whose ids are named.
fn without(line: &str, ids: &[&str]) -> String {
    let found = pieces(line.as_bytes());
    let dropped = found.iter().filter_map(|piece| match piece {
        Piece::Message(message) => match &message.kind {
            Kind::Answer(answer) if ids.contains(&answer.id.as_ref()?.as_str()) => {
                Some(message.place.clone())
            }
            _ => None,
        },
        _ => None,
    });
    let dropped: Vec<_> = dropped.collect();
    assert_eq!(dropped.len(), ids.len(), "{line}");
    let Some(Piece::Held(held)) = found.last() else { panic!("{line} is not held") };
    String::from_utf8(held.without(&dropped, &[])).unwrap()
}

#[test]
fn messages_are_cut_out_with_one_comma() {
    let (a, b, c) = (r#"{"id":1,"result":1}"#, r#"{"id":2,"result":[1,2]}"#, r#"{"id":3,"result":3}"#);
    let array = format!(" [ {a} ,\t{b} , {c} ] \r\n");
    for (ids, left) in [
        (&[][..], array.clone()),
        (&["1"], format!(" [  \t{b} , {c} ] \r\n")),
        (&["2"], format!(" [ {a} \t , {c} ] \r\n")),
        (&["3"], format!(" [ {a} ,\t{b}   ] \r\n")),
        (&["1", "2"], format!(" [  \t  {c} ] \r\n")),
        (&["2", "3"], format!(" [ {a} \t   ] \r\n")),
        (&["1", "3"], format!(" [  \t{b}   ] \r\n")),
        (&["1", "2", "3"], String::new()),
    ] {
        assert_eq!(without(&array, ids), left, "{ids:?}");
    }
    assert_eq!(without(&format!("[5,{a}]\n"), &["1"]), "[5]\n");
    assert_eq!(without(&format!("\u{feff}{a}\r\n"), &["1"]), "");
    assert_eq!(without(&format!("{a}{b} [{c}]\n"), &["1", "3"]), format!("{b} \n"));
}

/// Where an array is not well-formed readers differ on its elements, and no byte of it may stay when one has to go.
#[test]
fn of_a_broken_array_nothing_stays_when_a_message_goes() {
    let (a, b) = (r#"{"id":1,"result":1}"#, r#"{"id":2,"result":{"tools":[{"name":"danger"}]}}"#);
    for line in
        [format!("[{a} {b}]\n"), format!("[{a},{b}}}\n"), format!("[x{a},{b}]\n"), format!("[{b},,{a}]{b}\n")]
    {
        assert_eq!(without(&line, &["1"]), "", "{line}");
    }
    // A part inside a value that goes is gone with it.
    let line = format!("{a}{b}\n");
    let found = pieces(line.as_bytes());
    let Some(Piece::Held(held)) = found.last() else { panic!("{line}") };
    let second = a.len()..a.len() + b.len();
    let part = second.start + 5..second.start + 9;
    assert_eq!(held.without(&[second], &[part]), format!("{a}\n").as_bytes());
}

#[test]
fn some_readers_end_a_line_at_a_carriage_return() {
    let answer = r#"{"id":1,"result":1}"#;
    assert_eq!(
        shorts(format!("x\r{answer}\n").as_bytes()),
        [&format!("pass x\r{}", &answer[..answer.len() - 1]), "answer 1", "last }", "pass \n"]
    );
    for around in
        [format!("{{\"a\":\r{answer}\r}}\n"), format!("[1,\r{answer}\r]\n"), format!("[[\r{answer}\r]]\n")]
    {
        assert_eq!(shorts(around.as_bytes()), ["Ambiguous", &format!("held {around}")]);
    }
    assert_eq!(shorts(b"1 %\r20 %\r\n{}\r\n"), ["pass 1 %\r20 %\r\n{}\r\n"]);
    assert_eq!(shorts(format!("{answer}\r\n").as_bytes()), ["answer 1", &format!("held {answer}\r\n")]);
}

#[test]
fn a_value_that_may_go_on_in_the_next_line_is_ambiguous() {
    for line in ["{", "[", "{\"id\":1,", "{\"id\":1,\"result\":{\"a\":[]}", " [{\"id\":1}, "] {
        assert_eq!(shorts(format!("{line}\n").as_bytes()), ["Ambiguous", &format!("held {line}\n")]);
    }
    for line in ["{broken", "{'a':1,", "{\"half a te", "[INFO] started {", "[12:00 {"] {
        assert_eq!(shorts(format!("{line}\n").as_bytes()), [format!("pass {line}\n")]);
    }
    let answer = r#"{"id":1,"result":1}"#;
    assert_eq!(
        shorts(format!("{answer} {{\n").as_bytes()),
        ["answer 1", "Ambiguous", &format!("held {answer} {{\n")]
    );
    let long = format!("{{\"id\":1,\"a\":\"{}\"", "x".repeat(HOLD_BYTES));
    let passed = format!("pass {} bytes", long.len());
    assert_eq!(shorts(format!("{long}\n}}\n").as_bytes()), [&passed, "unfinished", "pass \n}\n"]);
}

#[test]
fn an_array_of_more_messages_than_a_line_may_hold_goes_as_a_whole() {
    let array = |count: usize| format!("[{}]\n", vec![r#"{"id":1,"result":0}"#; count].join(","));
    let found = pieces(array(LINE_MESSAGES).as_bytes());
    assert_eq!(found.len(), LINE_MESSAGES + 1);
    let found = shorts(array(LINE_MESSAGES + 1).as_bytes());
    assert_eq!((found.len(), &*found[0]), (2, "Ambiguous"));
    // Longer than arrays are held.
    let found = shorts(array(100_000).as_bytes());
    let answers = found.iter().filter(|piece| *piece == "answer 1").count();
    assert_eq!(answers, LINE_MESSAGES);
    assert_eq!(found[found.len() - 4..], ["broken", "Ambiguous", "last ]", "pass \n"]);
}

#[test]
fn a_line_that_begins_with_no_message_can_be_broken_off() {
    let (mut lines, mut out) = (Lines::default(), Vec::new());
    lines.push(b"Ready> ", &mut out);
    assert!(lines.break_off());
    out.clear();
    lines.push(b"{\"id\":1,\"result\":1}\n", &mut out);
    assert_eq!(out.iter().map(short).collect::<Vec<_>>(), ["answer 1", "held {\"id\":1,\"result\":1}\n"]);
    for part in [&b""[..], b"  ", b"{\"id\":1", &b"{\"id\":1,\"a\":["[..]] {
        lines.push(part, &mut out);
        assert!(!lines.break_off());
        lines.push(b"\n", &mut out);
    }
}
