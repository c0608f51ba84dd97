use serde_json::json;

use super::*;

/// The forms that servers in use list, each with what the compiler reads.
#[test]
fn schemas_in_use_have_a_portable_form() {
    let open = json!({"type": "object", "additionalProperties": {}});
    for (written, wanted) in [
        (
            json!({"type": "string", "format": "uri", "title": "X", "examples": ["a"], "x-ui": 1}),
            json!({"type": "string"}),
        ),
        (json!({"type": ["null", "string"]}), json!({"type": ["string", "null"]})),
        (json!({"type": ["string"]}), json!({"type": "string"})),
        (
            json!({"type": ["boolean", "string"], "description": "d", "minLength": 1}),
            json!({"description": "d", "anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1}]}),
        ),
        (
            json!({"type": "object", "oneOf": [
                {"properties": {"a": {}}, "required": ["a"], "additionalProperties": false}, {"required": ["b"]},
            ]}),
            json!({"oneOf": [
                {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false},
                {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": true},
            ]}),
        ),
        (
            json!({"anyOf": [{"type": "string"}], "description": "d"}),
            json!({"type": "string", "description": "d"}),
        ),
        (json!({"type": "object"}), open.clone()),
        (json!({"type": "object", "properties": {}}), open.clone()),
        (json!({"type": "object", "additionalProperties": true, "propertyNames": {"type": "string"}}), open),
        (
            json!({"properties": {"a": true}}),
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true}),
        ),
        (json!({"type": "array"}), json!({"type": "array", "items": {}})),
        (json!({"enum": ["a", null]}), json!({"enum": ["a", null], "type": ["string", "null"]})),
        (json!({"type": "string", "minimum": 3}), json!({"type": "string"})),
        (
            json!({"type": "integer", "minimum": 0, "maximum": 18_446_744_073_709_551_615_u64}),
            json!({"type": "integer", "minimum": 0}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "required": ["a", "a"]}),
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": true}),
        ),
        (
            json!({"$defs": {"T": {"type": "string", "title": "T"}}, "type": "array", "items": {"$ref": "#/$defs/T", "description": "d"}}),
            json!({"type": "array", "items": {"type": "string", "description": "d"}}),
        ),
    ] {
        let made = portable(&written, false);
        assert_eq!(made, wanted, "{written}");
        assert_eq!(portable(&made, false), made, "a portable form is its own: {written}");
    }
}

#[test]
fn what_has_no_portable_form_stays() {
    for written in [
        json!({"allOf": [{"type": "string"}]}),
        json!({"type": "object", "properties": {"a": false}, "additionalProperties": false}),
        json!({"$ref": "#/$defs/Missing"}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "oneOf": [{"type": "string"}, {"type": "null"}]}),
    ] {
        assert_eq!(portable(&written, false), written);
    }
}

#[test]
fn references_that_do_not_end_or_grow_without_bound_are_left() {
    let ring =
        json!({"$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}}, "$ref": "#/$defs/T"});
    assert_eq!(portable(&ring, false), json!({"type": "array", "items": {"$ref": "#/$defs/T"}}));
    let mut defs = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/L{}", level + 1)});
        let object =
            json!({"type": "object", "properties": {"a": next, "b": next}, "additionalProperties": false});
        defs.insert(format!("L{level}"), object);
    }
    let bomb = json!({"$defs": defs, "$ref": "#/$defs/L0"});
    assert!(portable(&bomb, false).to_string().contains("$ref"));
}

#[test]
fn a_root_stays_an_object_with_properties() {
    let wanted = json!({"type": "object", "additionalProperties": true, "properties": {}});
    assert_eq!(portable(&json!({"type": "object"}), true), wanted);
}

#[test]
fn clients_see_what_was_written_with_shared_types_in_place() {
    let types =
        Map::from_iter([("Name".to_owned(), json!({"type": "string", "x-message": "no", "format": "n"}))]);
    let written = json!({"type": "object", "properties": {"x-message": {"$ref": "Name", "description": "d"}}, "default": {"$ref": "Name"}});
    let wanted = json!({
        "type": "object",
        "properties": {"x-message": {"type": "string", "format": "n", "description": "d"}},
        "default": {"$ref": "Name"},
    });
    assert_eq!(listed(&written, &types), wanted);
}
