//! Stored inputs, changed: what a fuzzer without coverage does.

use crate::dice::Dice;

/// The longest piece that is taken out, doubled or brought from another input.
const PIECE_BYTES: usize = 64;
/// Mutations end where inputs become slow instead of new.
const MOST_BYTES: usize = 64 * 1024;

/// The input of a run: the same seed, run and corpus make the same bytes.
pub fn input(seed: u64, run: u64, corpus: &[Vec<u8>], tokens: &[&str]) -> Vec<u8> {
    let dice = Dice::of(&[seed.to_le_bytes(), run.to_le_bytes()].concat());
    let mut bytes = dice.pick(corpus).clone();
    for _ in 0..=dice.place(4) {
        change(&mut bytes, &dice, corpus, tokens);
    }
    bytes.truncate(MOST_BYTES);
    bytes
}

fn change(bytes: &mut Vec<u8>, dice: &Dice, corpus: &[Vec<u8>], tokens: &[&str]) {
    let at = dice.place(bytes.len() + 1);
    let end = (at + dice.place(PIECE_BYTES)).min(bytes.len());
    match dice.place(12) {
        // A bit, a digit or letter beside it, any byte.
        0 if at < bytes.len() => bytes[at] ^= 1 << dice.place(8),
        1 if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(if dice.one_in(2) { 1 } else { 255 }),
        2 if at < bytes.len() => bytes[at] = dice.byte(),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let piece = bytes[at..end].to_vec();
            let to = dice.place(bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        6 => {
            let other = dice.pick(corpus);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[dice.place(other.len() + 1)..]);
        }
        7 => {
            let other = dice.pick(corpus);
            let from = dice.place(other.len() + 1);
            let to = (from + dice.place(PIECE_BYTES)).min(other.len());
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        8 => {
            let token = dice.pick(tokens).repeat(1 + dice.place(200));
            bytes.splice(at..at, token.bytes());
        }
        9 => drop(bytes.splice(at..end, dice.pick(tokens).bytes())),
        10 => number(bytes, at, dice),
        _ => drop(bytes.splice(at..at, dice.pick(tokens).bytes())),
    }
}

/// Puts an odd number in the place of the first one behind a place.
fn number(bytes: &mut Vec<u8>, at: usize, dice: &Dice) {
    const ODD: [&str; 12] = [
        "0",
        "-1",
        "00",
        "1e400",
        "-0.0",
        "1.5",
        "9007199254740991",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e17",
    ];
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else { return };
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.splice(start..start + length, dice.pick(&ODD).bytes());
}
