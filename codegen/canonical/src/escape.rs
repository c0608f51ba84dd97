//! Strings as JSON literals: the escapes of RFC 8785 §3.2.2.2, which are also the shortest ones.

/// Appends `text` as a JSON string, quotes included.
pub fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// Whether a byte has to be escaped. Without a branch, so that a compiler can look at a whole block of bytes at once.
pub(crate) const fn needs_escape(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// The same as a table, which is faster one byte at a time.
const ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x80 {
        table[byte as usize] = needs_escape(byte);
        byte += 1;
    }
    table
};

/// Appends `text` with the escapes of a JSON string, without quotes.
pub fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    // Everything that needs an escape is one ASCII byte, so both sides of it are whole texts.
    while let Some(index) = rest.bytes().position(|byte| ESCAPED[usize::from(byte)]) {
        let (plain, behind) = rest.split_at(index);
        out.push_str(plain);
        out.push_str(escape(behind.as_bytes()[0]));
        rest = &behind[1..];
    }
    out.push_str(rest);
}

/// The escape of a byte that does not stand for itself.
pub(crate) fn escape(byte: u8) -> &'static str {
    match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        _ => CONTROLS.get(usize::from(byte)).copied().unwrap_or_default(),
    }
}

/// The escapes of the control characters U+0000 to U+001F.
const CONTROLS: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
    "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
    "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
    "\\u001d", "\\u001e", "\\u001f",
];

/// Returns the place behind the closing quote of the string that starts at `at`; the end, if it never closes.
#[must_use]
pub fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => return at,
            b'\\' => at += 1,
            _ => {}
        }
    }
    at
}
