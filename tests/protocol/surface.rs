//! chain#one-way-in: no network, an independent judge of validation, a closed surface.
//!
//! - 72: the deny list over the dependency tree is a tidy test's.
//! - 74: that code outside the runtime cannot name a chain stage is a `compile_fail` example of
//!   `colibri_runtime::chain`; that a catalogue entry without `input` fails with file, line and column is shown
//!   in codegen/tests/compiler/bad_catalogues.
//! - 75 begins when a command changes domain rows; none does. 76 is measured in CI.

use colibri::catalogue::CATALOGUE;
use colibri_runtime::schema::{Literal, Schema, Shape, StringRule};
use colibri_runtime::validate::validate;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::dice::Dice;
use colibri_test_support::sqlite_only;
use serde_json::{Map, Value, json};

/// The kernel's numbers of the sockets that a process holds.
fn sockets(server: &Server) -> Vec<String> {
    let folder = format!("/proc/{}/fd", server.pid());
    std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

#[test]
fn a_server_that_runs_every_tool_holds_no_network_socket() {
    sqlite_only!("a shared database is reached over a socket");
    let mut server = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).start();
    for tool in CATALOGUE.tools {
        let arguments = if tool.name == "task_create" { json!({ "title": "A" }) } else { json!({}) };
        server.call(tool.name, arguments);
    }
    let held = sockets(&server);
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"] {
        // A machine without IPv6 has no table for it.
        let text = std::fs::read_to_string(format!("/proc/{}/net/{table}", server.pid())).unwrap_or_default();
        for line in text.lines().skip(1) {
            let inode = line.split_whitespace().nth(9).unwrap_or_default();
            assert!(!held.iter().any(|socket| socket == inode), "{table}: {line}");
        }
    }
    // Nor does it listen on a socket of the file system: what it may hold is a pair without a name, for signals.
    let text = std::fs::read_to_string(format!("/proc/{}/net/unix", server.pid())).unwrap();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split_whitespace().collect();
        if held.iter().any(|socket| columns.get(6) == Some(&socket.as_str())) {
            assert_eq!(columns.len(), 7, "a socket with a path: {line}");
        }
    }
}

/// Instances of schemas: one seed, one run.
struct Instances(Dice);

impl Instances {
    fn roll(&self, sides: usize) -> usize {
        self.0.place(sides)
    }

    /// A value of any kind. Integers beyond 2^53-1 are left out: there ours refuses on purpose.
    fn anything(&self, depth: usize) -> Value {
        let plain = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(2.0),
            json!(""),
            json!("é"),
            json!("INIT"),
        ];
        match self.roll(if depth == 0 { plain.len() } else { plain.len() + 2 }) {
            place if place < plain.len() => plain[place].clone(),
            place if place == plain.len() => (0..self.roll(3)).map(|_| self.anything(depth - 1)).collect(),
            _ => json!({ "x": self.anything(depth - 1) }),
        }
    }

    fn text(&self, rule: &StringRule) -> String {
        // What hashes, keys and round ids look like, and nearly look like: letters alone never would.
        if rule.pattern.is_some() && self.roll(8) < 7 {
            let (unit, times) =
                [("07", 32), ("7", 1), ("0f", 3), ("7", 78), ("7", 79), ("ab", 33), ("a", 64), ("AB", 32)]
                    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7][self.roll(16)]];
            return unit.repeat(times);
        }
        let (min, max) = (rule.min.unwrap_or(0) as usize, rule.max.unwrap_or(20) as usize);
        // At the bounds, one beyond them, and between.
        let length = match self.roll(6) {
            0 => min.saturating_sub(1),
            1 => min,
            2 => max,
            3 => max + 1,
            _ => min + self.roll(12),
        };
        let letter = [" ", "a", "é", "😀", "\u{0}", "\n"][self.roll(6)];
        letter.repeat(length)
    }

    /// A value that fits the schema, or nearly does.
    fn near(&self, schema: &Schema) -> Value {
        if self.roll(14) == 0 {
            return self.anything(2);
        }
        if schema.nullable && self.roll(4) == 0 {
            return Value::Null;
        }
        match &schema.shape {
            Shape::Any => self.anything(2),
            Shape::Null => Value::Null,
            Shape::Boolean => json!(self.roll(2) == 0),
            Shape::Integer(_) | Shape::Number(_) => [
                json!(-1),
                json!(0),
                json!(1),
                json!(20),
                json!(100),
                json!(101),
                json!(500),
                json!(501),
                json!(2.0),
                json!(1e9),
                json!(1_000_000_001),
                json!(0.5),
            ][self.roll(12)]
            .clone(),
            Shape::String(rule) => json!(self.text(rule)),
            Shape::Enum(literals) => match &literals[self.roll(literals.len())] {
                Literal::Null => Value::Null,
                Literal::Boolean(flag) => json!(flag),
                Literal::Integer(number) => json!(number),
                Literal::String(text) => json!(text),
            },
            Shape::Array(rule) => {
                let most = rule.max.unwrap_or(3) as usize + 2;
                let length = if self.roll(8) == 0 { self.roll(most) } else { self.roll(3) };
                (0..length).map(|_| self.near(&rule.items)).collect()
            }
            Shape::Record(rule) => {
                (0..self.roll(3)).map(|i| (format!("k{i}"), self.near(&rule.values))).collect()
            }
            Shape::Object(rule) => {
                let mut members = Map::new();
                for property in rule.properties {
                    if self.roll(if property.required { 12 } else { 3 }) != 0 {
                        members.insert(property.name.to_owned(), self.near(&property.schema));
                    }
                }
                if self.roll(12) == 0 {
                    members.insert("unknown".to_owned(), self.anything(1));
                }
                Value::Object(members)
            }
            Shape::Union(rule) => {
                let branch = self.roll(rule.branches.len());
                self.near(&rule.branches[branch])
            }
        }
    }
}

#[test]
fn stage_2_and_an_independent_validator_give_the_same_verdict() {
    const INSTANCES: usize = 21_000;
    let share = INSTANCES.div_ceil(CATALOGUE.tools.len());
    for (seed, tool) in CATALOGUE.tools.iter().enumerate() {
        let listing: Value = serde_json::from_str(tool.listing).unwrap();
        let judge = jsonschema::draft202012::new(&listing["inputSchema"]).unwrap();
        let instances = Instances(Dice::new(seed as u64));
        let mut valid = 0;
        for _ in 0..share {
            let instance = instances.near(tool.input);
            let expected = judge.is_valid(&instance);
            valid += usize::from(expected);
            // Rules across fields (catalogue#cross-rules) are not in the published schema.
            let issues = validate(tool.input, &[], &mut instance.clone()).err();
            assert_eq!(issues.is_none(), expected, "{}: {instance}\n{issues:?}", tool.name);
        }
        assert!(valid > share / 50 && valid < share, "{}: {valid} of {share} valid", tool.name);
    }
}
