//! The interpreter against an independent judge: the `jsonschema` crate must give the same verdict on
//! random instances near each schema. Integers beyond 2^53-1 are left out: there ours refuses on purpose.

use std::cell::RefCell;

use colibri_runtime::schema::{Schema, Shape, StringRule};
use colibri_runtime::validate::{conforms, validate};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::schemas::PAIRS;

const SEEDS: u32 = 1_600;
const INSTANCES_PER_SEED: u32 = 64;

/// A small generator of its own, so that one seed prints a whole group of instances.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len() as u64) as usize].clone()
    }

    fn number(&mut self) -> Value {
        let texts = [
            "0",
            "-0",
            "-0.0",
            "1",
            "1.0",
            "2",
            "2.0",
            "3",
            "5",
            "5.0",
            "1e1",
            "10",
            "10.0",
            "11",
            "-1",
            "-1.0",
            "0.5",
            "1.5",
            "2.5",
            "20",
            "20.5",
            "-20",
            "-25",
            "9007199254740991",
            "-9007199254740991",
            "0.1",
        ];
        serde_json::from_str(self.pick(&texts)).unwrap()
    }

    fn text(&mut self) -> String {
        let length = self.roll(6);
        (0..length).map(|_| self.pick(&['a', 'b', 'z', 'A', '0', ' ', 'é', '😀', '\n'])).collect()
    }

    fn word(&mut self) -> String {
        let length = 1 + self.roll(5);
        (0..length).map(|_| self.pick(&['a', 'b'])).collect()
    }

    fn anything(&mut self, depth: u32) -> Value {
        match self.roll(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.roll(2) == 0),
            2 | 3 => self.number(),
            4 => json!(self.text()),
            5 => json!(self.pick(&["A", "B", ""])),
            6 => (0..self.roll(4)).map(|_| self.anything(depth - 1)).collect(),
            _ => (0..self.roll(4)).map(|_| (self.word(), self.anything(depth - 1))).collect(),
        }
    }

    /// A value that fits `schema`, or nearly does.
    fn near(&mut self, schema: &Schema) -> Value {
        if self.roll(12) == 0 {
            return self.anything(2);
        }
        if schema.nullable && self.roll(5) == 0 {
            return Value::Null;
        }
        match &schema.shape {
            Shape::Any => self.anything(2),
            Shape::Null => Value::Null,
            Shape::Boolean => json!(self.roll(2) == 0),
            Shape::Integer(_) | Shape::Number(_) => self.number(),
            Shape::String(StringRule { pattern: Some(_), .. }) => json!(self.word()),
            Shape::String(_) => json!(self.text()),
            Shape::Enum(_) => match self.roll(5) {
                0 => self.number(),
                1 => json!(true),
                _ => json!(self.pick(&["A", "B"])),
            },
            Shape::Array(rule) => {
                let max = u64::from(rule.max.unwrap_or(3));
                (0..self.roll(max + 2)).map(|_| self.near(&rule.items)).collect()
            }
            Shape::Record(rule) => {
                (0..self.roll(4)).map(|_| (self.word(), self.near(&rule.values))).collect()
            }
            Shape::Object(rule) => {
                let mut members = Map::new();
                for property in rule.properties {
                    if self.roll(if property.required { 10 } else { 2 }) != 0 {
                        members.insert(property.name.to_owned(), self.near(&property.schema));
                    }
                }
                if self.roll(12) == 0 {
                    members.insert(self.word(), self.anything(1));
                }
                Value::Object(members)
            }
            Shape::Union(rule) => {
                let branch = self.roll(rule.branches.len() as u64) as usize;
                self.near(&rule.branches[branch])
            }
        }
    }
}

#[test]
fn verdicts_equal_those_of_an_independent_validator() {
    let judges: Vec<jsonschema::Validator> = PAIRS
        .iter()
        .map(|pair| jsonschema::draft202012::new(&serde_json::from_str(pair.text).unwrap()).unwrap())
        .collect();
    // How many instances each schema has met, and how many of them were valid.
    let counts = RefCell::new(vec![(0_u32, 0_u32); PAIRS.len()]);
    let mut runner = TestRunner::new(Config { cases: SEEDS, failure_persistence: None, ..Config::default() });
    runner
        .run(&any::<u64>(), |seed| {
            let mut dice = Dice(seed);
            for round in 0..INSTANCES_PER_SEED {
                let which = (round as usize + seed as usize % PAIRS.len()) % PAIRS.len();
                let pair = &PAIRS[which];
                let instance = dice.near(pair.table);
                let verdict = judges[which].is_valid(&instance);
                let (seen, valid) = &mut counts.borrow_mut()[which];
                *seen += 1;
                *valid += u32::from(verdict);
                agrees(pair.table, &instance, verdict).map_err(|problem| {
                    TestCaseError::fail(format!("{}: {problem}\n{instance}", pair.name))
                })?;
            }
            Ok(())
        })
        .unwrap();
    let counts = counts.into_inner();
    assert!(counts.iter().map(|(seen, _)| seen).sum::<u32>() >= 100_000);
    for (pair, (seen, valid)) in PAIRS.iter().zip(counts) {
        assert!(valid >= 200 && seen - valid >= 200, "{}: {valid} of {seen} valid", pair.name);
    }
}

fn agrees(table: &'static Schema, instance: &Value, verdict: bool) -> Result<(), String> {
    if conforms(table, instance) != verdict {
        return Err(format!("conforms says {}, the judge {verdict}", !verdict));
    }
    let mut value = instance.clone();
    match validate(table, &[], &mut value) {
        Err(issues) if verdict => Err(format!("refused, the judge accepts: {issues:?}")),
        Err(issues) if issues.is_empty() => Err("refused without an issue".into()),
        Err(_) if value != *instance => Err("refused, and changed".into()),
        Err(_) => Ok(()),
        Ok(()) if !verdict => Err("accepted, the judge refuses".into()),
        Ok(()) => {
            let first = value.to_string();
            let again = validate(table, &[], &mut value).map(|()| value.to_string());
            if again.as_ref() == Ok(&first) {
                Ok(())
            } else {
                Err(format!("not settled: {first}, then {again:?}"))
            }
        }
    }
}
