//! Strings as JSON literals: the escapes of RFC 8785 §3.2.2.2 (zeta §4.3.2), which are also the
//! shortest ones.

/// Appends `text` as a JSON string, quotes included.
pub fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// Which bytes do not stand for themselves.
const ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

/// Appends `text` with the escapes of a JSON string, without quotes.
pub fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    // Everything that needs an escape is one ASCII byte, so both sides of it are whole texts.
    while let Some(index) = rest.bytes().position(|byte| ESCAPED[usize::from(byte)]) {
        let (plain, behind) = rest.split_at(index);
        out.push_str(plain);
        push_escape(out, behind.as_bytes()[0]);
        rest = &behind[1..];
    }
    out.push_str(rest);
}

fn push_escape(out: &mut String, byte: u8) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        0x08 => out.push_str("\\b"),
        0x09 => out.push_str("\\t"),
        0x0a => out.push_str("\\n"),
        0x0c => out.push_str("\\f"),
        0x0d => out.push_str("\\r"),
        _ => {
            out.push_str("\\u00");
            out.push(if byte < 0x10 { '0' } else { '1' });
            out.push(char::from(b"0123456789abcdef"[usize::from(byte & 0x0f)]));
        }
    }
}
