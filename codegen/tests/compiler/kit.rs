//! `colibri-codegen test` and `colibri-codegen mock`: each is run against the other, and both against servers that are wrong.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const COMPILER: &str = env!("CARGO_BIN_EXE_colibri-codegen");

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs the examples of a catalogue against a command.
fn test(catalogue: &Path, options: &[&str], command: &[&str]) -> (Option<i32>, String, String) {
    let run =
        Command::new(COMPILER).arg("test").arg(catalogue).args(options).arg("--").args(command).output();
    let Output { status, stdout, stderr } = run.unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// The answers of a mock to these requests, in their order; a list overtakes calls.
fn mocked(catalogue: &Path, requests: &[Value]) -> Vec<Value> {
    let mut process = Command::new(COMPILER)
        .arg("mock")
        .arg(catalogue)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    for (id, request) in requests.iter().enumerate() {
        let mut request = request.clone();
        request["id"] = json!(id);
        writeln!(input, "{request}").unwrap();
    }
    drop(input);
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut answers: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn call(tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "method": "tools/call", "params": params })
}

#[test]
fn a_mock_of_a_catalogue_passes_its_examples() {
    for (catalogue, examples) in [
        ("tests/golden/catalogue", 7),
        ("examples/notes/catalogue", 3),
        ("examples/counter/catalogue", 2),
        ("examples/files/catalogue", 16),
    ] {
        let catalogue = here(catalogue);
        let (code, said, _) = test(&catalogue, &[], &[COMPILER, "mock", catalogue.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.ends_with(&format!("\n{examples} as documented, 0 different\n")), "{said}");
    }
}

#[test]
fn an_operation_is_skipped_and_one_tool_can_be_chosen() {
    let catalogue = here("tests/golden/catalogue");
    let mock = [COMPILER, "mock", catalogue.to_str().unwrap()];
    let (code, said, _) = test(&catalogue, &["--tool", "place_import"], &mock);
    let skipped = "skip  place_import: Two places (an operation, which no client can call)\n";
    assert_eq!((code, said), (Some(0), format!("{skipped}0 as documented, 0 different\n")));
    let (code, said, _) = test(&catalogue, &["--tool", "record_get"], &mock);
    let wanted =
        "ok    record_get: A record\nok    record_get: A large record\n2 as documented, 0 different\n";
    assert_eq!((code, &*said), (Some(0), wanted));
    let (code, _, stderr) = test(&catalogue, &["--tool", "record_gets"], &mock);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("no tool `record_gets`"), "{stderr}");
}

/// A catalogue that differs from the one that is served.
#[test]
fn a_reply_that_differs_is_shown_and_ends_with_1() {
    let served = here("examples/counter/catalogue");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tools")).unwrap();
    for file in ["catalogue.yaml", "tools/counter.yaml"] {
        let text = fs::read_to_string(served.join(file)).unwrap();
        fs::write(folder.path().join(file), text.replace("data: { value: 5 }", "data: { value: 6 }"))
            .unwrap();
    }
    let (code, said, _) = test(folder.path(), &[], &[COMPILER, "mock", served.to_str().unwrap()]);
    let wanted = r#"FAIL  counter_add: The first step
       documented {"ok":true,"data":{"value":6}}
       real {"ok":true,"data":{"value":5}}
ok    counter_read: Nothing yet
1 as documented, 1 different
"#;
    assert_eq!((code, &*said), (Some(1), wanted));
}

/// Each server is a line of a shell.
#[test]
fn servers_that_do_not_answer_are_told_what_they_did() {
    let catalogue = here("examples/counter/catalogue");
    let greeting = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read line; read line;"#;
    for (script, told) in [
        ("exit 0".to_owned(), "the server ended before it answered initialize"),
        ("echo hello; cat >/dev/null".to_owned(), "a line of stdout is not JSON: hello"),
        ("cat >/dev/null".to_owned(), "no answer to initialize within 1 s"),
        (
            format!(r#"{greeting} echo '{{"jsonrpc":"2.0","id":2,"error":{{"code":-1,"message":"no"}}}}'"#),
            r#"tools/call failed: {"code":-1,"message":"no"}"#,
        ),
        (
            format!(r#"{greeting} echo '{{"jsonrpc":"2.0","id":2,"result":{{"content":[]}}}}'"#),
            "answered neither structure nor text",
        ),
        (
            format!(
                r#"{greeting} echo '{{"jsonrpc":"2.0","id":2,"result":{{"isError":true,"structuredContent":{{"ok":true,"data":{{"value":5}}}}}}}}'"#
            ),
            "the reply is documented, but it has `isError: true`",
        ),
    ] {
        let options = ["--tool", "counter_add", "--timeout", "1"];
        let (code, said, _) = test(&catalogue, &options, &["sh", "-c", &script]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.starts_with("FAIL  counter_add: The first step\n") && said.contains(told), "{said}");
    }
    let (code, _, stderr) = test(&catalogue, &[], &["/nowhere/server"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("`/nowhere/server` cannot be started"), "{stderr}");
}

/// A text that is JSON counts like structured content, and `{folder}` is empty for each example.
#[test]
fn a_reply_may_be_text_and_each_server_has_an_empty_folder() {
    let catalogue = here("examples/counter/catalogue");
    let script = r#"
        ls "$1" | grep -q . && exit 1
        touch "$1/used"
        read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read line; read line
        case "$line" in *counter_add*) value=5 ;; *) value=0 ;; esac
        echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
        echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"ok\":true,\"data\":{\"value\":'$value'}}"}]}}'
        read line"#;
    let (code, said, _) = test(&catalogue, &[], &["sh", "-c", script, "server", "{folder}"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("2 as documented, 0 different\n"), "{said}");
}

#[test]
fn a_call_that_no_example_fits_is_told_so() {
    let answers = mocked(
        &here("tests/golden/catalogue"),
        &[
            call("shape_draw", json!({ "kind": "polygon" })),
            call("shape_draw", json!({ "kind": "circle", "fillColor": null, "opacity": 1 })),
            call("record_get", json!({ "key": "c" })),
            call("record_get", json!({ "key": "" })),
            call("record_gets", json!({})),
            json!({ "jsonrpc": "2.0", "method": "tools/list" }),
        ],
    );
    let error = &answers[0]["result"]["structuredContent"]["error"];
    assert_eq!((&answers[0]["result"]["isError"], &error["code"]), (&json!(true), &json!("HANDLER_ERROR")));
    let text = "no example of shape_draw fits these arguments; the catalogue shows \"A circle\". \
                Call with the arguments of one of them, or add an example";
    assert_eq!(error["message"], text);
    assert_eq!(answers[1]["result"]["structuredContent"]["data"]["drawn"], true, "a number may differ");
    assert_eq!(
        answers[2]["result"]["structuredContent"],
        json!({ "key": "a", "size": 1 }),
        "an error needs its own arguments"
    );
    let refused: Value =
        serde_json::from_str(answers[3]["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(refused["error"]["code"], "INVALID_PARAMS", "input is checked as by the real server");
    assert_eq!(answers[4]["error"]["message"], "Unknown tool: record_gets; did you mean record_get?");
    let listed: Vec<&str> = answers[5]["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(listed, ["shape_draw", "shape_scan", "place_fetch", "record_get", "record_fetch"]);
}

#[test]
fn a_broken_catalogue_is_told_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["mock", "."][..], &["test", ".", "--", "true"]] {
        let output = Command::new(COMPILER).args(arguments).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("there is no file `catalogue.yaml`"));
    }
    let output =
        Command::new(COMPILER).args(["mock", "nowhere"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
