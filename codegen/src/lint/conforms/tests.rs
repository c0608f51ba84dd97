#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use serde_json::{Value, json};

use super::{check, check_arguments};
use crate::catalogue::Catalogue;

/// Marsaglia's xorshift64: the same schemas and values in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    fn schema(&mut self, depth: u64) -> Value {
        let low = self.below(3);
        match self.below(if depth == 0 { 7 } else { 11 }) {
            0 => json!({ "type": "string", "minLength": low, "maxLength": low + self.below(4) }),
            1 => {
                json!({ "type": ["string", "null"], "pattern": self.pick(&["^a", "b$", "^[a-z]+$", "\\d", "é"]) })
            }
            2 => {
                json!({ "type": "integer", "minimum": low, "exclusiveMaximum": 5, "multipleOf": self.below(2) + 1 })
            }
            3 => json!({ "type": "number", "maximum": 2.5, "exclusiveMinimum": -1 }),
            4 => json!({ "type": "string", "enum": ["a", "ab"] }),
            5 => json!({ "type": "boolean", "const": true }),
            6 => json!({ "$ref": "Shared" }),
            7 => json!({
                "type": "array", "items": self.schema(depth - 1), "minItems": low, "maxItems": 3,
                "uniqueItems": self.below(2) == 0,
            }),
            8 => json!({
                "type": "object", "properties": { "a": self.schema(depth - 1), "b": self.schema(depth - 1) },
                "required": ["a"], "additionalProperties": self.below(2) == 0,
            }),
            9 => json!({
                "type": "object", "additionalProperties": self.schema(depth - 1), "propertyNames": { "maxLength": 1 },
                "minProperties": low, "maxProperties": 2,
            }),
            _ => {
                let branches = [self.schema(depth - 1), self.schema(depth - 1)];
                json!({ *self.pick(&["anyOf", "oneOf"]): branches })
            }
        }
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 => json!(self.pick(&["", "a", "ab", "abc", "b1", "éé", "7"])),
            1 => json!(self.below(6)),
            2 => json!(*self.pick(&[0.5, 2.0, -1.0, 2.5, 1e300])),
            3 => json!(self.below(2) == 0),
            4 => Value::Null,
            5 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let keys = ["a", "b", "cc"];
                (0..self.below(4)).map(|_| ((*self.pick(&keys)).to_owned(), self.value(depth - 1))).collect()
            }
        }
    }
}

/// The catalogue's references as JSON Schema has them.
fn published(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| match (key.as_str(), member) {
                ("$ref", Value::String(name)) => (key.clone(), json!(format!("#/$defs/{name}"))),
                _ => (key.clone(), published(member)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(published).collect(),
        other => other.clone(),
    }
}

fn catalogue() -> Catalogue {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiler/bad_catalogues/base");
    Catalogue::load(&folder).unwrap()
}

#[test]
fn verdicts_are_those_of_an_independent_validator() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut catalogue = catalogue();
    let (mut fitting, mut misfitting) = (0, 0);
    for _ in 0..400 {
        let shared = random.schema(0);
        if shared.get("$ref").is_some() {
            continue;
        }
        let schema = random.schema(3);
        let mut document = published(&schema);
        document["$defs"] = json!({ "Shared": published(&shared) });
        let judge = jsonschema::validator_for(&document).unwrap();
        catalogue.types.types.insert("Shared".into(), shared);
        for _ in 0..25 {
            let value = random.value(3);
            let fits = check(&catalogue, schema.as_object().unwrap(), &value);
            assert_eq!(fits.is_ok(), judge.is_valid(&value), "{document}\n{value}\n{fits:?}");
            if fits.is_ok() { fitting += 1 } else { misfitting += 1 }
        }
    }
    assert!(fitting > 500 && misfitting > 500, "{fitting} fit, {misfitting} do not");
}

#[test]
fn misfits_point_into_the_value() {
    let schema = json!({
        "type": "object",
        "properties": { "a/b": { "type": "array", "items": { "type": "string" } } },
        "required": ["c"],
        "additionalProperties": false,
    });
    let value = json!({ "a/b": ["x", 1], "d": null });
    let misfits = check(&catalogue(), schema.as_object().unwrap(), &value).unwrap_err();
    let told: Vec<String> =
        misfits.iter().map(|misfit| format!("{}: {}", misfit.pointer, misfit.message)).collect();
    assert_eq!(
        told,
        [": `c` is missing", "/a~1b/1: expected string, found integer", "/d: `d` is not declared"]
    );
}

#[test]
fn endless_schemas_end() {
    let mut catalogue = catalogue();
    catalogue.types.types.insert("Loop".into(), json!({ "$ref": "Loop" }));
    let schema = json!({ "$ref": "Loop" });
    let misfits = check(&catalogue, schema.as_object().unwrap(), &Value::Null).unwrap_err();
    assert_eq!(misfits[0].message, "the schema does not end");
}

#[test]
fn rules_across_fields_are_kept() {
    let catalogue = catalogue();
    let tool = catalogue.tools().next().unwrap().tool.clone();
    for (arguments, pointer) in [
        (json!({ "text": "x", "folder": "a", "dir": "a" }), None),
        (json!({ "text": "x", "folder": "a", "dir": null }), Some("/dir")),
        (json!({ "text": "x", "labels": [{ "text": "a" }], "extra": {} }), Some("/extra")),
        (json!({ "text": "é".repeat(200) }), None),
        (json!({ "text": "😀".repeat(101) }), Some("/text")),
        (json!({ "text": "\0" }), Some("")),
    ] {
        let found =
            check_arguments(&catalogue, &tool, &arguments).err().map(|misfits| misfits[0].pointer.clone());
        assert_eq!(found.as_deref(), pointer, "{arguments}");
    }
}
