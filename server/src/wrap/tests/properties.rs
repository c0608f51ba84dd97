//! What holds for any stream and any way in which it arrives.

use proptest::prelude::*;

use crate::wrap::limits::{ARRAY_BYTES, HOLD_BYTES};
use crate::wrap::lines::{Lines, Piece};

/// A line of a server's, or several; sizes lie around the limits.
fn any_line() -> impl Strategy<Value = String> {
    let padding = prop_oneof![
        8 => 0..40_usize,
        2 => HOLD_BYTES - 60..HOLD_BYTES + 60,
        1 => ARRAY_BYTES - 120..ARRAY_BYTES + 60,
    ];
    let answer = (0..9, padding).prop_map(|(id, padding)| {
        format!("{{\"result\":{{\"text\":\"{}\\\"\"}},\"id\":{id}}}", "x".repeat(padding))
    });
    let value = prop_oneof![
        6 => answer.clone(),
        2 => proptest::collection::vec(answer, 0..4).prop_map(|all| format!("[{}]", all.join(" ,"))),
        1 => Just("{\"method\":\"notifications/message\"}".to_owned()),
        1 => Just("{\"id\":1,\"result\":1,\"error\":1}".to_owned()),
    ];
    let line = (proptest::collection::vec(value, 0..3), "[ \r]{0,2}|x|\\{", any::<bool>());
    line.prop_map(|(values, rest, ends)| {
        format!("{}{rest}{}", values.join(" "), if ends { "\n" } else { "" })
    })
}

/// The pieces of a stream that arrives in parts of these sizes, again and again.
fn pieces(stream: &[u8], sizes: &[usize]) -> Vec<Piece> {
    let (mut lines, mut out, mut rest) = (Lines::default(), Vec::new(), stream);
    for size in sizes.iter().cycle() {
        let (part, after) = rest.split_at((*size).min(rest.len()));
        lines.push(part, &mut out);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    lines.finish(&mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_chunking_of_any_stream_gives_the_same_pieces(
        stream in proptest::collection::vec(any_line(), 1..6),
        sizes in proptest::collection::vec(prop_oneof![1..80_usize, 60_000..70_000_usize], 1..6),
    ) {
        let stream = stream.concat();
        let whole = pieces(stream.as_bytes(), &[usize::MAX]);
        // Not by `prop_assert_eq`, which would print megabytes.
        prop_assert!(pieces(stream.as_bytes(), &sizes) == whole);
        let mut released = Vec::new();
        for piece in &whole {
            match piece {
                Piece::Pass(bytes) => released.extend_from_slice(bytes),
                Piece::Held(held) => {
                    prop_assert!(held.bytes.len() <= ARRAY_BYTES + 1);
                    released.extend_from_slice(&held.bytes);
                }
                Piece::Last(byte) => released.push(*byte),
                Piece::Message(_) | Piece::Broken | Piece::Unfinished => {}
            }
        }
        let newline = if stream.is_empty() || stream.ends_with('\n') { "" } else { "\n" };
        let written = [stream.as_str(), newline].concat();
        prop_assert!(released == written.as_bytes());
    }
}
