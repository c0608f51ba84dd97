//! Patterns: what lint takes, a server matches in linear time, and the generated types match the same.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use colibri_codegen::catalogue::Catalogue;
use colibri_codegen::lint;
use colibri_pattern::Regex;
use serde_json::{Value, json};

/// How late a `ping` may be that was sent right behind the attack.
const PING: Duration = Duration::from_millis(50);

/// A catalogue of one tool whose properties `p0`, `p1` and so on have these patterns.
fn catalogue(patterns: &[String]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let head = include_str!("../../examples/counter/catalogue/catalogue.yaml");
    let head =
        head.replace("[counter]", "[texts]").replace("tools_list_bytes: 20000", "tools_list_bytes: 1000000");
    let properties: serde_json::Map<String, Value> = patterns
        .iter()
        .enumerate()
        .map(|(index, pattern)| (format!("p{index}"), json!({"type": "string", "pattern": pattern})))
        .collect();
    let tools = json!({"domain": "texts", "title": "Texts", "description": "Texts.", "tools": [{
        "name": "match", "title": "Match", "description": "Matches.", "pattern": "C", "envelope": "none", "runs": "free",
        "input": {"type": "object", "properties": properties}, "errors": [], "since": "0.1.0",
        "stability": "stable",
    }]});
    fs::create_dir(path.join("tools")).unwrap();
    fs::write(path.join("catalogue.yaml"), head).unwrap();
    // YAML readers disagree on which characters end a line.
    let mut text = serde_json::to_string_pretty(&tools).unwrap();
    for ending in ['\u{85}', '\u{2028}', '\u{2029}'] {
        text = text.replace(ending, &format!("\\u{:04x}", u32::from(ending)));
    }
    fs::write(path.join("tools/texts.yaml"), text).unwrap();
    folder
}

/// The properties that lint refuses the pattern of.
fn refused(folder: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(folder.join("tools/texts.yaml")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let findings = lint::check(&Catalogue::load(folder).unwrap());
    findings
        .iter()
        .map(|finding| {
            assert_eq!(finding.rule, "patterns", "{finding:?}");
            let mut before = lines[..finding.at.line].iter().rev().map(|line| line.trim());
            let property = before.find(|line| line.starts_with("\"p") && line.ends_with("\": {")).unwrap();
            property.trim_matches(['"', ':', ' ', '{']).to_owned()
        })
        .collect()
}

#[test]
fn lint_takes_exactly_the_patterns_that_a_server_matches() {
    let files = [
        include_str!("../../pattern/tests/public/check-jsonschema.json"),
        include_str!("../../pattern/tests/public/cfn-lint.json"),
    ];
    let patterns: Vec<String> =
        files.iter().flat_map(|file| serde_json::from_str::<Vec<String>>(file).unwrap()).collect();
    assert_eq!(patterns.len(), 2_000);
    for some in patterns.chunks(100) {
        let refused = refused(catalogue(some).path());
        for (index, pattern) in some.iter().enumerate() {
            assert_eq!(refused.contains(&format!("p{index}")), Regex::new(pattern).is_err(), "{pattern}");
        }
    }
}

#[test]
fn a_server_answers_ping_while_patterns_are_attacked() {
    let attacks = [
        ("^(a+)+$", "a".repeat(30) + "!"),
        ("(x+x+)+y", "x".repeat(40)),
        ("^(a|aa)+$", "a".repeat(60) + "!"),
        ("^(\\w+\\s?)*$", "a a".repeat(20) + "!"),
        ("^([a-zA-Z]+)*$", "aB".repeat(100_000) + "1"),
        (".*.*=.*", "x".repeat(300_000)),
        ("^(.*a){12}$", "a".repeat(100_000) + "!"),
        ("a[ab]{2000}c", "abbabaa".repeat(40_000)),
    ];
    let patterns: Vec<String> = attacks.iter().map(|(pattern, _)| (*pattern).to_owned()).collect();
    let folder = catalogue(&patterns);
    assert_eq!(refused(folder.path()), BTreeSet::new());
    let mut process = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"))
        .arg("mock")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut send = |id: usize, method: &str, params: Value| {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
    };
    let mut answer = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    send(0, "ping", json!({}));
    answer();
    for (index, (pattern, text)) in attacks.iter().enumerate() {
        // The best of three, since a busy machine may let anything wait.
        let ping = (0..3).map(|_| {
            send(1, "tools/call", json!({"name": "match", "arguments": {format!("p{index}"): text}}));
            let began = Instant::now();
            send(2, "ping", json!({}));
            let answers = [answer(), answer()];
            let call = answers.iter().find(|answer| answer["id"] == 1).unwrap();
            let shown = call["result"]["content"][0]["text"].as_str().unwrap();
            assert!(shown.contains("INVALID_PARAMS"), "{pattern}: {shown}");
            began.elapsed()
        });
        let ping = ping.min().unwrap();
        assert!(ping < PING, "{pattern}: {ping:?}");
    }
    drop(input);
    assert!(process.wait().unwrap().success());
}
