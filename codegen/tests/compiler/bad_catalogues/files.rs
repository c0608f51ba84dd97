//! Faults of the files: what the loader says.

use super::{Case, Edit, swap};

const HEAD: &str = "catalogue.yaml";
const NOTES: &str = "tools/notes.yaml";
const VAULT: &str = "tools/vault.yaml";
const TYPES: &str = "types.yaml";

const fn bytes(name: &'static str, file: &'static str, make: fn() -> Vec<u8>) -> Case {
    Case { name, file, edit: Edit::Bytes(make) }
}

/// Nine levels of nine aliases each: 387 million values if they were written out.
fn alias_bomb() -> Vec<u8> {
    let mut text = String::from("types:\n  A0: &a0 [lol]\n");
    for level in 1..10 {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("  A{level}: &a{level} [{items}]\n"));
    }
    text.into_bytes()
}

pub const CASES: &[Case] = &[
    swap("bad_yaml_open_bracket", HEAD, "domains: [notes, vault, shelf]", "domains: [notes, vault, shelf"),
    swap("bad_yaml_open_quote", TYPES, "'^[a-z]+$'", "'^[a-z]+$"),
    swap("tab_indentation", NOTES, "\n    title: Add note", "\n\ttitle: Add note"),
    swap("tab_after_spaces", NOTES, "\n        copies:", "\n      \t copies:"),
    swap("indented_between", NOTES, "\n    title: Add note", "\n   title: Add note"),
    swap("indented_below_a_value", VAULT, "\n    runs: network", "\n      runs: network"),
    bytes("empty_file", HEAD, Vec::new),
    bytes("only_comments", TYPES, || b"# nothing here yet\n".to_vec()),
    swap("second_document", TYPES, "  Note:", "---\n  Note:"),
    bytes("invalid_utf8", TYPES, || b"types:\n  A\xff: {}\n".to_vec()),
    swap(
        "line_end_of_yaml_1_1",
        HEAD,
        "domains: [notes, vault, shelf]",
        "domains: [notes, va\u{85}ult, shelf]",
    ),
    swap("line_separator", NOTES, "title: Add note", "title: Add\u{2028}note"),
    bytes("huge_file", TYPES, || vec![b'#'; 1024 * 1024 + 1]),
    bytes("too_many_nodes", TYPES, || format!("types: [{}]\n", "1,".repeat(20_001)).into_bytes()),
    bytes("deep_nesting", TYPES, || {
        format!("types: {}{}\n", "[".repeat(5000), "]".repeat(5000)).into_bytes()
    }),
    bytes("nested_one_too_deep", TYPES, || {
        (0..65).map(|level| format!("{}a:\n", " ".repeat(level))).collect::<String>().into_bytes()
    }),
    bytes("alias_bomb", TYPES, alias_bomb),
    swap(
        "merge_key",
        NOTES,
        "    pattern: B\n    runs: store\n    mutates: true",
        "    <<: { pattern: B }\n    runs: store\n    mutates: true",
    ),
    swap("tag", TYPES, "minimum: 0", "minimum: !!int 0"),
    swap("duplicate_key", NOTES, "    title: Add note\n", "    title: Add note\n    title: Add a note\n"),
    swap("number_as_key", TYPES, "  State:\n", "  7:\n"),
    swap("mapping_as_key", TYPES, "  State:\n", "  ? { a: b }\n  :\n"),
    swap("integer_beyond_safe", TYPES, "maximum: 9 }", "maximum: 9007199254740992 }"),
    swap("integer_beyond_all", TYPES, "maximum: 9 }", "maximum: 123456789012345678901234567890 }"),
    swap("not_a_number", TYPES, "maximum: 9 }", "maximum: .nan }"),
    swap("infinite_number", TYPES, "maximum: 9 }", "maximum: -.inf }"),
    Case { name: "missing_head", file: HEAD, edit: Edit::Remove },
    Case { name: "missing_domain_file", file: VAULT, edit: Edit::Remove },
    Case { name: "missing_types_file", file: TYPES, edit: Edit::Remove },
    swap("domain_misspelt", HEAD, "[notes, vault, shelf]", "[notes, vualt, shelf]"),
    swap("domain_not_listed", HEAD, "[notes, vault, shelf]", "[notes, shelf]"),
    swap("domain_listed_twice", HEAD, "[notes, vault, shelf]", "[notes, vault, shelf, notes]"),
    swap("domain_outside_the_folder", HEAD, "[notes, vault, shelf]", "[notes, vault, shelf, ../notes]"),
    bytes("wrong_suffix", "tools/extra.yml", || b"domain: extra\n".to_vec()),
    swap("unknown_key", NOTES, "    mutates: true", "    mutates: true\n    mutate: true\n    colour: red"),
    swap(
        "unknown_key_in_hints",
        "tools/vault.yaml",
        "read_only: false,",
        "read_only: false, readonly: false,",
    ),
    swap("missing_key", NOTES, "    runs: store\n    mutates: true", "    mutates: true"),
    swap("flag_of_before", VAULT, "runs: network", "mutates: false\n    network: true"),
    swap(
        "flags_of_before",
        NOTES,
        "runs: store\n    mutates: true",
        "mutates: true\n    scan: false\n    storeless: false\n    operator: true",
    ),
    swap("flag_as_value", VAULT, "runs: network", "runs: storeless"),
    swap("wrong_type", NOTES, "    mutates: true", "    mutates: sometimes"),
    swap("version_as_number", HEAD, "version: 1.2.0", "version: 1.2"),
    swap("negative_limit", NOTES, "limit: 400", "limit: -1"),
    swap("unknown_pattern", VAULT, "pattern: A", "pattern: D"),
    swap("unknown_stability", NOTES, "stability: beta", "stability: betta"),
    swap("unknown_rule_across_fields", NOTES, "      - no_nul: ", "      - no_null: "),
    swap("unknown_chain_role", HEAD, "  cancelled: {", "  canceled: {"),
    swap("list_instead_of_mapping", "types.yaml", "types:\n  State:", "types:\n  - State:"),
    swap(
        "tools_missing",
        "tools/vault.yaml",
        "description: Secrets.\ntools:",
        "description: Secrets.\ntool:",
    ),
    swap("null_instead_of_text", NOTES, "title: Read note", "title:"),
    bytes("two_bad_tools", NOTES, || {
        b"domain: notes\ntitle: Notes\ndescription: Short.\ntools:\n  - name: 5\n  - name: a\n    titel: A\n"
            .to_vec()
    }),
];
