//! Checks raw JSON bytes before they are parsed. The parser would find these faults late, or miss them in members
//! that are never read.

use colibri_canonical::escape;

/// Why bytes are refused before parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// More than `limit` nested arrays and objects.
    TooDeep,
    /// An escape such as `\ud800` without its other half, which is not a character.
    LoneSurrogate,
}

/// Checks nesting and surrogate escapes, but not the rest of the syntax.
///
/// # Errors
/// The first fault found.
pub fn check(bytes: &[u8], limit: usize) -> Result<(), Refusal> {
    walk(bytes, limit, string_end)
}

/// Checks nesting alone: lone surrogates pass.
///
/// # Errors
/// [`Refusal::TooDeep`].
pub fn check_nesting(bytes: &[u8], limit: usize) -> Result<(), Refusal> {
    walk(bytes, limit, |bytes, at| Ok(escape::string_end(bytes, at)))
}

fn walk(
    bytes: &[u8],
    limit: usize,
    string_end: impl Fn(&[u8], usize) -> Result<usize, Refusal>,
) -> Result<(), Refusal> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at)?,
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Err(Refusal::TooDeep);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the place behind the closing quote of the string that starts at `at`; the end, if it never closes.
fn string_end(bytes: &[u8], mut at: usize) -> Result<usize, Refusal> {
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => return Ok(at),
            b'\\' if bytes.get(at) == Some(&b'u') => {
                at += 1;
                match unit(bytes, at) {
                    Some(0xd800..=0xdbff) if low_follows(bytes, at + 4) => at += 10,
                    Some(0xd800..=0xdfff) => return Err(Refusal::LoneSurrogate),
                    // The parser refuses anything else than a hexadecimal number.
                    _ => {}
                }
            }
            b'\\' => at += 1,
            _ => {}
        }
    }
    Ok(at)
}

fn low_follows(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..at + 2) == Some(b"\\u") && matches!(unit(bytes, at + 2), Some(0xdc00..=0xdfff))
}

/// Returns the UTF-16 code unit written in the four hexadecimal digits at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 4)?
        .iter()
        .try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}
