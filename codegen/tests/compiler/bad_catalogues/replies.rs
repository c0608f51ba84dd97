//! Faults of what is around a payload, of errors under pattern C, and of errors that tools share.

use super::{Case, swap};

const SHELF: &str = "tools/shelf.yaml";
const TYPES: &str = "types.yaml";

const REFUSED: &str =
    "{ error: { code: NO_SHELF, message: there is no shelf 9, shelf: 9, remedy: Take a lower number. } }";

pub const CASES: &[Case] = &[
    swap("no_envelope_under_pattern_a", SHELF, "pattern: C", "pattern: A"),
    swap("envelope_that_is_none_of_two", SHELF, "envelope: none", "envelope: nothing"),
    swap("envelope_where_none_is_shown", SHELF, "    envelope: none\n", ""),
    swap("prefix_under_pattern_c", TYPES, "    fields:\n", "    prefix: false\n    fields:\n"),
    swap("shared_error_misspelt", SHELF, "[NO_SHELF]", "[NO_SHELVE]"),
    swap("shared_error_of_no_name_known", SHELF, "[NO_SHELF]", "[NO_SHELF, BROKEN]"),
    swap("shared_error_twice_in_a_tool", SHELF, "[NO_SHELF]", "[NO_SHELF, NO_SHELF]"),
    swap("shared_error_that_is_a_number", SHELF, "[NO_SHELF]", "[7]"),
    swap("shared_error_that_no_tool_names", SHELF, "[NO_SHELF]", "[]"),
    swap(
        "shared_error_declared_twice",
        TYPES,
        "errors:\n",
        "errors:\n  - { code: NO_SHELF, message: no, when: No., remedy: No. }\n",
    ),
    swap("shared_error_without_remedy", TYPES, "    remedy: Take a lower number.\n", ""),
    swap("shared_error_with_a_broken_message", TYPES, "{shelf}", "{shelve}"),
    swap(
        "shared_error_named_like_a_type",
        TYPES,
        "errors:\n",
        "errors:\n  - { code: LABEL, message: no, when: No., remedy: No. }\n",
    ),
    swap("types_with_a_broken_head", TYPES, "errors:\n", "error:\n"),
    swap("payload_of_wrong_shape", SHELF, "reply: { books: [a, b] }", "reply: { books: [a, 2] }"),
    swap(
        "payload_in_an_envelope",
        SHELF,
        "reply: { books: [a, b] }",
        "reply: { ok: true, data: { books: [a, b] } }",
    ),
    swap("flat_error_of_no_code_declared", SHELF, "{ code: NO_SHELF", "{ code: NO_SHELVES"),
    swap(
        "flat_error_with_another_message",
        SHELF,
        "message: there is no shelf 9",
        "message: there is no shelf 8",
    ),
    swap("flat_error_without_its_field", SHELF, ", shelf: 9, remedy", ", remedy"),
    swap(
        "flat_error_with_details",
        SHELF,
        REFUSED,
        "{ error: { code: NO_SHELF, message: there is no shelf 9, details: { shelf: 9 } } }",
    ),
    swap(
        "flat_refusal_without_its_form",
        SHELF,
        "\"Invalid parameters for shelf_read: \\\"shelf\\\" is missing\"",
        "shelf is missing",
    ),
    swap(
        "flat_refusal_without_its_remedy",
        SHELF,
        "remedy: Correct the named arguments and call again.",
        "remedy: Look again.",
    ),
];
