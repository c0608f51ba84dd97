//! What clients and scripts see: it changes only on purpose. `tests/golden/frozen` has it, and `docs/reference/commands.md` the help
//! texts. `COLIBRI_WRITE_FROZEN=1` writes them anew, and the change shows in the diff.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use colibri_canonical::sha256_hex;
use colibri_test_support::client::Launch;
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_colibri-under-test");

const MODES: [&str; 4] = ["FULL", "READONLY", "TEST", "MINIMAL"];
const POLICIES: [&str; 2] = ["required", "optional"];
/// What a request of the stateless era carries.
const STATELESS: &str = "2026-07-28";

/// The page of help texts, as seen from `tests/golden/frozen`.
const COMMANDS_PAGE: &str = "../../../docs/reference/commands.md";

const COMMANDS_HEAD: &str = "\
<!-- Generated from the help texts of the commands (tests/house/frozen.rs). -->

# Commands

Here you look up what each command does and which options it takes. Exit codes: 0 done or sound, 1 a finding or a failure, 2 a bad command line or bad
input, 3 the content holds, but only by a key or root that you did not give, 130 ended by Ctrl-C. A server also ends with 75 if its start takes too long. `colibri --help` also lists the [settings](configuration.md).
";

fn frozen(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/frozen").join(name)
}

fn assert_frozen(name: &str, found: &str) {
    if std::env::var_os("COLIBRI_WRITE_FROZEN").is_some() {
        std::fs::write(frozen(name), found).unwrap();
    }
    let expected = std::fs::read_to_string(frozen(name)).unwrap();
    let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert!(expected == found, "{name} has changed, first: {differs:?}; COLIBRI_WRITE_FROZEN=1 if it should");
}

/// The bytes of the answer to `tools/list`, without the line around it.
fn tools_list(mode: &str, policy: &str, stateless: bool) -> String {
    let mut first = Launch::new(SERVER).start();
    first.data("task_list", json!({}));
    // READONLY needs a database that is there.
    let launch = Launch::new(SERVER).beside(&first);
    let mut server = launch.env("COLIBRI_MODE", mode).env("COLIBRI_TRAIL_SESSION_POLICY", policy).start();
    let params = match stateless {
        true => json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "frozen", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } }),
        false => json!({}),
    };
    if !stateless {
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "frozen", "version": "1" },
        });
        assert!(server.request("initialize", hello)["result"].is_object());
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }
    let answer = server.request("tools/list", params);
    assert!(answer["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{answer}");
    let result: &Value = &answer["result"];
    result.to_string()
}

#[test]
fn the_tools_of_each_mode_era_and_policy() {
    let mut found = String::new();
    for mode in MODES {
        for policy in POLICIES {
            for stateless in [false, true] {
                let list = tools_list(mode, policy, stateless);
                let era = if stateless { "stateless" } else { "initialize" };
                let (bytes, digest) = (list.len(), sha256_hex(list.as_bytes()));
                found.push_str(&format!("{mode} {policy} {era}: {bytes} bytes, {digest}\n"));
            }
        }
    }
    assert_frozen("tools_list.txt", &found);
}

#[test]
fn the_lock_of_the_catalogue() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/catalogue.lock.json");
    assert_frozen("lock.txt", &format!("{}\n", sha256_hex(&std::fs::read(lock).unwrap())));
}

#[test]
fn the_help_of_every_command() {
    let mut found = COMMANDS_HEAD.to_owned();
    describe(&mut Vec::new(), &mut found);
    assert_frozen(COMMANDS_PAGE, &found);
}

/// Adds the help of a command, and of each that it lists.
fn describe(command: &mut Vec<String>, found: &mut String) {
    let mut run = Command::new(SERVER);
    run.args(&*command).arg("--help").env("NO_COLOR", "1").stdin(Stdio::null());
    let output = run.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let name =
        ["colibri"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    // The settings have a page of their own.
    let text = text.split("\nEnvironment variables:").next().unwrap_or_default().trim_end();
    found.push_str(&format!("\n## {name}\n\n```text\n{text}\n```\n"));
    let listed = text
        .split_once("\nCommands:\n")
        .map_or("", |(_, rest)| rest.split("\n\n").next().unwrap_or_default());
    for line in listed.lines() {
        let Some(next) = line.split_whitespace().next().filter(|next| *next != "help") else { continue };
        command.push(next.to_owned());
        describe(command, found);
        command.pop();
    }
}
