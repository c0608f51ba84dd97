//! The examples of the catalogue, run against the server; and what no example can show: paths that must not lead out of the root.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use colibri_codegen::catalogue::Catalogue;
use colibri_codegen::examples::Kit;
use serde_json::{Value, json};

fn catalogue() -> Catalogue {
    Catalogue::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("catalogue")).unwrap()
}

#[test]
fn every_example_of_the_file_server_is_true() {
    let catalogue = catalogue();
    assert!(catalogue.tools().count() >= 10);
    Kit::new([env!("CARGO_BIN_EXE_files"), "{folder}"])
        .check(&catalogue)
        .unwrap_or_else(|how| panic!("{how}"));
}

/// A server over pipes.
struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(root: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_files"))
            .arg(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, input, output: BufReader::new(output) }
    }

    /// The payload, or what is under `error`.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        writeln!(self.input, "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let result = &answer["result"];
        if result["isError"] != true {
            return Ok(result["structuredContent"].clone());
        }
        assert!(result.get("structuredContent").is_none(), "{answer}");
        let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        Err(said["error"].clone())
    }

    fn code(&mut self, tool: &str, arguments: Value) -> String {
        let error = self.call(tool, arguments.clone()).expect_err(&format!("{tool} {arguments} is refused"));
        error["code"].as_str().unwrap().to_owned()
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.process.wait().unwrap().success());
    }
}

#[test]
fn no_path_leads_out_of_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    std::fs::create_dir_all(root.join("inner")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(&outside, root.join("link")).unwrap();
    symlink(outside.join("secret.txt"), root.join("secret.txt")).unwrap();
    symlink(outside.join("new.txt"), root.join("dangling.txt")).unwrap();
    symlink("../inner", root.join("inner/loop")).unwrap();
    let mut server = Server::start(&root);
    let absolute = outside.join("secret.txt");
    let bad = [
        "..",
        "../outside/secret.txt",
        "inner/../../outside/secret.txt",
        absolute.to_str().unwrap(),
        "link/secret.txt",
        "secret.txt",
        "dangling.txt",
        "inner/loop/x",
        "inner//x",
        "./inner",
        "inner/",
        "inner/.",
        ".trash/x",
        "a\u{0}b",
    ];
    for path in bad {
        for tool in ["file_read", "file_stat", "file_trash"] {
            assert_eq!(server.code(tool, json!({ "path": path })), "BAD_PATH", "{tool} {path}");
        }
        assert_eq!(server.code("file_list", json!({ "path": path })), "BAD_PATH", "{path}");
        assert_eq!(
            server.code("file_search", json!({ "path": path, "text": "secret" })),
            "BAD_PATH",
            "{path}"
        );
        for replace in [false, true] {
            let arguments = json!({ "path": path, "text": "x", "replace": replace });
            assert_eq!(server.code("file_write", arguments), "BAD_PATH", "{path}");
        }
        assert_eq!(server.code("file_append", json!({ "path": path, "text": "x" })), "BAD_PATH", "{path}");
        if path != "secret.txt" && path != "dangling.txt" {
            assert_eq!(server.code("folder_create", json!({ "path": path })), "BAD_PATH", "{path}");
        }
        server.call("file_write", json!({ "path": "own.txt", "text": "own", "replace": true })).unwrap();
        for tool in ["file_move", "file_copy"] {
            assert_eq!(
                server.code(tool, json!({ "path": path, "to": "y.txt" })),
                "BAD_PATH",
                "{tool} {path}"
            );
            assert_eq!(
                server.code(tool, json!({ "path": "own.txt", "to": path })),
                "BAD_PATH",
                "{tool} to {path}"
            );
        }
    }
    let found = server.call("file_search", json!({ "text": "secret" })).unwrap();
    assert_eq!(found["lines"], json!([]), "a search follows no link");
    let listed = server.call("file_list", json!({})).unwrap();
    let kinds: Vec<&Value> =
        listed["entries"].as_array().unwrap().iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["other", "folder", "other", "file", "other"], "{listed}");
    server.end();
    assert_eq!(std::fs::read_to_string(outside.join("secret.txt")).unwrap(), "secret");
    assert!(!outside.join("new.txt").exists());
}

#[test]
fn nothing_is_replaced_or_lost_by_accident() {
    let root = tempfile::tempdir().unwrap();
    let mut server = Server::start(root.path());
    for (path, text) in [("a.txt", "one"), ("b.txt", "two")] {
        server.call("file_write", json!({ "path": path, "text": text })).unwrap();
    }
    for tool in ["file_move", "file_copy"] {
        let error = server.call(tool, json!({ "path": "a.txt", "to": "b.txt" })).unwrap_err();
        assert_eq!(error["code"], "ALREADY_THERE", "{tool}");
        assert_eq!(error["next"][0], json!({ "tool": "file_trash", "arguments": { "path": "b.txt" } }));
    }
    assert_eq!(server.call("file_read", json!({ "path": "b.txt" })).unwrap()["text"], "two");
    for number in 1..=2 {
        let trashed = server.call("file_trash", json!({ "path": "b.txt" })).unwrap();
        assert_eq!(trashed["trashed_as"], format!(".trash/{number}-b.txt"));
        server.call("file_write", json!({ "path": "b.txt", "text": "again" })).unwrap();
    }
    assert_eq!(std::fs::read_to_string(root.path().join(".trash/1-b.txt")).unwrap(), "two");
    // A folder cannot go into itself, and the file system says so.
    server.call("folder_create", json!({ "path": "notes" })).unwrap();
    assert_eq!(server.code("file_move", json!({ "path": "notes", "to": "notes/inner" })), "HANDLER_ERROR");
    assert_eq!(server.code("file_read", json!({ "path": "notes" })), "NOT_A_FILE");
    assert_eq!(server.code("file_list", json!({ "path": "a.txt" })), "NOT_A_FOLDER");
    assert_eq!(server.code("file_list", json!({ "path": "a.txt/deeper" })), "NOT_A_FOLDER");
    std::fs::write(root.path().join("bytes.bin"), [0xff, 0xfe]).unwrap();
    std::fs::write(root.path().join("large.txt"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
    assert_eq!(server.code("file_read", json!({ "path": "bytes.bin" })), "NOT_TEXT");
    assert_eq!(server.code("file_read", json!({ "path": "large.txt" })), "TOO_LARGE");
    let said = server.call("file_read", json!({ "path": 7 })).unwrap_err();
    assert_eq!((&said["code"], said["issues"].as_array().unwrap().len()), (&json!("INVALID_PARAMS"), 1));
    let deep = server.call("file_read", json!({ "path": "notes/x/y.txt" })).unwrap_err();
    assert_eq!((&deep["code"], &deep["folder"]), (&json!("NOT_FOUND"), &json!("notes")));
    server.end();
}

#[test]
fn a_folder_that_cannot_be_served_is_named() {
    let said = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_files")).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = said(&["/nowhere/at/all"]);
    assert!(code == Some(1) && text.contains("/nowhere/at/all"), "{text}");
    let (code, text) = said(&[]);
    assert!(code == Some(1) && text.contains("files FOLDER"), "{text}");
}
