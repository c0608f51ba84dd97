//! C1 to C4: keys in foreign text, and foreign text on terminals.

mod hidden;
mod keys;
mod terminal;

/// Characters that a terminal obeys, or that a reader cannot see: controls of both blocks, marks of direction, and
/// those that the review of 0.1.0 found to pass.
const HIDDEN: [char; 17] = [
    '\u{1b}',
    '\u{7f}',
    '\u{9b}',
    '\u{202e}',
    '\u{2066}',
    '\u{200b}',
    '\u{feff}',
    '\u{2028}',
    '\u{ad}',
    '\u{180e}',
    '\u{2063}',
    '\u{115f}',
    '\u{3164}',
    '\u{fff9}',
    '\u{e0041}',
    '\u{e0100}',
    '\u{61c}',
];

/// Fails when the text holds a character that a reader would not see.
fn assert_visible(place: &str, text: &str) {
    let found = text.chars().find(|c| HIDDEN.contains(c) || c.is_control() && *c != '\n');
    assert_eq!(found, None, "{place}: {text:?}");
}
