//! Faults of schemas.

use super::{Case, swap};

const NOTES: &str = "tools/notes.yaml";
const TYPES: &str = "types.yaml";
const VAULT: &str = "tools/vault.yaml";

const WEIGHT: &str = "{ type: integer, minimum: 0, maximum: 9 }";
const TRIES: &str = "tries: { type: integer }";

pub const CASES: &[Case] = &[
    swap("unknown_keyword", TYPES, "minLength: 1, maxLength: 20", "minLenght: 1, maxLength: 20"),
    swap("format_keyword", VAULT, "key: { type: string,", "key: { type: string, format: uuid,"),
    swap("nullable_keyword", VAULT, TRIES, "tries: { type: integer, nullable: true }"),
    swap(
        "keyword_beside_ref",
        NOTES,
        "state: { $ref: State, default: OPEN }",
        "state: { $ref: State, maxLength: 3 }",
    ),
    swap("keyword_in_property_names", NOTES, "{ pattern: '^x' }", "{ pattern: '^x', type: string }"),
    swap("schema_is_text", VAULT, TRIES, "tries: integer"),
    swap("unknown_type", VAULT, TRIES, "tries: { type: int }"),
    swap("type_misspelt", VAULT, TRIES, "tries: { type: interger }"),
    swap("three_types", VAULT, TRIES, "tries: { type: [integer, string, \"null\"] }"),
    swap("length_is_text", TYPES, "minLength: 1,", "minLength: one,"),
    swap("required_is_text", VAULT, "required: [key]", "required: key"),
    swap("union_of_one", NOTES, "            - { type: string }\n", ""),
    swap("length_of_integer", TYPES, WEIGHT, "{ type: integer, maxLength: 9 }"),
    swap("array_without_items", NOTES, "          items: { $ref: Label }\n", ""),
    swap("enum_without_type", TYPES, "    type: string\n    enum", "    enum"),
    swap("union_beside_type", NOTES, "        source:\n", "        source:\n          type: string\n"),
    swap("key_rule_without_map", TYPES, "    required: [text]", "    required: [text]\n    maxProperties: 2"),
    swap(
        "root_union",
        VAULT,
        "    output:\n      type: object\n      properties:\n        opened: { type: boolean }\n      required: [opened]\n      additionalProperties: true\n",
        "    output:\n      anyOf:\n        - { $ref: Label }\n        - { $ref: Note }\n",
    ),
    swap(
        "root_enum_by_reference",
        NOTES,
        "    output: { $ref: Note }\n    errors:\n",
        "    output: { $ref: State }\n    errors:\n",
    ),
    swap(
        "root_is_array",
        NOTES,
        "    output: { $ref: Note }\n    errors: []",
        "    output: { type: array, items: { $ref: Note } }\n    errors: []",
    ),
    swap(
        "root_is_map",
        VAULT,
        "      properties:\n        opened: { type: boolean }\n      required: [opened]\n      additionalProperties: true\n",
        "      additionalProperties: { type: boolean }\n",
    ),
    swap(
        "open_object",
        TYPES,
        "    required: [text]\n    additionalProperties: false\n",
        "    required: [text]\n",
    ),
    swap(
        "object_takes_anything",
        TYPES,
        "    required: [text]\n    additionalProperties: false\n",
        "    required: [text]\n    additionalProperties: true\n",
    ),
    swap(
        "properties_in_a_map",
        NOTES,
        "          additionalProperties: { type: number }",
        "          properties: {}\n          additionalProperties: { type: number }",
    ),
    swap("closed_without_properties", VAULT, TRIES, "tries: { type: object, additionalProperties: false }"),
    swap("required_misspelt", TYPES, "required: [id, state]", "required: [id, sate]"),
    swap("required_twice", TYPES, "required: [id, state]", "required: [id, state, id]"),
    swap("property_with_dash", VAULT, TRIES, "max-tries: { type: integer }"),
    swap(
        "error_field_in_camel_case",
        VAULT,
        "          name: { type: string }",
        "          name: { type: string }\n          vaultId: { type: string }",
    ),
    swap("enum_empty", TYPES, "enum: [OPEN, CLOSED]", "enum: []"),
    swap("enum_twice", TYPES, "enum: [OPEN, CLOSED]", "enum: [OPEN, CLOSED, OPEN]"),
    swap("enum_of_other_type", TYPES, "enum: [OPEN, CLOSED]", "enum: [OPEN, CLOSED, 3]"),
    swap("enum_of_fractions", VAULT, TRIES, "tries: { type: number, enum: [1, 2.5] }"),
    swap("bounds_swapped", TYPES, "minLength: 1, maxLength: 20", "minLength: 20, maxLength: 1"),
    swap("bounds_empty", TYPES, WEIGHT, "{ type: integer, minimum: 3, exclusiveMaximum: 3 }"),
    swap("integer_bound_is_fraction", TYPES, WEIGHT, "{ type: integer, minimum: 0.5 }"),
    swap("integer_bound_beyond_safe", TYPES, WEIGHT, "{ type: integer, maximum: 1.0e+30 }"),
    swap("bad_pattern", TYPES, "'^[a-z]+$'", "'^[a-z+$'"),
    swap("pattern_looks_ahead", TYPES, "'^[a-z]+$'", "'^(?!x)[a-z]+$'"),
    swap("pattern_looks_behind", TYPES, "'^[a-z]+$'", "'^[a-z]+(?<!x)$'"),
    swap("pattern_has_flags", TYPES, "'^[a-z]+$'", "'^(?i:[a-z]+)$'"),
    swap("pattern_counts_of_counts", TYPES, "'^[a-z]+$'", "'^(([a-z]{99}){99}){99}$'"),
    swap("pattern_refers_back", TYPES, "'^[a-z]+$'", "'^([a-z])\\1$'"),
    swap("unknown_reference", TYPES, "label: { $ref: Label }", "label: { $ref: Labl }"),
    swap("reference_by_path", TYPES, "label: { $ref: Label }", "label: { $ref: '#/types/Label' }"),
    swap(
        "reference_to_itself",
        TYPES,
        "weight: { type: integer, minimum: 0, maximum: 9 }",
        "weight: { $ref: Label }",
    ),
    swap(
        "reference_cycle",
        TYPES,
        "weight: { type: integer, minimum: 0, maximum: 9 }",
        "weight: { type: array, items: { $ref: Note } }",
    ),
    swap("type_named_self", TYPES, "  Note:\n", "  Self:\n    type: string\n  Note:\n"),
    Case { name: "types_that_double", file: TYPES, edit: super::Edit::Bytes(doubling) },
    swap("unused_type", TYPES, "  Note:\n", "  Spare:\n    type: string\n  Note:\n"),
    swap("type_in_snake_case", TYPES, "  Note:\n", "  spare_type:\n    type: string\n  Note:\n"),
    swap("bad_default", NOTES, "maximum: 5, default: 1", "maximum: 5, default: 6"),
    swap("bad_default_by_reference", NOTES, "default: OPEN", "default: SHUT"),
    swap("default_of_required", NOTES, "maxLength: 200,", "maxLength: 200, default: x,"),
    swap("default_of_item", VAULT, TRIES, "tries: { type: array, items: { type: string, default: x } }"),
];

/// Each type names the one before twice: a million nodes when written out.
fn doubling() -> Vec<u8> {
    let mut text = String::from(
        "types:\n  State: { type: string, enum: [OPEN, CLOSED] }\n  Label: { type: object, properties: {}, additionalProperties: false }\n  T0: { type: string }\n",
    );
    for level in 1..20 {
        let inner = level - 1;
        text.push_str(&format!(
            "  T{level}: {{ type: object, properties: {{ a: {{ $ref: T{inner} }}, b: {{ $ref: T{inner} }} }}, additionalProperties: false }}\n"
        ));
    }
    text.push_str("  Note: { type: object, properties: { id: { type: string }, state: { $ref: State }, t: { $ref: T19 } }, required: [id, state], additionalProperties: false }\n");
    text.push_str("errors:\n  - { code: NO_SHELF, message: \"there is no shelf {shelf}\", when: So., remedy: Take a lower number., fields: { shelf: { type: integer } } }\n");
    text.into_bytes()
}
