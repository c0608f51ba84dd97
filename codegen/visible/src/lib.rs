//! Which characters of a text a reader cannot see, and how they are shown. A terminal obeys some of them, others turn the
//! direction of writing or hide a whole second text inside the first.
//!
//! The tables are those of Unicode: General_Category Cc and Cf, Default_Ignorable_Code_Point, Bidi_Control, Noncharacter_Code_Point,
//! and the separators of lines and paragraphs. Characters of private use and unassigned ones are not among them: every font shows
//! at least a box for them. Pure.
//!
//! ```
//! use colibri_visible::{json, printable};
//!
//! assert_eq!(printable("a\u{1b}[31m\n\u{202e}b"), r"a\u{1b}[31m\n\u{202e}b");
//! assert_eq!(json("{\"a\":\"\u{202e}\"}\n"), "{\"a\":\"\\u202e\"}\n");
//! ```

use std::borrow::Cow;
use std::fmt::{self, Write as _};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// What shows the character before it as text or as an emoji.
const SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
/// What makes a keycap of a digit and a selector.
const KEYCAP: char = '\u{20e3}';

/// Whether the character is one of those that a reader cannot see. Line feed and tab are among them.
pub fn is_hidden(character: char) -> bool {
    match character {
        ' '..='~' => false,
        '\0'..='\x7f' => true,
        _ => is_in(&HIDDEN, character),
    }
}

/// Writes how many of something there are: `1 record`, `2 records`.
pub fn counted<N: fmt::Display + TryInto<u64> + Copy>(count: N, noun: &str) -> String {
    let plural = if matches!(count.try_into(), Ok(1)) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The characters of a text, each with whether it must be shown by its number. That is so for every hidden one, but for
/// those that change what a reader sees of their neighbours: a joiner between emoji or between letters of a script that
/// needs it, and the selector of an emoji.
pub fn characters(text: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let mut before = None;
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let character = rest.next()?;
        let hidden = is_hidden(character) && !(shapes(before, character, rest.clone().next()));
        before = Some(character);
        Some((character, hidden))
    })
}

/// The first character of the text that must be shown by its number.
pub fn first_hidden(text: &str) -> Option<char> {
    characters(text).find_map(|(character, hidden)| hidden.then_some(character))
}

/// The text in one line: what is hidden is written as an escape, `\n` or `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    shown(text, false)
}

/// The same for a text of several lines: line feeds stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    shown(text, true)
}

/// JSON text with what is hidden written as `\uXXXX`: the same document, all of it to be seen. Nothing is spared here,
/// since nothing is lost.
pub fn json(text: &str) -> Cow<'_, str> {
    // White space between the tokens; inside a string it cannot stand raw.
    let escaped = |character: char| !matches!(character, '\n' | '\r' | '\t') && is_hidden(character);
    if !text.contains(escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn shown(text: &str, lines: bool) -> Cow<'_, str> {
    let escaped = |(character, hidden): (char, bool)| hidden && !(lines && character == '\n');
    if !characters(text).any(escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (character, hidden) in characters(text) {
        match escaped((character, hidden)) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether a hidden character changes what a reader sees of those beside it.
fn shapes(before: Option<char>, character: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let beside = |table| is_in(table, before) && after.is_some_and(|after| is_in(table, after));
    match character {
        JOINER => beside(&PICTURE) || beside(&LETTER),
        NON_JOINER => beside(&LETTER),
        _ if SELECTORS.contains(&character) => {
            is_in(&EMOJI, before) || matches!(before, '0'..='9' | '#' | '*') && after == Some(KEYCAP)
        }
        _ => false,
    }
}

fn is_in(table: &[(u32, u32)], character: char) -> bool {
    let number = u32::from(character);
    let at = table.partition_point(|(_, last)| *last < number);
    table.get(at).is_some_and(|(first, _)| *first <= number)
}

#[cfg(test)]
mod tests {
    use super::{counted, first_hidden, is_hidden, json, printable, printable_lines};

    #[test]
    fn one_thing_is_counted_in_the_singular() {
        let shown =
            [counted(0_u8, "row"), counted(1_i64, "row"), counted(2_usize, "row"), counted(-1_i64, "row")];
        assert_eq!(shown, ["0 rows", "1 row", "2 rows", "-1 rows"]);
    }

    #[test]
    fn what_cannot_be_seen_is_hidden_and_what_can_is_not() {
        for hidden in [
            '\0',
            '\n',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{ad}',
            '\u{61c}',
            '\u{115f}',
            '\u{180e}',
            '\u{200b}',
            '\u{202e}',
            '\u{2063}',
            '\u{3164}',
            '\u{feff}',
            '\u{fff9}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{2028}',
            '\u{34f}',
            '\u{17b4}',
            '\u{ffa0}',
            '\u{1d173}',
            '\u{e0fff}',
            '\u{fdd0}',
            '\u{fffe}',
            '\u{ffff}',
            '\u{10ffff}',
        ] {
            assert!(is_hidden(hidden) && first_hidden(&format!("é{hidden}é")) == Some(hidden), "{hidden:?}");
        }
        for seen in [' ', '~', 'a', 'é', '漢', '\u{a0}', '\u{301}', '🐦', '\u{fffd}', '\u{e000}', '\u{d7ff}']
        {
            assert!(!is_hidden(seen), "{seen:?}");
        }
    }

    #[test]
    fn joiners_of_scripts_and_emoji_stay_where_they_join() {
        for seen in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}👧",
            "👩🏽\u{200d}🚀",
            "❤\u{fe0f}\u{200d}🔥",
            "⚠\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
        ] {
            assert_eq!(first_hidden(seen), None, "{seen:?}");
            assert_eq!(printable(seen), seen);
        }
        for hidden in [
            "a\u{200d}b",
            "a\u{fe0f}",
            "1\u{fe0f}",
            "👩\u{200d}",
            "\u{200c}خ",
            "خ\u{200c}\u{200c}خ",
            "⚠\u{fe0f}\u{fe0f}",
            "漢\u{200d}字",
        ] {
            assert!(first_hidden(hidden).is_some(), "{hidden:?}");
        }
    }

    #[test]
    fn lines_stay_where_they_are_wanted() {
        assert_eq!(printable("a\tb\nc\u{202e}"), "a\\tb\\nc\\u{202e}");
        assert_eq!(printable_lines("a\tb\nc\u{202e}"), "a\\tb\nc\\u{202e}");
        assert_eq!(printable_lines("plain, é, 漢字, 🐦\n"), "plain, é, 漢字, 🐦\n");
    }

    #[test]
    fn json_keeps_its_meaning_and_shows_all_of_it() {
        assert_eq!(
            json("{\n\t\"a\": \"\u{9b}\u{200d}\u{e0041}\"}"),
            "{\n\t\"a\": \"\\u009b\\u200d\\udb40\\udc41\"}"
        );
    }
}
