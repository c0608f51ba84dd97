//! The recorded versions of public servers: each step means to a pin what it means to the drift gate.

use std::fs;
use std::path::{Path, PathBuf};

use colibri::wrap::findings::Comparison;
use colibri::wrap::pin::{Pin, SeenList};
use colibri_drift::{Finding, Snapshot, compare};
use serde_json::Value;

use super::list;

/// What a pin leaves out: the order of tools and properties, and what a list does not hold of a server.
const NOT_PINNED: [&str; 5] = ["T4", "C1", "C2", "C4", "C11"];

/// The folder with a folder for each server.
pub(crate) fn history() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/drift/tests/gate/history")
}

/// The recorded versions of a server in the order in which they were published.
pub(crate) fn versions(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    let parts = |path: &PathBuf| -> Vec<u32> {
        path.file_stem().unwrap().to_str().unwrap().split('.').map(|part| part.parse().unwrap()).collect()
    };
    files.sort_by_key(parts);
    files
}

/// A recorded version as `wrap` sees it: the tools of all pages, and the instructions.
fn seen(recorded: &Value) -> SeenList {
    let greeting = &recorded["initialize"];
    let greeting = greeting.get("result").unwrap_or(greeting);
    let instructions = greeting["instructions"].as_str().map(str::to_owned);
    SeenList { list: list(recorded["tools"].as_array().unwrap()), instructions }
}

/// What of findings is compared, in one order.
fn told(findings: Vec<Finding>) -> Vec<String> {
    let told = findings.into_iter().filter(|finding| !NOT_PINNED.contains(&finding.rule)).map(|finding| {
        format!(
            "{} {} {:?} {} {}",
            finding.severity, finding.rule, finding.tool, finding.pointer, finding.message
        )
    });
    let mut told: Vec<String> = told.collect();
    told.sort();
    told
}

#[test]
fn wrap_47_each_step_of_twelve_servers_gives_the_findings_that_the_gate_gives() {
    let mut servers = 0;
    let mut findings = 0;
    for entry in fs::read_dir(history()).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        servers += 1;
        for step in versions(&folder).windows(2) {
            let texts = [&step[0], &step[1]].map(|path| fs::read_to_string(path).unwrap());
            let [old, new] = texts.each_ref().map(|text| Snapshot::parse(text).unwrap());
            let [before, after] = texts.each_ref().map(|text| seen(&serde_json::from_str(text).unwrap()));
            let mut pin = Pin::default();
            pin.lay(&before, "2026-01-01T00:00:00.000Z");
            // A list without instructions does not differ from a pin; the gate tells that they are gone.
            let ended = before.instructions.is_some() && after.instructions.is_none();
            let expected = told(
                compare(&old, &new).into_iter().filter(|found| !(ended && found.rule == "C3")).collect(),
            );
            findings += expected.len();
            let difference = pin.difference(&after);
            let meaning = Comparison::new("x".parse().unwrap(), Some(pin), after).meaning();
            assert_eq!(told(meaning.findings), expected, "{}", step[1].display());
            assert!(
                !difference.is_none() || expected.iter().all(|line| line.contains(" T1 ")),
                "{}",
                step[1].display()
            );
        }
    }
    assert_eq!(servers, 12);
    assert!(findings > 100, "{findings}");
}
