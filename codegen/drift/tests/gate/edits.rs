//! Edits by hand of one list of tools: those that break a client, those that break none, and others. `edits/findings.txt` has what the gate
//! says of each.

use std::fmt::Write;
use std::fs;

use colibri_drift::{Severity, Snapshot, judge};
use serde_json::Value;

use super::{golden, here};

#[test]
fn every_break_by_hand_is_found_and_at_most_one_harmless_edit_blocks() {
    let folder = here().join("edits");
    let base = fs::read_to_string(folder.join("base.json")).unwrap();
    let edits = fs::read_to_string(folder.join("edits.jsonl")).unwrap();
    let (mut text, mut breaks, mut missed) = (String::new(), 0, Vec::new());
    let (mut harmless, mut blocked) = (0, Vec::new());
    for line in edits.lines() {
        let edit: Value = serde_json::from_str(line).unwrap();
        let (name, kind) = (edit["name"].as_str().unwrap(), edit["kind"].as_str().unwrap());
        let old = edit.get("old").map_or_else(|| base.clone(), Value::to_string);
        let state = |text: &str| Snapshot::parse(text).unwrap();
        let verdict = judge(&state(&old), &state(&edit["new"].to_string()), &[], true);
        writeln!(text, "== {name} ({kind})").unwrap();
        for finding in verdict.blocking.iter().chain(&verdict.listed) {
            let security = if finding.security { " S" } else { "" };
            writeln!(text, "{}{security} {} {}", finding.severity, finding.rule, finding.pointer).unwrap();
        }
        let is_break = verdict.blocking.iter().any(|finding| finding.severity == Severity::Break);
        match kind {
            "break" => {
                breaks += 1;
                missed.extend((!is_break).then(|| name.to_owned()));
            }
            "harmless" => {
                harmless += 1;
                blocked.extend((!verdict.passes()).then(|| name.to_owned()));
            }
            _ => {}
        }
    }
    golden(&folder.join("findings.txt"), &text);
    assert_eq!((breaks, harmless), (21, 23));
    assert_eq!(missed, [""; 0]);
    // Nothing says which client reads `_meta`.
    assert_eq!(blocked, ["_meta ui"]);
}
