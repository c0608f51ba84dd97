//! Faults of examples.

use super::{Case, swap};

const NOTES: &str = "tools/notes.yaml";
const VAULT: &str = "tools/vault.yaml";

const REPLY: &str = "{ ok: false, error: { code: HANDLER_ERROR, message: \"WRONG_KEY: the key does not fit\", details: { code: WRONG_KEY, remedy: Take the key of the vault. } } }";
const EXAMPLE: &str = "    examples:\n      - title: A key that does not fit\n        arguments: { key: abc }\n        reply: { ok: false, error: { code: HANDLER_ERROR, message: \"WRONG_KEY: the key does not fit\", details: { code: WRONG_KEY, remedy: Take the key of the vault. } } }\n";

pub const CASES: &[Case] = &[
    swap("no_example", VAULT, EXAMPLE, "    examples: []\n"),
    swap("titles_alike", NOTES, "title: No room", "title: A note"),
    swap(
        "step_that_is_an_operation",
        NOTES,
        "runs: store\n    mutates: true",
        "runs: operator\n    mutates: true",
    ),
    swap(
        "step_with_unknown_tool",
        NOTES,
        "before:\n          - { tool: note_add,",
        "before:\n          - { tool: note_ad,",
    ),
    swap(
        "step_with_bad_arguments",
        NOTES,
        "arguments: { text: Buy milk }, keep",
        "arguments: { txt: Buy milk }, keep",
    ),
    swap("bind_of_unknown_name", NOTES, "bind: { /id: note }", "bind: { /id: nota }"),
    swap("bind_to_nothing", NOTES, "bind: { /id: note }", "bind: { /ids: note }"),
    swap("keep_of_no_pointer", NOTES, "keep: { note: /data/id }", "keep: { note: data.id }"),
    swap(
        "varies_in_nothing",
        NOTES,
        "reply: { ok: true, data: { id: n1, state: OPEN } }\n        varies: { /data/id: { matches: \"^n[0-9]+$\" } }\n      - title",
        "reply: { ok: true, data: { id: n1, state: OPEN } }\n        varies: { /data/ID: uuid_v7 }\n      - title",
    ),
    swap(
        "varying_value_out_of_range",
        NOTES,
        "reply: { ok: true, data: { id: n1, state: OPEN } }\n        varies: { /data/id: { matches: \"^n[0-9]+$\" } }\n      - title",
        "reply: { ok: true, data: { id: n1, state: OPEN } }\n        varies: { /data/id: uuid_v7 }\n      - title",
    ),
    swap("arguments_of_wrong_type", VAULT, "arguments: { key: abc }", "arguments: { key: 7 }"),
    swap("arguments_missing", VAULT, "arguments: { key: abc }", "arguments: {}"),
    swap("arguments_undeclared", VAULT, "arguments: { key: abc }", "arguments: { key: abc, lock: x }"),
    swap("arguments_break_alias_rule", NOTES, "folder: home }", "folder: home, dir: work }"),
    swap("refusal_of_good_arguments", NOTES, "        arguments: {}\n", "        arguments: { text: x }\n"),
    swap("reply_without_envelope", VAULT, REPLY, "{ opened: true }"),
    swap(
        "reply_of_wrong_shape",
        NOTES,
        "data: { id: n1, state: OPEN } }\n        varies: { /data/id: { matches: \"^n[0-9]+$\" } }\n      - title",
        "data: { id: n1, state: OPENED } }\n        varies: { /data/id: { matches: \"^n[0-9]+$\" } }\n      - title",
    ),
    swap("reply_lacks_member", VAULT, REPLY, "{ ok: true, data: {} }"),
    swap("undeclared_code_in_example", NOTES, "              code: ERR_FULL", "              code: ERR_FUL"),
    swap(
        "undeclared_code_under_pattern_a",
        VAULT,
        REPLY,
        "{ ok: false, error: { code: WRONG_KEY, message: the key does not fit } }",
    ),
    swap(
        "undeclared_text_under_pattern_a",
        VAULT,
        "\"WRONG_KEY: the key does not fit\"",
        "\"WRONG_DOOR: the key does not fit\"",
    ),
    swap("example_lacks_error_field", NOTES, "              folder: home\n", ""),
    swap(
        "example_has_undeclared_field",
        NOTES,
        "              folder: home\n",
        "              folder: home\n              floor: 3\n",
    ),
    swap(
        "example_field_of_wrong_type",
        NOTES,
        "              missing: [space, time]",
        "              missing: [space, 7]",
    ),
    swap(
        "example_message_differs",
        NOTES,
        "No room for (new) in home, OPEN",
        "No room for null in home, OPEN",
    ),
    swap(
        "refusal_with_other_message",
        NOTES,
        "\"Invalid parameters for note_add: text is missing\"",
        "text is missing",
    ),
    swap("error_with_stray_member", VAULT, "fit\", details", "fit\", hint: look, details"),
];
