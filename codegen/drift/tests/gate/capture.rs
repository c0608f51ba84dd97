//! `mcp-drift snapshot` and `check` on servers over pipes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::play::{CHILD, PLAYER, SCRIPT};

/// A folder, and a server with a script.
struct Bench {
    folder: TempDir,
    script: Value,
}

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "_meta": null, "annotations": null, "inputSchema": {
        "type": "object", "required": ["b", "a"], "properties": {"b": {"type": "string"}, "a": {"type": "integer"}},
    }})
}

impl Bench {
    fn new(script: Value) -> Self {
        Self { folder: TempDir::new().unwrap(), script }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
        command.args(arguments).arg("--").arg(std::env::current_exe().unwrap()).args(["--exact", PLAYER]);
        command.env(SCRIPT, self.script.to_string()).current_dir(self.folder.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn snapshot(&self) -> String {
        let output = self.run(&["snapshot", "-o", "s.json"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        fs::read_to_string(self.path("s.json")).unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn both() -> Value {
    json!({"eras": ["handshake"], "tools": [tool("one", "First."), tool("two", "Second.")], "prompts": [{"name": "p"}],
        "resources": [{"uri": "file:///a", "name": "a"}], "instructions": "Read."})
}

#[test]
fn two_captures_have_the_same_bytes_in_either_era() {
    for (eras, greeting) in [
        (json!(["handshake"]), "initialize"),
        (json!(["stateless"]), "server/discover"),
        (json!(["handshake", "stateless"]), "server/discover"),
    ] {
        let mut bench = Bench::new(both());
        bench.script["eras"] = eras;
        let (first, second) = (bench.snapshot(), bench.snapshot());
        assert_eq!(first, second);
        let file: Value = serde_json::from_str(&first).unwrap();
        assert_eq!(file[greeting]["serverInfo"], json!({"name": "played", "version": "1.0.0"}), "{first}");
        assert_eq!(file["tools"].as_array().unwrap().len(), 2);
        assert_eq!(file["snapshot"].get("varies"), None);
        let checked = bench.run(&["check", "--against", "s.json"]);
        assert_eq!((checked.status.code(), text(&checked.stderr)), (Some(0), String::new()));
        assert!(text(&checked.stdout).contains("Nothing changed for clients."));
    }
}

#[test]
fn members_are_sorted_and_properties_keep_their_order() {
    let file = Bench::new(both()).snapshot();
    let at = |part: &str| file.find(part).unwrap_or_else(|| panic!("{part}: {file}"));
    assert!(at("\"snapshot\": {") < at("\"initialize\": {"), "{file}");
    assert!(
        at("\"description\": \"First.\"") < at("\"inputSchema\": {")
            && at("\"inputSchema\": {") < at("\"name\": \"one\"")
    );
    assert!(at("\"b\": {") < at("\"a\": {") && at("\"properties\": {") < at("\"required\": ["));
    assert!(!file.contains("null") && file.ends_with("}\n"), "{file}");
}

#[test]
fn every_page_of_every_list_is_asked_for() {
    let mut bench = Bench::new(both());
    bench.script["page"] = 1.into();
    bench.script["templates"] =
        json!([{"uriTemplate": "a://{x}", "name": "x"}, {"uriTemplate": "b://{x}", "name": "y"}]);
    let file: Value = serde_json::from_str(&bench.snapshot()).unwrap();
    let count = |list: &str| file[list].as_array().unwrap().len();
    assert_eq!(["tools", "prompts", "resources", "resourceTemplates"].map(count), [2, 1, 1, 2]);
}

#[test]
fn a_list_whose_pages_have_no_end_is_told_as_that() {
    for era in ["handshake", "stateless"] {
        let mut bench = Bench::new(both());
        bench.script["eras"] = json!([era]);
        bench.script["page"] = 1.into();
        bench.script["odd"] = json!(["begins again"]);
        let output = bench.run(&["snapshot"]);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{era}");
        let told = "gives a `nextCursor` a second time with tools/list, so its pages have no end";
        assert!(said.contains(told), "{era}: {said}");
    }
}

#[test]
fn a_server_may_say_more_than_it_is_asked_for() {
    let plain = Bench::new(both()).snapshot();
    for odd in [
        json!(["chatty", "roots", "garbage"]),
        json!(["chatty", "batches"]),
        json!(["ends at server/discover"]),
    ] {
        let mut bench = Bench::new(both());
        bench.script["odd"] = odd.clone();
        assert_eq!(bench.snapshot(), plain, "{odd}");
    }
}

#[test]
fn a_slow_start_does_not_decide_the_era() {
    let mut bench = Bench::new(both());
    bench.script["eras"] = json!(["handshake", "stateless"]);
    bench.script["odd"] = json!(["slow at server/discover"]);
    assert!(bench.snapshot().contains("\"server/discover\": {"));
    bench.script["odd"] = json!(["silent at server/discover"]);
    assert!(bench.snapshot().contains("\"initialize\": {"));
}

#[test]
fn a_failure_is_told_with_what_the_server_wrote_on_stderr() {
    for (odd, arguments, told) in [
        (
            json!(["dies"]),
            &["snapshot"][..],
            "` ended before it answered initialize (exit code 3)\nIts last lines on stderr:",
        ),
        (
            json!(["silent at tools/list"]),
            &["snapshot", "--timeout", "1"],
            "` did not answer tools/list within 1 s; --timeout",
        ),
        (
            json!([]),
            &["snapshot", "--era", "stateless"],
            "` answered server/discover with an error: -32601, Method not found",
        ),
        (json!(["ends at tools/list"]), &["snapshot"], "` ended before it answered tools/list (exit code 1)"),
    ] {
        let mut bench = Bench::new(both());
        bench.script["odd"] = odd.clone();
        let output = bench.run(arguments);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{odd}");
        assert!(said.contains(told) && said.contains("\nplayed: started"), "{odd}: {said}");
        assert_eq!(said.contains("played: no API key"), odd == json!(["dies"]), "{said}");
    }
    let mut missing = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
    let output = missing.args(["snapshot", "--", "no-such-program-here"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("cannot start `no-such-program-here`: "),
        "{}",
        text(&output.stderr)
    );
}

/// Whether a process is there and not only its entry.
fn runs(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

fn is_gone(process: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(5);
    while runs(process) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    !runs(process)
}

fn number_in(file: &Path) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match fs::read_to_string(file) {
            Ok(number) if !number.is_empty() => return number,
            _ if Instant::now() > until => panic!("{} was not written", file.display()),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[test]
fn the_servers_whole_group_ends_with_the_capture() {
    for (odd, code) in [(json!([]), 0), (json!(["stays"]), 0), (json!(["silent at tools/list", "stays"]), 2)]
    {
        let mut bench = Bench::new(both());
        bench.script["odd"] = odd.clone();
        let number = bench.path("child");
        let mut command = bench.command(&["snapshot", "--timeout", "2"]);
        let output = command.env(CHILD, &number).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{odd}: {}", text(&output.stderr));
        let child = number_in(&number);
        assert!(is_gone(&child), "{odd}");
    }
}

#[test]
fn ctrl_c_ends_the_server_and_leaves_no_file() {
    let mut bench = Bench::new(both());
    bench.script["odd"] = json!(["silent at tools/list", "stays"]);
    let number = bench.path("child");
    let mut command = bench.command(&["snapshot", "-o", "s.json"]);
    let running = command.env(CHILD, &number).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let child = number_in(&number);
    assert!(runs(&child));
    let signalled = Command::new("sh").args(["-c", &format!("kill -INT {}", running.id())]).status().unwrap();
    assert!(signalled.success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stderr).as_str()),
        (Some(130), "interrupted; nothing was written\n")
    );
    assert!(is_gone(&child) && !bench.path("s.json").exists());
}

#[test]
fn what_changes_between_starts_is_named_and_left_out() {
    let mut bench = Bench::new(both());
    bench.script["tools"][1]["description"] = "Started as {process}.".into();
    let output = bench.run(&["snapshot", "-o", "s.json"]);
    assert!(
        text(&output.stderr).contains("the snapshot leaves them out:\n  /tools/two/description\n"),
        "{}",
        text(&output.stderr)
    );
    let first = fs::read_to_string(bench.path("s.json")).unwrap();
    assert_eq!(first, bench.snapshot());
    assert!(!first.contains("Started as") && first.contains("\"/tools/two/description\""), "{first}");
    assert_eq!(bench.run(&["check", "--against", "s.json"]).status.code(), Some(0));
    // Another place that changes is compared all the same.
    bench.script["tools"][0]["description"] = "Started as {process}.".into();
    let checked = bench.run(&["check", "--against", "s.json"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stdout).contains("[T5] one"), "{}", text(&checked.stdout));
    assert!(text(&checked.stderr).contains("/tools/one/description"));
}

#[test]
fn a_secret_of_the_caller_is_not_written() {
    let mut bench = Bench::new(both());
    bench.script["tools"][0]["description"] = "With {token}.".into();
    let mut command = bench.command(&["snapshot", "-o", "s.json"]);
    let output = command.env("PLAYED_API_TOKEN", "tok_0123456789abc").output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("the value of the variable PLAYED_API_TOKEN at /tools/0/description"), "{said}");
    assert!(!said.contains("tok_") && !bench.path("s.json").exists());
    // Nor does a report tell it.
    let mut command = bench.command(&["lint"]);
    let output = command.env("PLAYED_API_TOKEN", "tok_0123456789abc").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!text(&output.stdout).contains("tok_") && !text(&output.stderr).contains("tok_"));
}

#[test]
fn a_greeting_that_cannot_be_used_is_no_baseline() {
    for (server, told) in [
        (
            r#"read a; echo '{"jsonrpc":"2.0","id":1,"result":[1]}'; cat >/dev/null"#,
            "answered initialize with something other than an object",
        ),
        // Over several lines, and with half of a pair of UTF-16.
        (
            r#"read a; printf '{\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": {}\n}\n'; cat >/dev/null"#,
            "wrote a message that is not one line of JSON: trailing characters at line 1 column 10: \"jsonrpc\": \"2.0\",",
        ),
        (
            r#"read a; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"instructions":"\ud83d"}}'; cat >/dev/null"#,
            "wrote a message that is not one line of JSON: ",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
        let began = Instant::now();
        let output =
            command.args(["snapshot", "--era", "handshake", "--", "sh", "-c", server]).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(said.contains(told), "{said}");
        assert!(began.elapsed() < Duration::from_secs(20), "it ran into the time-out");
    }
}

#[test]
fn a_break_is_found_and_update_writes_the_new_state() {
    let mut bench = Bench::new(both());
    let none = bench.run(&["check", "--against", "s.json"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("s.json: there is no such file; make it with --update"));
    let made = bench.run(&["check", "--against", "s.json", "--update"]);
    assert_eq!((made.status.code(), text(&made.stdout)), (Some(0), String::new()));
    assert!(
        text(&made.stderr).contains("wrote s.json: played 1.0.0, asked by initialize: 2 tools, 1 prompt")
    );
    bench.script["tools"][0]["inputSchema"]["properties"]["b"]["maxLength"] = 5.into();
    let broken = bench.run(&["check", "--against", "s.json", "--format", "json"]);
    assert_eq!(broken.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&broken.stdout).unwrap();
    assert_eq!(report["blocking"][0]["rule"], "I7");
    let marked = bench.run(&["check", "--against", "s.json", "--format", "github"]);
    assert!(text(&marked.stdout).contains("::error file=s.json,line=1,"), "{}", text(&marked.stdout));
    fs::write(bench.path("mcp-drift.yaml"), "rules: { I7: info, version-not-bumped: info }\n").unwrap();
    assert_eq!(bench.run(&["check", "--against", "s.json"]).status.code(), Some(0));
    fs::rename(bench.path("mcp-drift.yaml"), bench.path("other.yaml")).unwrap();
    let set = ["check", "--against", "s.json", "--config", "other.yaml"];
    assert_eq!(bench.run(&set).status.code(), Some(0));
    assert_eq!(bench.run(&[&set[..], &["--waivers", "other.yaml"]].concat()).status.code(), Some(2));
    let updated = bench.run(&["check", "--against", "s.json", "--update"]);
    assert_eq!(updated.status.code(), Some(0));
    assert!(text(&updated.stdout).contains("BREAK [I7] one"));
    assert_eq!(bench.run(&["check", "--against", "s.json"]).status.code(), Some(0));
}

#[test]
fn an_era_that_is_lost_is_a_break() {
    for (old, new) in [("handshake", "stateless"), ("stateless", "handshake")] {
        let mut bench = Bench::new(both());
        bench.script["eras"] = json!([old]);
        bench.script["instructions"] = Value::Null;
        bench.snapshot();
        bench.script["eras"] = json!([old, new]);
        assert_eq!(bench.run(&["check", "--against", "s.json"]).status.code(), Some(0), "{old}");
        bench.script["eras"] = json!([new]);
        let lost = bench.run(&["check", "--against", "s.json"]);
        assert_eq!(lost.status.code(), Some(1), "{old}");
        assert!(text(&lost.stdout).contains("BREAK [C1]"), "{old}: {}", text(&lost.stdout));
    }
}

#[test]
fn the_guides_commands_work_typed_from_top_to_bottom() {
    let page = fs::read_to_string(super::here().join("../../../../docs/guide/mcp-drift.md")).unwrap();
    let block = page.split_once("```sh\n").unwrap().1.split_once("```\n").unwrap().0;
    let commands: Vec<&str> = block.lines().filter(|line| !line.starts_with("cargo install ")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    let bench = Bench::new(both());
    let bin = bench.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mcp-drift"), bin.join("mcp-drift")).unwrap();
    // The page's server is in JavaScript; here its interpreter is this test.
    let player = std::env::current_exe().unwrap();
    let node =
        format!("#!/bin/sh\n[ \"$1\" = dist/index.js ] && exec '{}' --exact {PLAYER}\n", player.display());
    fs::write(bin.join("node"), node).unwrap();
    fs::set_permissions(bin.join("node"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("set -e\n{}", commands.join("\n"))]).current_dir(bench.folder.path());
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = shell.env("PATH", path).env(SCRIPT, bench.script.to_string()).output().unwrap();
    let told = text(&output.stdout);
    assert!(output.status.success(), "{told}{}", text(&output.stderr));
    for part in [
        "mcp.snapshot.json: played 1.0.0, asked by initialize: 2 tools",
        "Nothing changed for clients.",
        "2 tools: no known host",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
