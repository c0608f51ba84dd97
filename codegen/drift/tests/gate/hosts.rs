//! What hosts and providers refuse: each row of the table on a state, and the command `mcp-drift lint`.

use std::process::Command;

use colibri_drift::Snapshot;
use colibri_drift::hosts::{Effect, ROWS, remarks};
use serde_json::{Value, json};

use super::here;

/// A tool that every host takes, with one edit.
fn list(edit: &dyn Fn(&mut Value)) -> Snapshot {
    let mut list = json!([
        {"serverInfo": {"name": "notes"}, "instructions": "Read."},
        {"tools": [{
            "name": "note_find", "description": "Finds notes.",
            "inputSchema": {"type": "object", "properties": {"words": {"type": "array", "items": {"type": "string"}}}},
            "outputSchema": {"type": "object", "properties": {}},
        }]},
    ]);
    edit(&mut list);
    Snapshot::parse(&list.to_string()).unwrap()
}

fn tool(list: &mut Value) -> &mut Value {
    &mut list[1]["tools"][0]
}

fn many(list: &mut Value, count: usize) {
    let tools = (0..count).map(|number| {
        let mut copy = list[1]["tools"][0].clone();
        copy["name"] = format!("note_{number}").into();
        copy
    });
    list[1]["tools"] = tools.collect();
}

type Edit = &'static dyn Fn(&mut Value);

/// Edits that a row is about, and near ones that it is not about.
const CASES: [(&str, &[Edit], &[Edit]); 20] = [
    (
        "root-union",
        &[&|list| tool(list)["inputSchema"]["anyOf"] = json!([{"required": ["words"]}]), &|list| {
            tool(list)["inputSchema"]["allOf"] = json!([])
        }],
        &[&|list| tool(list)["inputSchema"]["properties"]["words"]["anyOf"] = json!([{"minItems": 1}])],
    ),
    (
        "root-not-object",
        &[&|list| tool(list)["inputSchema"] = json!({}), &|list| {
            tool(list)["inputSchema"]["type"] = json!(["object"])
        }],
        &[&|list| tool(list)["inputSchema"] = json!({"type": "object"})],
    ),
    (
        "malformed",
        &[
            &|list| tool(list)["description"] = json!(5),
            &|list| tool(list)["annotations"] = json!({"readOnlyHint": "yes"}),
            &|list| tool(list)["inputSchema"]["required"] = json!("words"),
            &|list| tool(list)["inputSchema"]["properties"]["words"] = json!(5),
            &|list| tool(list)["outputSchema"]["required"] = json!([1]),
        ],
        &[&|list| tool(list)["title"] = Value::Null, &|list| {
            tool(list)["inputSchema"]["required"] = json!([])
        }],
    ),
    (
        "reference-cycle",
        &[&|list| tool(list)["inputSchema"]["properties"]["inner"] = json!({"$ref": "#"})],
        &[&|list| {
            tool(list)["inputSchema"]["$defs"] = json!({"word": {"type": "string"}});
            tool(list)["inputSchema"]["properties"]["words"]["items"] = json!({"$ref": "#/$defs/word"});
            tool(list)["inputSchema"]["properties"]["one"] = json!({"$ref": "#/$defs/word"});
        }],
    ),
    (
        "reference-nowhere",
        &[&|list| tool(list)["outputSchema"]["properties"]["a"] = json!({"$ref": "#/$defs/gone"}), &|list| {
            tool(list)["inputSchema"]["properties"]["words"]["items"] = json!({"$ref": "#/definitions/gone"})
        }],
        &[&|list| tool(list)["inputSchema"]["properties"]["words"]["default"] = json!([{"$ref": "#/gone"}])],
    ),
    (
        "name-characters",
        &[&|list| tool(list)["name"] = "note.find".into(), &|list| tool(list)["name"] = "note find".into()],
        &[&|list| tool(list)["name"] = "Note-find_2".into()],
    ),
    (
        "name-first",
        &[&|list| tool(list)["name"] = "2find".into()],
        &[&|list| tool(list)["name"] = "_find2".into()],
    ),
    (
        "name-length",
        &[&|list| tool(list)["name"] = "n".repeat(65).into(), &|list| tool(list)["name"] = "".into()],
        &[&|list| tool(list)["name"] = "n".repeat(64).into()],
    ),
    (
        "name-with-server",
        &[&|list| tool(list)["name"] = "n".repeat(53).into()],
        &[&|list| tool(list)["name"] = "n".repeat(52).into()],
    ),
    (
        "property-characters",
        &[&|list| tool(list)["inputSchema"]["properties"]["words[]"] = json!({}), &|list| {
            tool(list)["inputSchema"]["properties"]["w".repeat(65)] = json!({})
        }],
        &[&|list| {
            tool(list)["inputSchema"]["properties"]["a.b-c"] =
                json!({"type": "object", "properties": {"deeper[]": {"type": "string"}}});
        }],
    ),
    (
        "array-without-items",
        &[&|list| tool(list)["inputSchema"]["properties"]["words"] = json!({"type": "array"})],
        &[&|list| tool(list)["inputSchema"]["properties"]["words"]["items"] = json!({})],
    ),
    (
        "output-not-object",
        &[&|list| tool(list)["outputSchema"] = json!({"anyOf": []})],
        &[&|list| drop(tool(list).as_object_mut().unwrap().remove("outputSchema"))],
    ),
    (
        "output-dialect",
        &[&|list| tool(list)["outputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#".into()],
        &[&|list| {
            tool(list)["outputSchema"]["$schema"] = "https://json-schema.org/draft/2020-12/schema".into()
        }],
    ),
    (
        "input-dialect",
        &[&|list| tool(list)["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#".into()],
        &[&|list| tool(list)["inputSchema"]["properties"]["$schema"] = json!({"type": "string"})],
    ),
    (
        "string-format",
        &[&|list| tool(list)["inputSchema"]["properties"]["words"]["items"]["format"] = "uri".into()],
        &[&|list| tool(list)["inputSchema"]["properties"]["words"]["items"]["format"] = "date-time".into()],
    ),
    (
        "enum-not-text",
        &[&|list| tool(list)["inputSchema"]["properties"]["size"] = json!({"enum": ["a", 1]})],
        &[&|list| tool(list)["inputSchema"]["properties"]["size"] = json!({"enum": ["a", "1"]})],
    ),
    ("tools-over-128", &[&|list| many(list, 129)], &[&|list| many(list, 128)]),
    ("tools-over-40", &[&|list| many(list, 41)], &[&|list| many(list, 40)]),
    (
        "list-bytes",
        &[&|list| tool(list)["inputSchema"]["description"] = "x".repeat(100_000).into()],
        &[&|list| tool(list)["inputSchema"]["description"] = "x".repeat(90_000).into()],
    ),
    (
        "text-length",
        &[&|list| tool(list)["description"] = "x".repeat(2_049).into(), &|list| {
            list[0]["instructions"] = "é".repeat(2_049).into()
        }],
        &[&|list| tool(list)["description"] = "é".repeat(2_048).into()],
    ),
];

#[test]
fn every_row_finds_what_it_is_about_and_nothing_near_it() {
    let clean = remarks(&list(&|_| {}));
    assert!(clean.is_empty(), "{clean:?}");
    let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    assert_eq!(names, CASES.map(|(name, ..)| name));
    for (name, fires, near) in CASES {
        for (edits, expected) in [(fires, true), (near, false)] {
            for (number, edit) in edits.iter().enumerate() {
                let found = remarks(&list(edit));
                let found: Vec<&str> = found.iter().map(|remark| remark.row.name).collect();
                assert_eq!(found.contains(&name), expected, "{name} {number}: {found:?}");
            }
        }
    }
}

#[test]
fn every_row_has_a_public_source_with_a_day_and_says_what_to_do() {
    for row in ROWS {
        assert!(row.source.starts_with("https://github.com/") && row.seen.ends_with('.'), "{}", row.name);
        let day: Vec<u32> = row.date.split('-').map(|part| part.parse().unwrap()).collect();
        assert!(matches!(day[..], [2024..=2026, 1..=12, 1..=31]), "{}", row.name);
        assert!(!row.help.is_empty() && !row.help.ends_with('.') && !row.title.is_empty(), "{}", row.name);
    }
}

#[test]
fn lint_ends_with_1_if_something_is_refused() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
        let output =
            command.arg("lint").args(arguments).current_dir(here().join("tool/H1")).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, told, _) = run(&["old.json"]);
    assert_eq!((code, told.as_str()), (Some(0), "2 tools: no known host or provider refuses anything.\n"));
    let (code, told, _) = run(&["new.json"]);
    assert_eq!(code, Some(1));
    assert!(told.contains(" refused, 0 degraded.\n\nLIST REFUSED [root-union] "), "{told}");
    assert!(
        told.contains("\n  note_add /input: the root has `anyOf`\n") && told.contains("2026-08-05"),
        "{told}"
    );
    let (code, told, _) = run(&["new.json", "--format", "json"]);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, &report["passes"]), (Some(1), &json!(false)));
    assert_eq!(report["remarks"][0]["effect"], Effect::ListRefused.word());
    let (code, told, _) = run(&["old.json", "--server-name", &"s".repeat(60)]);
    assert_eq!(code, Some(0));
    assert!(
        told.contains("DEGRADED [name-with-server]")
            && told.starts_with("2 tools: nothing is refused, 2 degraded.\n"),
        "{told}"
    );
    for (arguments, message) in
        [(&[][..], "error: name a file, or a server"), (&["gone.json"], "error: gone.json: ")]
    {
        let (code, told, error) = run(arguments);
        assert_eq!((code, told.as_str()), (Some(2), ""));
        assert!(error.starts_with(message), "{error}");
    }
}
