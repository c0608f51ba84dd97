//! Faults of toolsets, of instructions, and of what a model must fill in.

use super::{Case, Edit, base, swap};

const HEAD: &str = "catalogue.yaml";
const NOTES: &str = "tools/notes.yaml";
const VAULT: &str = "tools/vault.yaml";

pub const CASES: &[Case] = &[
    swap(
        "people_36_tools_without_a_toolset",
        HEAD,
        "instructions: Keep notes.",
        "instructions: Keep notes.\ntoolsets: [{ name: desk, title: Desk, description: What lies on it. }]",
    ),
    swap("people_36_unknown_toolset", VAULT, "pattern: A", "toolset: desk\n    pattern: A"),
    swap(
        "people_36_budget_of_an_unknown_toolset",
        HEAD,
        "tools_list_bytes: 20000",
        "tools_list_bytes: 20000\n  toolset_bytes: { desk: 10 }",
    ),
    swap(
        "people_36_toolsets_with_names_that_stand_for_something_else",
        HEAD,
        "instructions: Keep notes.",
        "instructions: Keep notes.\ntoolsets:\n  - { name: all, title: A, description: D. }\n  \
         - { name: note_add, title: A, description: D. }\n  - { name: Desk, title: A, description: D. }\n  \
         - { name: Desk, title: '', description: D. }",
    ),
    swap(
        "people_36_toolset_with_an_unknown_key",
        HEAD,
        "instructions: Keep notes.",
        "instructions: Keep notes.\ntoolsets: [{ name: desk, title: Desk, description: D., tools: [note_add] }]",
    ),
    swap(
        "announcements_of_one_value_that_name_an_unknown_tool",
        HEAD,
        "instructions: Keep notes.",
        "instructions: Keep notes.\nannouncements:\n  - { setting: MODE, value: QUIET, instructions: Only read. }\n  \
         - { setting: MODE, value: LOUD, instructions: Shout. }\n  - { setting: MODE, value: QUIET, instructions: Call note_ad. }",
    ),
    swap(
        "notices_with_codes_that_stand_for_something_else",
        HEAD,
        "instructions: Keep notes.",
        "instructions: Keep notes.\nnotices:\n  - { code: NOT_KEPT, message: \"Not kept: {what}\", when: Never. }\n  \
         - { code: NOT_KEPT, message: \"{\", when: Never. }\n  - { code: not_kept, message: Not kept., when: Never. }\n  \
         - { code: CANCELLED, message: Cancelled., when: Never. }",
    ),
    swap("people_32_instructions_name_an_unknown_tool", HEAD, "Keep notes.", "Call note_ad, then ERR_FULL."),
    swap(
        "people_32_instructions_of_a_toolset_name_a_tool_of_none",
        HEAD,
        "instructions: Keep notes.",
        "instructions: Keep notes.\ntoolsets: [{ name: desk, title: Desk, description: D., instructions: Call note_add. }]",
    ),
    Case { name: "people_32_instructions_too_long", file: HEAD, edit: Edit::Bytes(talkative) },
    swap("required_parameter_without_description", VAULT, ", description: What opens it.", ""),
    swap("required_id_without_the_tool_that_returns_it", NOTES, "As note_add returned it.", "The note."),
];

fn talkative() -> Vec<u8> {
    let head = std::fs::read_to_string(base().join(HEAD)).expect("the base's head");
    head.replace("Keep notes.", &format!("Keep notes{}.", ", and again notes".repeat(125))).into_bytes()
}
