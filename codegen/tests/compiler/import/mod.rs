//! Lists of public servers become catalogues: each compiles, and lists what the server listed.

mod generated;
mod surfaces;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use colibri_codegen::catalogue::{Catalogue, Profile};
use colibri_codegen::{check, compile, lock, reference};
use serde_json::{Map, Value, json};

/// A server's list, and what its catalogue cannot express.
struct Server {
    name: &'static str,
    file: &'static str,
    tools: usize,
    /// Members of entries that become comments.
    noted: usize,
}

const fn server(name: &'static str, file: &'static str, tools: usize, noted: usize) -> Server {
    Server { name, file, tools, noted }
}

const SERVERS: [Server; 12] = [
    server("chrome-devtools", "tests/compiler/import/chrome-devtools.json", 32, 0),
    server("context7", "drift/tests/gate/history/context7/4.1.1.json", 2, 3),
    server("everything", "drift/tests/gate/history/everything/2026.8.31.json", 13, 1),
    server("fetch", "drift/tests/gate/history/fetch/2026.10.24.json", 1, 0),
    server("filesystem", "drift/tests/gate/history/filesystem/2026.7.10.json", 14, 0),
    server("git", "drift/tests/gate/history/git/2026.10.19.json", 12, 0),
    server("github", "tests/compiler/import/github.json", 117, 11),
    server("memory", "drift/tests/gate/history/memory/2026.8.31.json", 9, 0),
    server("playwright", "tests/compiler/import/playwright.json", 72, 0),
    server("sequential-thinking", "drift/tests/gate/history/sequential-thinking/2026.8.31.json", 1, 0),
    server("sqlite", "drift/tests/gate/history/sqlite/2025.4.25.json", 6, 0),
    server("time", "drift/tests/gate/history/time/2026.10.19.json", 2, 0),
];

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// The entries that the server listed.
fn listed(server: &Server) -> Vec<Value> {
    let text = fs::read_to_string(path(server.file)).unwrap();
    let answers: Value = serde_json::from_str(&text).unwrap();
    answers["tools"].as_array().unwrap().clone()
}

/// Writes the server's catalogue into a folder, by the command. Returns what the command said.
fn import(server: &Server, folder: &Path) -> String {
    run(&["init", "--from", path(server.file).to_str().unwrap(), "--out", folder.to_str().unwrap()], 0).0
}

/// Runs the command; what it printed to stdout and to stderr.
fn run(arguments: &[&str], code: i32) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_colibri-codegen")).args(arguments).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(code), "{out}{err}");
    (out, err)
}

/// The entries that the compiled catalogue lists: the literals of its registry.
fn compiled(rust: &str) -> Vec<Value> {
    let entries = rust.split("listing: ").skip(1).filter_map(|rest| {
        let mut escaped = false;
        let end = rest[1..].find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        let literal: syn::LitStr = syn::parse_str(&rest[..end? + 2]).unwrap();
        serde_json::from_str(&literal.value()).ok()
    });
    entries.collect()
}

/// What must be byte-equal, as canonical JSON: keys sorted, nothing added.
fn texts(entry: &Value) -> String {
    let members = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
    let found = members.into_iter().filter_map(|name| Some((name.to_owned(), sorted(entry.get(name)?))));
    Value::Object(found.collect()).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort();
            Value::Object(
                keys.into_iter().map(|key| (key.clone(), sorted(&members[key]))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        // `3.0` and `3` are one number (RFC 8785).
        Value::Number(number) => {
            match number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15) {
                Some(float) => json!(float as i64),
                None => value.clone(),
            }
        }
        scalar => scalar.clone(),
    }
}

#[test]
fn lists_of_public_servers_become_catalogues_that_list_the_same() {
    let mut total = 0;
    for server in &SERVERS {
        let folder = tempfile::tempdir().unwrap();
        let said = import(server, folder.path());
        let catalogue = Catalogue::load(folder.path()).unwrap();
        assert_eq!(catalogue.head.profile, Profile::Open);
        assert_eq!(check(&catalogue), [], "{}", server.name);
        let entries = compiled(&compile(folder.path()).unwrap().rust);
        let wanted = listed(server);
        assert_eq!(entries.len(), wanted.len(), "{}", server.name);
        for (entry, wanted) in entries.iter().zip(&wanted) {
            assert_eq!(texts(entry), texts(wanted), "{}", server.name);
        }
        assert_eq!((entries.len(), said.lines().count()), (server.tools, said_lines(server)), "{said}");
        assert!(said.contains("no text changed"), "{said}");
        // The gate and the reference take them, too.
        let state = colibri_drift::from_lock(&lock(&catalogue).unwrap()).unwrap();
        assert_eq!(state.tools.len(), server.tools);
        assert!(
            reference(&catalogue)
                .unwrap()
                .iter()
                .any(|(_, page)| page.contains(&format!("## {}\n", entries[0]["name"].as_str().unwrap())))
        );
        total += entries.len();
    }
    assert_eq!(total, 281);
}

/// The summary's first line, and if there are notes, a line that says so and one for each.
fn said_lines(server: &Server) -> usize {
    if server.noted == 0 { 1 } else { 2 + server.noted }
}

#[test]
fn what_cannot_be_expressed_is_a_comment_at_the_entry() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.json");
    let list = json!({"tools": [
        {"name": "plain", "inputSchema": {"type": "object"}},
        {
            "name": "odd", "description": "As it is.\nIn two lines.", "_meta": {"ui": 1}, "icons": null,
            "execution": {"taskSupport": "optional"},
            "inputSchema": {
                "type": "object",
                "properties": {
                    "a": {"description": "Text.", "allOf": [{"type": "string"}, {"minLength": 2}]},
                    "b": {"type": "array", "items": {"type": "string"}, "contains": {"const": "x"}},
                    "c": {"type": "object", "properties": {"d": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
                },
                "required": ["a"],
            },
            "outputSchema": {"anyOf": [{"type": "object", "properties": {}}, {"type": "object"}]},
        },
    ]});
    fs::write(&file, list.to_string()).unwrap();
    let out = folder.path().join("catalogue");
    let (said, _) = run(&["init", "--from", file.to_str().unwrap(), "--out", out.to_str().unwrap()], 0);
    let text = fs::read_to_string(out.join("tools/tools.yaml")).unwrap();
    let (_, odd) = text.split_once("name: plain").unwrap();
    let comments: Vec<&str> =
        odd.lines().filter_map(|line| line.trim().strip_prefix("# Not expressed here: ")).collect();
    for wanted in [
        "_meta: {\"ui\":1}",
        "execution: {\"taskSupport\":\"optional\"}",
        "inputSchema/properties/a/allOf: [{\"type\":\"string\"},{\"minLength\":2}]",
        "inputSchema/properties/b/contains: {\"const\":\"x\"}",
        "inputSchema/properties/c/additionalProperties: {\"type\":\"integer\"}",
        "outputSchema",
    ] {
        assert!(comments.iter().any(|comment| comment.starts_with(wanted)), "{wanted}: {comments:#?}");
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(comments.len(), 6, "{comments:#?}");
    let entries = compiled(&compile(&out).unwrap().rust);
    assert_eq!(entries[1]["description"], "As it is.\nIn two lines.");
    assert_eq!(entries[1]["inputSchema"]["properties"]["a"], json!({"description": "Text."}));
    assert_eq!(entries[1].get("outputSchema"), None);
}

#[test]
fn texts_that_hide_something_stay_and_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.json");
    let list =
        json!({"tools": [{"name": "a", "description": "Reads\u{202e}.", "inputSchema": {"type": "object"}}]});
    fs::write(&file, list.to_string()).unwrap();
    let out = folder.path().join("catalogue");
    let (said, told) = run(&["init", "--from", file.to_str().unwrap(), "--out", out.to_str().unwrap()], 1);
    assert!(said.contains("1 tool, no text changed"), "{said}");
    assert!(told.contains("the text holds the character U+202E"), "{told}");
    assert!(fs::read_to_string(out.join("tools/tools.yaml")).unwrap().contains("\"Reads\\U0000202E.\""));
}

#[test]
fn what_is_not_a_list_is_refused_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.json");
    let out = folder.path().join("catalogue");
    for (text, reason) in [
        ("{", "not JSON"),
        ("{}", "no answer to `tools/list`"),
        (r#"{"lock": 1}"#, "the lock of a catalogue"),
        (r#"{"tools": [{"name": "a"}]}"#, "the tool `a` has no `inputSchema`"),
    ] {
        fs::write(&file, text).unwrap();
        let (_, told) = run(&["init", "--from", file.to_str().unwrap(), "--out", out.to_str().unwrap()], 2);
        assert!(told.contains(reason) && told.contains("tools.json"), "{told}");
        assert!(!out.exists());
    }
    fs::write(&file, r#"[{"name": "a", "inputSchema": {"type": "object"}}]"#).unwrap();
    let there = folder.path().to_str().unwrap();
    let (_, told) = run(&["init", "--from", file.to_str().unwrap(), "--out", there], 2);
    assert!(told.contains("holds files"), "{told}");
}

#[test]
fn a_folder_and_a_session_are_imported_as_a_list_is() {
    let folder = tempfile::tempdir().unwrap();
    let tool = |name: &str| json!({"name": name, "description": "Reads.", "inputSchema": {"type": "object"}});
    let tools = folder.path().join("snaps");
    fs::create_dir(&tools).unwrap();
    for name in ["a", "b"] {
        fs::write(tools.join(format!("{name}.snap")), tool(name).to_string()).unwrap();
    }
    let list = folder.path().join("tools.json");
    fs::write(&list, json!([tool("a"), tool("b")]).to_string()).unwrap();
    let session = folder.path().join("session.jsonl");
    let messages = [
        json!({"id": 1, "method": "tools/list"}),
        json!({"id": 1, "result": {"tools": [tool("a"), tool("b")]}}),
    ];
    fs::write(&session, messages.map(|message| format!("{message}\n")).concat()).unwrap();
    let made = [tools, list, session].map(|from| {
        let out = from.with_extension("catalogue");
        run(&["init", "--from", from.to_str().unwrap(), "--out", out.to_str().unwrap()], 0);
        fs::read_to_string(out.join("tools/tools.yaml")).unwrap()
    });
    assert!(made[0].contains("- name: b\n") && made.iter().all(|text| text == &made[0]), "{made:?}");
}

#[test]
fn a_running_server_is_asked_and_imported() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("catalogue");
    let out = out.to_str().unwrap();
    let tool = json!({"name": "a", "description": "Reads.", "inputSchema": {"type": "object"}});
    let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}});
    let server = |id: u32, result: &Value| {
        format!("echo '{}'; ", json!({"jsonrpc": "2.0", "id": id, "result": result}))
    };
    let script = format!(
        "read a; {}read b; read c; {}cat >/dev/null",
        server(1, &greeting),
        server(2, &json!({"tools": [tool]}))
    );
    let (said, _) = run(&["init", "--out", out, "--era", "handshake", "--", "sh", "-c", &script], 0);
    assert!(said.contains("1 tool, no text changed"), "{said}");
    assert!(fs::read_to_string(format!("{out}/catalogue.yaml")).unwrap().contains("\nname: s\n"));
    let (_, told) = run(&["init", "--out", out, "--", "sh", "-c", "echo no >&2"], 2);
    assert!(told.contains("ended before it answered") && told.contains("no"), "{told}");
    let (_, told) = run(&["init", "--from", "tools.json", "--", "sh"], 2);
    assert!(told.contains("cannot be used with"), "{told}");
    let (_, told) = run(&["init"], 2);
    assert!(told.contains("--from <FILE>"), "{told}");
}

#[test]
fn every_legal_name_of_a_tool_compiles_and_is_listed_by_the_mock() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["tools.json", "catalogue"].map(|name| folder.path().join(name));
    let names = ["x.y", "get-Note.v2", "9lives", "UPPER_case"];
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}});
    fs::write(&file, json!(names.map(tool)).to_string()).unwrap();
    run(&["init", "--from", file.to_str().unwrap(), "--out", out.to_str().unwrap()], 0);
    assert!(compile(&out).is_ok());
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let script = "printf '%s\\n' \"$1\" | \"$2\" mock \"$3\"";
    let command = ["-c", script, "sh", ask, env!("CARGO_BIN_EXE_colibri-codegen"), out.to_str().unwrap()];
    let output = Command::new("sh").args(command).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let list: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    let listed: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(listed, names);
}
