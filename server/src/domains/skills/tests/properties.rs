//! Properties of the parser and of the capability index.

use crate::domains::skills::text::parse_skill_text;
use proptest::prelude::*;

use crate::domains::skills::tests::corpus::{CORPUS, judge};

proptest! {
    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = judge(&bytes);
    }

    #[test]
    fn any_front_matter_gets_an_answer(block in "\\PC{0,200}", body in "\\PC{0,50}") {
        let _ = judge(format!("---\n{block}\n---\n{body}").as_bytes());
    }

    #[test]
    fn a_good_file_with_some_bytes_changed_gets_an_answer(
        file in 0..CORPUS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = CORPUS[file].as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = judge(&bytes);
    }

    /// What is quoted as JSON is valid YAML and means the same, or is refused for a character that a reader would not see.
    #[test]
    fn quoted_texts_come_back_unchanged(name in "[a-z][a-z0-9-]{1,30}", text in "[^\\p{C}]{1,80}", body in "(?s).{0,80}") {
        let quoted = serde_json::to_string(&text).unwrap();
        let file = format!("---\nname: {name}\ndescription: {quoted}\n---\n{body}");
        let read = parse_skill_text(&file);
        if let Some(hidden) = colibri_visible::first_hidden(&quoted) {
            let named = format!("U+{:04X}", u32::from(hidden));
            prop_assert!(read.unwrap_err().detail.contains(&named));
            return Ok(());
        }
        let skill = read.unwrap();
        prop_assert_eq!((skill.frontmatter.name, skill.frontmatter.description, skill.body), (name, text, body));
    }
}
