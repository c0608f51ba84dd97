//! The page that lists the rules of the lint with their profiles is made from the table of rules.

use std::fmt::Write as _;
use std::path::Path;

use colibri_codegen::lint::{Profiles, RULES};
use colibri_codegen::{Written, write_or_check};

#[test]
fn page_of_the_rules_is_current() {
    let mut page = String::from(
        "<!-- Generated from the table in codegen/src/lint/mod.rs; do not edit. -->\n# Rules of the lint\n\nWhat the compiler refuses in a catalogue. [The design](../design/catalogue.md#profiles) says what the profiles `open` and `house` are for.\n\n| Rule | Asks | `open` | `house` |\n| --- | --- | --- | --- |\n",
    );
    for rule in RULES {
        let open = match rule.profiles {
            Profiles::Both => "yes",
            Profiles::Eased(allows) => allows,
            Profiles::House => "no",
        };
        writeln!(page, "| `{}` | {} | {open} | yes |", rule.id, rule.doc.replace('|', "\\|")).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/lint-rules.md");
    let check = std::env::var_os("UPDATE_GOLDEN").is_none();
    assert_ne!(
        write_or_check(&path, &page, check).unwrap(),
        Written::Stale,
        "the page differs; see UPDATE_GOLDEN"
    );
}
