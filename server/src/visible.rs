//! Characters that stored text may hold and a reader must see rather than have obeyed: they move the cursor,
//! turn the direction of writing, or show nothing at all. Pure.

/// Whether the character must be shown by its number. Line feed and tab are among them; a caller that gives
/// them room asks for them first.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Marks, embeddings, overrides and isolates of direction (UAX #9), and the separators.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // A space without width, a byte order mark, and the tags, which can carry a whole hidden text.
            | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::is_hidden;

    #[test]
    fn joiners_of_scripts_and_emoji_stay_and_marks_of_direction_do_not() {
        // Persian needs the non-joiner, and families of emoji the joiner.
        assert!(!['a', 'é', '漢', '\u{200c}', '\u{200d}', '\u{301}', '🐦'].into_iter().any(is_hidden));
        assert!(
            ['\0', '\n', '\u{7f}', '\u{85}', '\u{202e}', '\u{feff}', '\u{e0041}'].into_iter().all(is_hidden)
        );
    }
}
