//! Faults of what errors say about a way on: remedies and suggested calls.

use super::{Case, swap};

const HEAD: &str = "catalogue.yaml";
const NOTES: &str = "tools/notes.yaml";
const VAULT: &str = "tools/vault.yaml";

const REMEDY: &str = "        remedy: \"Make room in {folder}.\"\n";
const NEXT: &str = "          - { tool: note_add, arguments: { text: \"{argument.text}\" }, ask: { folder: another one } }\n        fields";

pub const CASES: &[Case] = &[
    swap("people_37_error_without_remedy", NOTES, REMEDY, ""),
    swap("empty_remedy", NOTES, REMEDY, "        remedy: ''\n"),
    swap(
        "people_37_remedy_of_201_characters",
        NOTES,
        REMEDY,
        "        remedy: >-\n          Make room in that folder by the removal of notes which nobody has read for a long time, or of notes which say\n          \
         the same as others do, or take another folder, or ask the person who owns the folder today.\n",
    ),
    swap(
        "people_37_remedy_with_url",
        NOTES,
        REMEDY,
        "        remedy: Make room as https://notes.example/full says.\n",
    ),
    swap("people_37_remedy_with_hidden_character", NOTES, REMEDY, "        remedy: \"Make\\u200B room.\"\n"),
    swap("remedy_of_undeclared_field", NOTES, REMEDY, "        remedy: \"Make room in {foldr}.\"\n"),
    swap(
        "people_37_chain_role_without_remedy",
        HEAD,
        ", remedy: \"Tell the operator; the log says why.\" }",
        " }",
    ),
    swap(
        "chain_role_with_empty_remedy",
        HEAD,
        "remedy: \"Tell the operator; the log says why.\"",
        "remedy: ''",
    ),
    swap(
        "remedy_that_is_never_sent",
        HEAD,
        "when: The client cancelled.",
        "when: The client cancelled., remedy: Call again.",
    ),
    swap(
        "reserved_field_next",
        VAULT,
        "          name: { type: string }",
        "          name: { type: string }\n          next: { type: string }",
    ),
    swap(
        "people_37_four_suggestions",
        NOTES,
        NEXT,
        "          - { tool: note_get, arguments: { id: a } }\n          - { tool: note_get, arguments: { id: b } }\n          \
         - { tool: note_get, arguments: { id: c } }\n          - { tool: note_get, arguments: { id: d } }\n        fields",
    ),
    swap(
        "people_37_next_of_no_tool",
        NOTES,
        NEXT,
        "          - { tool: note_ad, arguments: { text: x } }\n        fields",
    ),
    swap(
        "people_37_next_of_no_field",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { text: \"{foldr}\" } }\n        fields",
    ),
    swap(
        "people_37_next_of_no_argument",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { text: \"{argument.txt}\" } }\n        fields",
    ),
    swap(
        "next_with_unknown_member",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { txt: a, text: b }, ask: { flder: c } }\n        fields",
    ),
    swap("people_37_next_lacks_required", NOTES, NEXT, "          - { tool: note_get }\n        fields"),
    swap(
        "people_37_next_of_wrong_type",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { text: x, copies: \"{folder}\" } }\n        fields",
    ),
    swap(
        "next_with_unbounded_choice",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { text: x, state: \"{folder}\" } }\n        fields",
    ),
    swap(
        "next_literal_that_does_not_fit",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { text: x, copies: 9 } }\n        fields",
    ),
    swap(
        "next_with_hidden_character",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { text: \"a\\u200Bb\" } }\n        fields",
    ),
    swap(
        "next_with_place_in_a_list",
        NOTES,
        NEXT,
        "          - { tool: note_add, arguments: { text: x, labels: [\"{folder}\"] } }\n        fields",
    ),
    swap(
        "people_37_next_names_a_secret",
        NOTES,
        NEXT,
        "          - { tool: vault_open, ask: { key: the key } }\n        fields",
    ),
    swap(
        "people_37_next_repeats_a_secret",
        VAULT,
        "        remedy: Take the key of the vault.\n",
        "        remedy: Take the key of the vault.\n        next: [{ tool: note_get, arguments: { id: \"{argument.key}\" } }]\n",
    ),
    swap(
        "hint_with_url",
        NOTES,
        "ask: { folder: another one } }\n        fields",
        "ask: { folder: see www.notes.example } }\n        fields",
    ),
    swap(
        "people_37_hint_with_hidden_character",
        NOTES,
        "ask: { folder: another one } }\n        fields",
        "ask: { folder: \"another\\u200B one\" } }\n        fields",
    ),
    swap(
        "empty_hint",
        NOTES,
        "ask: { folder: another one } }\n        fields",
        "ask: { folder: '' } }\n        fields",
    ),
    swap("example_lacks_remedy", NOTES, "              remedy: Make room in home.\n", ""),
    swap("example_with_other_remedy", NOTES, "remedy: Make room in home.", "remedy: Make room in {folder}."),
    swap("example_lacks_code_in_details", VAULT, "details: { code: WRONG_KEY, remedy", "details: { remedy"),
    swap(
        "example_with_next_of_none",
        VAULT,
        "remedy: Take the key of the vault. } } }",
        "remedy: Take the key of the vault., next: [] } } }",
    ),
    swap(
        "refusal_without_remedy",
        NOTES,
        "details: { remedy: Correct the named arguments and call again. }",
        "details: {}",
    ),
];
