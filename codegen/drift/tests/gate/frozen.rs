//! The fingerprints and the reports of every fixture, as `expected/frozen.txt` has them: a waiver names a fingerprint, and
//! workflows read reports, so neither changes but on purpose.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use colibri_drift::report::{self, Names};
use colibri_drift::{Snapshot, Verdict, from_tools_list, judge};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{accepted, golden, here, names, snapshot};

/// What a comparison says in all of its forms: a line of digests, and a line of each finding's fingerprint.
fn told(title: &str, verdict: &Verdict, out: &mut String) {
    let names = |waivers: Option<&str>| Names {
        old: "before".to_owned(),
        new: "after".to_owned(),
        version: waivers.map(str::to_owned),
        waivers: waivers.map(str::to_owned),
        below_drift: waivers.is_some(),
    };
    let (named, unnamed) = (names(Some("catalogue.yaml")), names(None));
    let reports = [
        report::text(verdict, &named),
        report::text(verdict, &unnamed),
        report::markdown(verdict, &named),
        report::json(verdict, &named),
        report::annotations(verdict, &|_| None),
    ];
    writeln!(out, "== {title}: {}", reports.each_ref().map(|report| digest(report)).join(" ")).unwrap();
    let waived = verdict.waived.iter().map(|(finding, _)| finding);
    for finding in verdict.failures.iter().chain(&verdict.blocking).chain(waived).chain(&verdict.listed) {
        writeln!(out, "{} {} {}", finding.rule, finding.fingerprint(), finding.severity).unwrap();
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The states of `tool/` and of `history/`, each against the first or the one before.
fn states(out: &mut String) {
    for name in names(&here().join("tool")) {
        let folder = here().join("tool").join(&name);
        let old = snapshot(&folder.join("old.json"));
        for file in names(&folder) {
            let Some(case) = file.strip_suffix(".json").filter(|case| *case != "old") else { continue };
            let verdict = judge(&old, &snapshot(&folder.join(&file)), &accepted(&folder, case), true);
            told(&format!("{name} {case}"), &verdict, out);
        }
    }
    for server in super::history::servers() {
        let folder = here().join("history").join(&server);
        for step in super::history::versions(&folder).windows(2) {
            let [old, new] = step else { unreachable!() };
            let state = |version: &str| snapshot(&folder.join(format!("{version}.json")));
            told(&format!("{server} {new}"), &judge(&state(old), &state(new), &[], true), out);
        }
    }
}

/// A server of one tool, with the schema where the rule looks.
fn server(rule: &str, path: &Path) -> Snapshot {
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let tool = match rule.starts_with('i') {
        true => json!({"name": "a", "inputSchema": schema}),
        false => json!({"name": "a", "inputSchema": {}, "outputSchema": schema}),
    };
    from_tools_list(&json!({"tools": [tool]}).to_string()).unwrap()
}

fn schemas(out: &mut String) {
    for rule in names(&here().join("schema")) {
        for case in ["", "near_miss_"] {
            let state = |side: &str| {
                server(&rule, &here().join("schema").join(&rule).join(format!("{case}{side}.json")))
            };
            told(&format!("{case}{rule}"), &judge(&state("old"), &state("new"), &[], true), out);
        }
    }
}

#[test]
fn fingerprints_and_reports_of_all_fixtures_are_as_they_were() {
    let mut out = String::new();
    states(&mut out);
    schemas(&mut out);
    golden(&here().join("expected/frozen.txt"), &out);
}
