//! The forms of a state that `compare`, `check` and `lint` take, and snapshot files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use colibri_drift::Snapshot;
use colibri_drift::snapshot::file;
use serde_json::{Value, json};
use tempfile::TempDir;

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}})
}

fn compare(old: &Path, new: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
    command.arg("compare").args([old, new]).output().unwrap()
}

fn state(value: &Value) -> Snapshot {
    Snapshot::parse(&value.to_string()).unwrap()
}

#[test]
fn all_forms_of_one_list_are_the_same_state() {
    let folder = TempDir::new().unwrap();
    let tools = json!([tool("a"), tool("b")]);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}});
    let snaps = folder.path().join("__toolsnaps__");
    fs::create_dir(&snaps).unwrap();
    for name in ["b", "a"] {
        fs::write(snaps.join(format!("{name}.snap")), format!("{:#}", tool(name))).unwrap();
    }
    fs::write(snaps.join("README.md"), "Not a tool.").unwrap();
    let old = folder.path().join("old.json");
    fs::write(&old, json!({ "tools": tools }).to_string()).unwrap();
    let forms = [
        ("response", answer.to_string()),
        ("tools", tools.to_string()),
        ("pages", json!([{"tools": [tool("a")], "nextCursor": "1"}, {"tools": [tool("b")]}]).to_string()),
        ("lines", format!("{}\n{answer}\n", json!({"id": 1, "method": "tools/list"}))),
        ("marked", format!("\u{feff}{answer}")),
        ("snapshot", file::write(&json!({"initialize": {"serverInfo": {}}, "tools": tools}), &[])),
    ];
    for (name, text) in forms {
        let new = folder.path().join(name);
        fs::write(&new, text).unwrap();
        let output = compare(&old, &new);
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("Nothing changed for clients."), "{name}");
    }
    assert_eq!(compare(&old, &snaps).status.code(), Some(0));
    fs::write(snaps.join("b.snap"), "{").unwrap();
    let output = compare(&old, &snaps);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("b.snap: not JSON: "), "{output:?}");
}

#[test]
fn a_folder_may_hold_what_a_tool_is_with_a_flag() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
    for (snaps, limit) in [(&old, 9), (&new, 8)] {
        fs::create_dir(snaps).unwrap();
        let mut list = tool("list");
        fs::write(snaps.join("list.snap"), list.to_string()).unwrap();
        list["inputSchema"]["properties"] = json!({ "page": { "type": "integer", "maximum": limit } });
        fs::write(snaps.join("list_ff_pages.snap"), list.to_string()).unwrap();
        fs::write(snaps.join("me.snap"), json!({ "name": "me", "inputSchema": null }).to_string()).unwrap();
    }
    let output = compare(&old, &new);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        said.contains("BREAK [I7] list_ff_pages /input/properties/page") && !said.contains("] list "),
        "{said}"
    );
    assert_eq!(compare(&old, &old).status.code(), Some(0));
}

#[test]
fn members_that_are_null_count_as_absent_but_not_in_schemas() {
    let mut given = tool("a");
    for name in ["_meta", "annotations", "title", "icons", "execution", "outputSchema"] {
        given[name] = Value::Null;
    }
    let mut hints = tool("a");
    hints["annotations"] = json!({"title": null, "readOnlyHint": null, "x": null});
    let bare = state(&json!({"tools": [tool("a")]}));
    for other in [given, hints] {
        assert_eq!(state(&json!({"tools": [other]})), bare);
    }
    let prompts = |arguments: Value| {
        state(&json!([{"tools": []}, {"prompts": [{"name": "p", "arguments": arguments}]}]))
    };
    assert_eq!(prompts(json!([{"name": "x", "description": null}])), prompts(json!([{"name": "x"}])));
    let mut default = tool("a");
    default["inputSchema"]["properties"]["a"]["default"] = Value::Null;
    assert_ne!(state(&json!({"tools": [default]})), bare);
}

#[test]
fn a_list_that_goes_on_is_refused() {
    let page =
        |name: &str, more: Value| json!({"id": 1, "result": {"tools": [tool(name)], "nextCursor": more}});
    let (first, last) = (page("a", json!("2")), page("b", Value::Null));
    for cut in [&first, &json!([first]), &json!([last, first]), &first["result"]] {
        let error = Snapshot::parse(&cut.to_string()).unwrap_err().to_string();
        assert!(error.contains("the last page of `tools` has a `nextCursor`"), "{error}");
    }
    let whole = Snapshot::parse(&json!([first, last]).to_string()).unwrap();
    assert_eq!(whole, Snapshot::parse(&format!("{first}\n{last}\n")).unwrap());
    assert_eq!(whole.tools.len(), 2);
}

#[test]
fn a_snapshot_that_was_changed_is_refused_with_what_to_do() {
    let content = json!({"tools": [tool("a")], "initialize": {"serverInfo": {"name": "s"}}});
    let text = file::write(&content, &[]);
    assert!(Snapshot::parse(&text).is_ok());
    // Line ends and indentation are a formatter's to choose.
    let compact = serde_json::from_str::<Value>(&text).unwrap().to_string();
    assert_eq!(Snapshot::parse(&compact).unwrap(), Snapshot::parse(&text.replace('\n', "\r\n")).unwrap());
    for (from, to, told) in [
        ("Does it.", "Does more.", "the snapshot was changed after it was captured"),
        ("\"string\"", "\"number\"", "capture it anew with `mcp-drift snapshot -o FILE`"),
        ("\"format\": 1", "\"format\": 2", "the snapshot has format 2, known is 1; use a newer mcp-drift"),
        ("\"format\": 1", "\"format\": \"1\"", "unknown `format`"),
        ("\"format\": 1,", "\"format\": 1, \"varies\": [\"/tools/a\"],", "the snapshot was changed"),
    ] {
        assert!(text.contains(from), "{text}");
        let error = Snapshot::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(told), "{from}: {error}");
    }
}

#[test]
fn invisible_characters_of_a_snapshot_are_escaped() {
    let mut hidden = tool("a");
    hidden["description"] = "Does\u{200b} it\u{202e}.".into();
    let text = file::write(&json!({"tools": [hidden]}), &[]);
    assert!(text.contains("Does\\u200b it\\u202e."), "{text}");
    assert_eq!(Snapshot::parse(&text).unwrap().tools[0].description, "Does\u{200b} it\u{202e}.");
}

type Edit<'a> = &'a dyn Fn(&mut Value);

#[test]
fn what_differs_is_left_out_of_both() {
    let base =
        json!({"tools": [tool("a"), tool("b/c"), tool("*")], "resources": [{"uri": "x://1", "name": "n"}]});
    let change = |edit: &dyn Fn(&mut Value)| {
        let mut other = base.clone();
        edit(&mut other);
        other
    };
    let cases: [(&[&str], Edit); 9] = [
        (&[], &|_| {}),
        (&["/tools/b~1c/description"], &|other| other["tools"][1]["description"] = "New.".into()),
        (&["/tools/a/inputSchema/properties/a/enum"], &|other| {
            other["tools"][0]["inputSchema"]["properties"]["a"]["enum"] = json!(["x"]);
        }),
        (&["/tools/a"], &|other| other["tools"][0]["inputSchema"] = json!(true)),
        (&["/tools/a", "/tools/d"], &|other| other["tools"][0] = tool("d")),
        (&["/tools/*"], &|other| other["tools"].as_array_mut().unwrap().reverse()),
        (&["/tools/~2/title"], &|other| other["tools"][2]["title"] = "T".into()),
        (&["/resources/x:~1~11/name"], &|other| other["resources"][0]["name"] = "m".into()),
        (&["/prompts"], &|other| other["prompts"] = json!([])),
    ];
    for (expected, edit) in cases {
        let other = change(edit);
        let places = file::differences(&base, &other);
        assert_eq!(places, expected, "{other}");
        let [a, b] = [&base, &other].map(|content| file::write(&file::leave_out(content, &places), &places));
        assert_eq!(a, b, "{expected:?}");
        assert_eq!(file::varying(&a), places);
        assert!(Snapshot::parse(&a).is_ok(), "{expected:?}");
    }
    let ordered = |names: [&str; 2]| {
        let mut tool = tool("a");
        let properties = names.map(|name| (name.to_owned(), json!({"type": "string"})));
        tool["inputSchema"]["properties"] = Value::Object(properties.into_iter().collect());
        json!({"tools": [tool]})
    };
    let places = file::differences(&ordered(["x", "y"]), &ordered(["y", "x"]));
    assert_eq!(places, ["/tools/a/inputSchema/properties/*"]);
}
