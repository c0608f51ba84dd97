//! Stored text on a person's terminal, in one line and without anything that the terminal would obey.

use std::borrow::Cow;

use crate::visible::is_hidden;

/// The text with line ends, control characters and the like written as escapes: `\n`, `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(printable("a\u{1b}[31m\n\u{202e}b"), "a\\u{1b}[31m\\n\\u{202e}b");
        assert_eq!(printable("plain, é, 漢字, 🐦"), "plain, é, 漢字, 🐦");
    }
}
