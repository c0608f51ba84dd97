//! Faults that `profile: open` refuses, too: no Rust is made of them, and the message says so.

use colibri_codegen::catalogue::Catalogue;
use colibri_codegen::{check, compile};

use super::{Case, copy_of_base, swap};

const NOTES: &str = "tools/notes.yaml";
const VAULT: &str = "tools/vault.yaml";
const TYPES: &str = "types.yaml";

const TRIES: &str = "tries: { type: integer }";

/// The base says `profile: house`; for these cases it says `open`.
pub const CASES: &[Case] = &[
    swap("in_open_all_of", VAULT, TRIES, "tries: { allOf: [{ type: integer }] }"),
    swap("in_open_reference_to_nowhere", VAULT, TRIES, "tries: { $ref: \"#/$defs/Tries\" }"),
    swap(
        "in_open_reference_by_path",
        NOTES,
        "state: { $ref: State, default",
        "state: { $ref: \"#/types/State\", default",
    ),
    swap(
        "in_open_reference_ring",
        VAULT,
        "      required: [key]\n      additionalProperties: false\n",
        "        more: { $ref: \"#/$defs/Ring\" }\n      required: [key]\n      additionalProperties: false\n      $defs:\n        Ring: { type: array, items: { $ref: \"#/$defs/Ring\" } }\n",
    ),
    swap("in_open_tool_name_with_space", VAULT, "name: vault_open", "name: vault open"),
    swap("in_open_tool_name_of_signs", VAULT, "name: vault_open", "name: \"---\""),
    swap("in_open_tool_names_alike", VAULT, "name: vault_open", "name: note.add"),
    swap(
        "in_open_map_beside_properties",
        TYPES,
        "    required: [text]\n    additionalProperties: false",
        "    required: [text]\n    additionalProperties: { type: string }",
    ),
    swap(
        "in_open_output_is_a_list",
        VAULT,
        "    output:\n      type: object",
        "    output:\n      type: array",
    ),
    swap("in_open_tuple", VAULT, TRIES, "tries: { type: array, items: [{ type: integer }] }"),
    swap("in_open_never", VAULT, TRIES, "tries: false"),
    swap(
        "in_open_hidden_character",
        VAULT,
        "description: Open the vault.",
        "description: \"Open\\u202e the vault.\"",
    ),
    swap(
        "in_open_property_names_alike",
        VAULT,
        TRIES,
        "Tries: { type: integer }\n        tries: { type: integer }",
    ),
];

/// Everything that the profile is for, in one catalogue that compiles.
#[test]
fn open_catalogues_may_be_written_in_any_style() {
    let folder = copy_of_base();
    let edit = |file: &str, from: &str, to: &str| {
        let path = folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    };
    edit("catalogue.yaml", "\nprofile: house\n", "\n");
    edit(
        VAULT,
        "    title: Open vault\n    description: Open the vault.\n",
        "    description: |\n      Open the vault. It takes a key. It takes time.\n\n      \tSee the manual.\n",
    );
    edit(VAULT, "name: vault_open", "name: Vault.open-it");
    edit(
        VAULT,
        "    hints: { read_only: false, destructive: false, idempotent: true, open_world: true }\n",
        "    hints: { title: Vault, read_only: true, other: { category: doors } }\n",
    );
    edit(
        VAULT,
        TRIES,
        "tries: { type: [integer, string], format: count, title: Tries, examples: [1] }\n        $how: { oneOf: [{ const: +1 }, { type: object, properties: { to: {} } }] }\n        vote: { type: string, enum: [\"+1\", \"-1\"], default: \"-1\" }\n        rest: { type: object }",
    );
    edit(
        VAULT,
        "      additionalProperties: false\n    relaxed",
        "      additionalProperties: true\n    relaxed",
    );
    edit(VAULT, "type: string, description: What opens it.", "type: string, pattern: '^\\p{L}', default: k");
    let catalogue = Catalogue::load(folder.path()).unwrap();
    assert_eq!(check(&catalogue), []);
    let rust = compile(folder.path()).unwrap().rust;
    for wanted in [
        "fn vault_open_it",
        "pub vote: ::std::string::String",
        r#"\"format\":\"count\""#,
        r#"\"category\":\"doors\""#,
    ] {
        assert!(rust.contains(wanted) || rust.contains(&wanted.replace('"', "\\\"")), "{wanted}");
    }
    // The same catalogue breaks the rules of the house.
    edit("catalogue.yaml", "name: notes\n", "name: notes\nprofile: house\n");
    let found = super::findings(folder.path());
    for rule in ["tool-names", "texts", "hints", "unknown-keyword", "property-names"] {
        assert!(found.iter().any(|finding| finding.rule == rule), "{rule}: {found:#?}");
    }
}
