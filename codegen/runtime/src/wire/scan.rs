//! Checks raw JSON bytes before they are parsed. The parser would find these faults late, or miss them in members
//! that are never read.

use std::borrow::Cow;

use colibri_canonical::escape;

/// So many names are compared with each other; more are sorted.
const FEW: usize = 8;

/// A refusal repeats a name of up to so many bytes.
const SHOWN: usize = 64;

/// Why bytes are refused before parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// More than `limit` nested arrays and objects.
    TooDeep,
    /// An escape such as `\ud800` without its other half, which is not a character.
    LoneSurrogate,
    /// An object names a member twice. Readers differ in which of the two counts. Its name, unless that is long.
    Repeated(Option<Box<str>>),
}

/// Checks nesting, surrogate escapes and the names of members, but not the rest of the syntax.
///
/// # Errors
/// The first fault found.
pub fn check(bytes: &[u8], limit: usize) -> Result<(), Refusal> {
    let mut names = Names::default();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let start = at;
                at = string_end(bytes, at)?;
                if is_name(bytes, at) {
                    names.take(bytes.get(start..at - 1).unwrap_or_default());
                }
            }
            b'[' | b'{' => {
                depth = deeper(depth, limit)?;
                if *byte == b'{' {
                    names.open();
                }
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if *byte == b'}' {
                    names.close()?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks nesting alone: lone surrogates and repeated names pass.
///
/// # Errors
/// [`Refusal::TooDeep`].
pub fn check_nesting(bytes: &[u8], limit: usize) -> Result<(), Refusal> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = escape::string_end(bytes, at),
            b'[' | b'{' => depth = deeper(depth, limit)?,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

fn deeper(depth: usize, limit: usize) -> Result<usize, Refusal> {
    if depth < limit { Ok(depth + 1) } else { Err(Refusal::TooDeep) }
}

/// Returns whether the string that ends at `at` is the name of a member: a colon follows.
fn is_name(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// The names of members of the objects that are open, each as its text between the quotes.
#[derive(Default)]
struct Names<'a> {
    names: Vec<Cow<'a, [u8]>>,
    /// Where the names of each object start.
    starts: Vec<usize>,
}

impl<'a> Names<'a> {
    fn open(&mut self) {
        self.starts.push(self.names.len());
    }

    fn take(&mut self, name: &'a [u8]) {
        self.names.push(if name.contains(&b'\\') { plain(name) } else { Cow::Borrowed(name) });
    }

    /// Forgets the names of the innermost object.
    fn close(&mut self) -> Result<(), Refusal> {
        // What is not JSON may close more than it opens; the parser refuses it.
        let start = self.starts.pop().unwrap_or(self.names.len());
        if let Some(name) = repeated(self.names.get_mut(start..).unwrap_or_default()) {
            let name = std::str::from_utf8(name).ok().filter(|name| name.len() <= SHOWN);
            return Err(Refusal::Repeated(name.map(Into::into)));
        }
        self.names.truncate(start);
        Ok(())
    }
}

/// Returns a name that comes twice.
fn repeated<'n>(names: &'n mut [Cow<'_, [u8]>]) -> Option<&'n [u8]> {
    if names.len() > FEW {
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        return twice.map(|pair| &*pair[0]);
    }
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    twice.map(|(_, name)| &**name)
}

/// Returns a name without its escapes. What the parser would refuse stays as it is.
fn plain(name: &[u8]) -> Cow<'_, [u8]> {
    let text: Option<String> = serde_json::from_slice(&[b"\"", name, b"\""].concat()).ok();
    text.map_or(Cow::Borrowed(name), |text| Cow::Owned(text.into_bytes()))
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
