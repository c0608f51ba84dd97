//! Faults of what a tool's entry says beside its schemas and examples, and of the head.

use super::{Case, swap};

const HEAD: &str = "catalogue.yaml";
const NOTES: &str = "tools/notes.yaml";
const VAULT: &str = "tools/vault.yaml";

const LONG_NAME: &str = "name: vault_open_with_a_name_that_goes_on_and_on_until_nobody_reads_it_any_more";

pub const CASES: &[Case] = &[
    swap("other_domain_in_file", VAULT, "domain: vault", "domain: vaults"),
    swap("head_without_domains", HEAD, "domains: [notes, vault, shelf]", "domains: []"),
    swap("duplicate_tool", VAULT, "name: vault_open", "name: note_get"),
    swap("tool_in_camel_case", VAULT, "name: vault_open", "name: vaultOpen"),
    swap("tool_name_too_long", VAULT, "name: vault_open", LONG_NAME),
    swap("tools_alike_in_rust", VAULT, "name: vault_open", "name: notea_dd"),
    swap(
        "properties_alike_in_rust",
        VAULT,
        "tries: { type: integer }",
        "Key_: { type: integer }\n        k_ey: { type: integer }",
    ),
    swap("values_alike_in_rust", "types.yaml", "enum: [OPEN, CLOSED]", "enum: [OPEN, CLOSED, o-pen]"),
    swap("codes_alike_in_rust", VAULT, "code: BUSY", "code: ERR_WRONG_KEY"),
    swap("empty_title", VAULT, "title: Open vault", "title: ''"),
    swap(
        "three_sentences",
        VAULT,
        "description: Open the vault.",
        "description: Open the vault. Look. Leave.",
    ),
    swap("space_around_text", VAULT, "description: Open the vault.", "description: 'Open the vault. '"),
    swap(
        "long_description",
        VAULT,
        "description: Open the vault.",
        "description: Open the vault that belongs to the caller's account and give back whether its door is open now, \
         which needs the key that was handed out when the vault was made, is refused while another caller is inside, \
         counts as one of the three tries a caller has each day, and leaves an entry in the vault's own journal",
    ),
    swap("hidden_character", VAULT, "title: Open vault", "title: \"Open\\u200B vault\""),
    swap(
        "line_feed_in_description",
        VAULT,
        "description: Open the vault.",
        "description: |-\n      Open the\n      vault.",
    ),
    swap(
        "read_only_mutates",
        NOTES,
        "mutates: true\n    hints: { read_only: false",
        "mutates: true\n    hints: { read_only: true",
    ),
    swap(
        "read_only_destroys",
        NOTES,
        "read_only: true, destructive: false",
        "read_only: true, destructive: true",
    ),
    swap("network_in_a_closed_world", VAULT, "open_world: true", "open_world: false"),
    swap("network_mutates", VAULT, "runs: network", "runs: network\n    mutates: false"),
    swap("scan_mutates", NOTES, "runs: store\n    mutates: true", "runs: scan\n    mutates: true"),
    swap("free_mutates", NOTES, "runs: store\n    mutates: true", "runs: free\n    mutates: true"),
    swap("store_without_mutates", NOTES, "runs: store\n    mutates: true", "runs: store"),
    swap("operator_without_mutates", NOTES, "runs: store\n    mutates: true", "runs: operator"),
    swap("early_with_store", NOTES, "mutates: true", "mutates: true\n    early: true"),
    swap("operator_relaxed", VAULT, "runs: network", "runs: operator\n    mutates: true"),
    swap("sensitive_misspelt", VAULT, "sensitive: [key]", "sensitive: [kye]"),
    swap("sensitive_is_number", VAULT, "sensitive: [key]", "sensitive: [key, tries, key]"),
    swap("relaxed_misspelt", VAULT, "optional: [key]", "optional: [kye, tries]"),
    swap("relaxed_nothing", VAULT, "optional: [key]", "optional: []"),
    swap("relaxed_twice", VAULT, "optional: [key]", "optional: [key, key]"),
    swap("relaxed_by_nothing", VAULT, "setting: VAULT_OPEN, value: always", "setting: '', value: ' '"),
    swap("alias_of_nothing", NOTES, "alias: dir,", "alias: dri,"),
    swap("alias_of_itself", NOTES, "alias: dir,", "alias: folder,"),
    swap("either_of_nothing", NOTES, "others: [extra]", "others: []"),
    swap("either_with_required", NOTES, "others: [extra]", "others: [extra, text, labels]"),
    swap(
        "need_of_itself",
        NOTES,
        "either: { field: labels, others: [extra], message: give",
        "needs: { field: labels, other: labels, message: give",
    ),
    swap(
        "need_of_nothing",
        NOTES,
        "either: { field: labels, others: [extra], message: give",
        "needs: { field: text, other: extro, message: give",
    ),
    swap("bytes_of_integer", NOTES, "max_bytes: { field: text", "max_bytes: { field: copies"),
    swap("rule_without_message", NOTES, "no_nul: { message: no U+0000 }", "no_nul: { message: '' }"),
    swap("code_in_lower_case", VAULT, "code: BUSY", "code: busy"),
    swap("code_twice", VAULT, "code: BUSY", "code: WRONG_KEY"),
    swap("code_of_the_chain", VAULT, "code: BUSY", "code: CANCELLED"),
    swap("chain_code_twice", HEAD, "code: CANCELLED", "code: UNKNOWN_TOOL"),
    swap("foreign_code_of_the_chain", HEAD, "code: ELSEWHERE_CANCELLED", "code: CANCELLED"),
    swap("foreign_code_of_a_tool", VAULT, "code: BUSY", "code: ELSEWHERE_DENIED"),
    swap("foreign_message_that_is_no_form", HEAD, "\"it is {state}\"", "\"it is {state\""),
    swap(
        "prefix_under_pattern_b",
        NOTES,
        "when: The folder is full.",
        "when: The folder is full.\n        prefix: false",
    ),
    swap(
        "reserved_error_field",
        VAULT,
        "          name: { type: string }",
        "          name: { type: string }\n          message: { type: string }",
    ),
    swap("message_never_closed", VAULT, "\"vault {name} is busy\"", "\"vault {name is busy\""),
    swap("message_of_undeclared_field", VAULT, "\"vault {name} is busy\"", "\"vault {nmae} is busy\""),
    swap("message_shows_nullable", NOTES, "{id or \"(new)\"}", "{id}"),
    swap("message_shows_list", NOTES, "{missing join \", \"}", "{missing}"),
    swap("message_joins_text", NOTES, "in {folder},", "in {folder join \", \"},"),
    swap(
        "chain_message_broken",
        HEAD,
        "message: \"Unknown tool: {tool}\"",
        "message: \"Unknown tool: {tool\"",
    ),
    swap("version_with_two_parts", HEAD, "version: 1.2.0", "version: '1.2'"),
    swap("tool_from_the_future", VAULT, "since: 1.2.0", "since: 1.3.0"),
    swap("since_is_no_version", VAULT, "since: 1.2.0", "since: soon"),
    swap("sunset_is_no_version", VAULT, "since: 1.2.0", "since: 1.2.0\n    sunset: next year"),
    swap(
        "waiver_until_no_version",
        HEAD,
        "reason: A slip of the pen.",
        "until: soon, reason: A slip of the pen.",
    ),
    swap("waiver_without_reason", HEAD, "reason: A slip of the pen.", "reason: ''"),
];
