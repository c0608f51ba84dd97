//! The keys that a person presses, as the bytes that a terminal sends for them. A thread reads them, and ends with the terminal:
//! crossterm's reader goes round in circles when the terminal is closed.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Begins the sequence of a key that stands for more than a character.
const ESCAPE: u8 = 0x1b;

/// Starts the thread. The receiver is cut off when the terminal is gone.
///
/// # Errors
/// The operating system's.
pub fn start() -> io::Result<Receiver<KeyEvent>> {
    // The lock on Rust's own stdin belongs to the command.
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (send, keys) = channel();
    thread::Builder::new().name("keys".to_owned()).spawn(move || {
        let (mut chunk, mut bytes) = ([0; 1024], Vec::new());
        loop {
            match stdin.read(&mut chunk) {
                Ok(length @ 1..) => bytes.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return,
            }
            while let Some(key) = next(&mut bytes) {
                if send.send(key).is_err() {
                    return;
                }
            }
        }
    })?;
    Ok(keys)
}

/// Takes the first key off the bytes; `None` if its last bytes are still to come. A key that has no meaning here is `Null`.
fn next(bytes: &mut Vec<u8>) -> Option<KeyEvent> {
    let (length, code) = match bytes.as_slice() {
        [] => return None,
        [ESCAPE, b'[' | b'O', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            (end + 3, named(&rest[..end], rest[end]))
        }
        [ESCAPE, ..] => (1, KeyCode::Esc),
        [b'\r' | b'\n', ..] => (1, KeyCode::Enter),
        [0x08 | 0x7f, ..] => (1, KeyCode::Backspace),
        [0x03, ..] => {
            bytes.remove(0);
            return Some(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
        }
        [0x00..=0x1f, ..] => (1, KeyCode::Null),
        [first, ..] => {
            let length = match first {
                0xf0..=0xf7 => 4,
                0xe0..=0xef => 3,
                0xc0..=0xdf => 2,
                _ => 1,
            };
            let character = bytes.get(..length)?;
            match std::str::from_utf8(character).ok().and_then(|text| text.chars().next()) {
                Some(character) => (length, KeyCode::Char(character)),
                None => (1, KeyCode::Null),
            }
        }
    };
    bytes.drain(..length);
    Some(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Returns the key of a sequence, from what stands between its beginning and its last byte.
fn named(middle: &[u8], last: u8) -> KeyCode {
    match (middle, last) {
        (_, b'A') => KeyCode::Up,
        (_, b'B') => KeyCode::Down,
        (_, b'C') => KeyCode::Right,
        (_, b'D') => KeyCode::Left,
        (_, b'H') | (b"1" | b"7", b'~') => KeyCode::Home,
        (_, b'F') | (b"4" | b"8", b'~') => KeyCode::End,
        (b"5", b'~') => KeyCode::PageUp,
        (b"6", b'~') => KeyCode::PageDown,
        (_, b'M') => KeyCode::Enter,
        _ => KeyCode::Null,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyCode::{
        Backspace, Char, Down, End, Enter, Esc, Home, Left, Null, PageDown, PageUp, Right, Up,
    };
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};

    use super::next;

    #[test]
    fn keys_are_told_from_their_bytes() {
        let cases: [(&[u8], &[KeyCode]); 11] = [
            (b"q/", &[Char('q'), Char('/')]),
            (b"\x1b[A\x1b[B\x1b[C\x1b[D", &[Up, Down, Right, Left]),
            (b"\x1bOA\x1bOB", &[Up, Down]),
            (b"\x1b[H\x1b[1~\x1b[F\x1b[4~\x1b[5~\x1b[6~", &[Home, Home, End, End, PageUp, PageDown]),
            (b"\r\n\x7f\x08", &[Enter, Enter, Backspace, Backspace]),
            (b"\x1b", &[Esc]),
            (b"\x1bd\x1b\x1b", &[Esc, Char('d'), Esc, Esc]),
            ("ü日🦀".as_bytes(), &[Char('ü'), Char('日'), Char('🦀')]),
            (b"\x00\x1a\x1b[3~\x1b[200~", &[Null, Null, Null, Null]),
            (b"\xff\x80a\xc3(", &[Null, Null, Char('a'), Null, Char('(')]),
            (b"", &[]),
        ];
        for (pressed, expected) in cases {
            let mut bytes = pressed.to_vec();
            let keys: Vec<KeyCode> = std::iter::from_fn(|| next(&mut bytes)).map(|key| key.code).collect();
            assert_eq!((keys.as_slice(), bytes.as_slice()), (expected, &b""[..]), "{pressed:?}");
        }
        let mut control = b"\x03".to_vec();
        assert_eq!(next(&mut control).map(|key| key.modifiers), Some(KeyModifiers::CONTROL));
    }

    #[test]
    fn a_key_waits_for_its_last_byte() {
        for whole in [&b"\x1b[5~"[..], "日".as_bytes(), "🦀".as_bytes()] {
            let mut bytes = whole[..whole.len() - 1].to_vec();
            assert_eq!(next(&mut bytes), None, "{whole:?}");
            bytes.extend(whole.last());
            assert!(next(&mut bytes).is_some_and(|key| key.code != Null), "{whole:?}");
            assert!(bytes.is_empty());
        }
    }
}
