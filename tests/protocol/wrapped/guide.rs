//! The blocks of the guide put `colibri wrap` in front of the same server, and their options are taken.

use serde_json::{Value, json};

use super::place::Place;
use super::{COLIBRI, Era, ODD, Setup};
use colibri_test_support::client::Launch;

const GUIDE: &str = include_str!("../../../docs/guide/wrapping.md");

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    GUIDE.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// The command and arguments of the only server in a host's JSON.
fn server(block: &str) -> Vec<String> {
    let host: Value = serde_json::from_str(block).unwrap();
    let servers = host.as_object().unwrap().values().next().unwrap();
    let server = servers.as_object().unwrap().values().next().unwrap();
    let words = [server["command"].clone()].into_iter().chain(server["args"].as_array().unwrap().clone());
    words.map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// The same of Codex's TOML.
fn of_toml(block: &str) -> Vec<String> {
    let value = |key: &str| block.lines().find_map(|line| line.strip_prefix(&format!("{key} = "))).unwrap();
    let command: String = serde_json::from_str(value("command")).unwrap();
    let arguments: Vec<String> = serde_json::from_str(value("args")).unwrap();
    [command].into_iter().chain(arguments).collect()
}

/// What stands behind the name in each command line of Claude Code.
fn of_shell(block: &str) -> Vec<Vec<String>> {
    let text = block.replace("\\\n", "");
    let words = |line: &str| line.split_once(" -- ").unwrap().1.split(' ').map(str::to_owned).collect();
    text.lines().map(words).collect()
}

/// Starts `wrap` with the options of a block in front of a server of the test's.
fn starts(words: &[String]) {
    let options = words.iter().skip(1).take_while(|word| *word != "--");
    let launch = options.fold(Launch::new(COLIBRI), |launch, option| launch.arg(option));
    let mut server = launch.arg("--").arg(ODD).start();
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo", "arguments": {} } }));
    // A client that may not be spoken for yet waits with --pin refuse.
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let answer = server.receive();
    assert!(answer["result"]["content"].is_array(), "{answer}");
    server.close_stdin();
    assert_eq!(server.wait().code(), 0);
}

#[test]
fn wrap_59_the_blocks_of_the_guide_put_wrap_in_front_of_the_same_server() {
    let json = blocks("json").into_iter().map(server);
    let toml = blocks("toml").into_iter().map(of_toml);
    let shell =
        blocks("sh").into_iter().filter(|block| block.starts_with("claude mcp add")).flat_map(of_shell);
    let found: Vec<Vec<String>> = json.chain(toml).chain(shell).collect();
    assert_eq!(found.len(), 6);
    for pair in found.chunks(2) {
        let [before, after] = pair else { panic!("a block without its pair") };
        assert_eq!(after[..2], ["/path/to/colibri", "wrap"], "{after:?}");
        let command = after.iter().position(|word| word == "--").unwrap() + 1;
        assert_eq!(after[command..], before[..]);
        starts(after);
    }
}

#[test]
fn wrap_59_the_name_comes_before_the_options_of_claude_code() {
    let commands = blocks("sh").into_iter().filter(|block| block.starts_with("claude mcp add"));
    let lines: Vec<&str> = commands.flat_map(str::lines).filter(|line| line.starts_with("claude")).collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        // Its --env takes all words up to the next option, so the name would be one of them.
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[..4], ["claude", "mcp", "add", "github"], "{line}");
    }
}

#[test]
fn wrap_59_the_runs_calls_are_those_of_the_session_that_the_environment_names() {
    let mut wrap = Setup::new(Era::Handshake).env("COLIBRI_WRAP_SESSION", "session-of-work").start();
    wrap.echo(json!(1));
    let session: String =
        wrap.server.sql().query_row("SELECT session_id FROM wrap_runs", [], |row| row.get(0)).unwrap();
    assert_eq!(session, "session-of-work");
}

#[test]
fn wrap_59_the_timeline_finds_a_wrapped_call_by_its_caller() {
    let place = Place::new();
    place.lists(&[]);
    let mut wrap = place.start(Setup::new(Era::Handshake).env("COLIBRI_ACTOR", "alice"));
    wrap.echo(json!(1));
    assert_eq!(wrap.end().code(), 0);
    for (who, calls) in [("alice", 1), ("odd", 1), ("bob", 0)] {
        let shown = place.run(&["timeline", "--since", "2026-01-01", "--who", who, "--json"]).ends(0).json();
        let called = shown["events"].as_array().unwrap().iter().filter(|event| event["tool"] == "odd/echo");
        assert_eq!(called.count(), calls, "{who}: {shown}");
    }
}
