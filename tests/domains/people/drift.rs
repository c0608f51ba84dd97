//! What the drift gate says of this catalogue beside the released ones.

use std::{collections::BTreeSet, path::Path};

use colibri_drift::{Finding, Severity, Snapshot, compare, judge, waivers};
use serde_json::{Value, json};

fn text(below: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(below)).unwrap()
}

fn released() -> Snapshot {
    Snapshot::parse(&text("golden/released/catalogue-0.1.0.lock.json")).unwrap()
}

fn present() -> String {
    text("../catalogue/catalogue.lock.json")
}

fn of<'a>(found: &'a [Finding], rule: &'a str) -> impl Iterator<Item = &'a Finding> {
    found.iter().filter(move |finding| finding.rule == rule)
}

#[test]
fn people_73_no_client_of_0_1_0_breaks() {
    let present = Snapshot::parse(&present()).unwrap();
    let verdict = judge(&released(), &present, &[], true);
    let found = [verdict.blocking, verdict.listed].concat();
    let breaks: Vec<&Finding> = found.iter().filter(|finding| finding.severity == Severity::Break).collect();
    assert!(breaks.is_empty(), "{breaks:#?}");
    assert!(verdict.failures.is_empty(), "{:#?}", verdict.failures);
    // A set that a tool is given for the first time breaks no client, and no member of the lock is unknown to the gate.
    let sets = of(&found, "T14").filter(|finding| finding.pointer == "/toolset");
    assert_eq!(sets.map(|finding| 1 + finding.also.len()).sum::<usize>(), 27);
    // The instructions are others, and what modes announce is new.
    assert_eq!(of(&found, "C3").count(), 2);
    for silent in ["T1", "T2", "T4", "U1"] {
        assert_eq!(of(&found, silent).count(), 0, "{silent}: {found:#?}");
    }
}

#[test]
fn people_73_with_the_waivers_0_2_0_passes() {
    let waivers = waivers(&text("golden/released/waivers-0.2.0.yaml")).unwrap();
    let verdict = judge(&released(), &Snapshot::parse(&present()).unwrap(), &waivers, true);
    assert!(verdict.passes(), "{:#?} {:#?}", verdict.blocking, verdict.failures);
    assert_eq!(verdict.waived.len(), waivers.len());
    let waived: Vec<Finding> = verdict.waived.into_iter().map(|(finding, _)| finding).collect();
    let rules: BTreeSet<&str> = waived.iter().chain(&verdict.listed).map(|finding| finding.rule).collect();
    let expected =
        ["C3", "E1", "E4", "E5", "E6", "I17", "I2", "I3", "O17", "O3", "O4", "O6", "T14", "T3", "T5"];
    assert_eq!(rules, expected.into());
    let new: Vec<_> = of(&verdict.listed, "T3").filter_map(|finding| finding.tool.as_deref()).collect();
    assert_eq!(new, ["task_history", "task_claim", "task_release", "audit_session_list"]);
}

#[test]
fn people_73_a_changed_toolset_or_instruction_is_found() {
    let (old, mut new) = (present(), serde_json::from_str::<Value>(&present()).unwrap());
    new["tools"][0]["toolset"] = json!("router");
    new["toolsets"][0]["instructions"] = json!("Do as you like.");
    new["announcements"][0]["instructions"] = json!("Do as you like.");
    let found = compare(&Snapshot::parse(&old).unwrap(), &Snapshot::parse(&new.to_string()).unwrap());
    let told: Vec<_> =
        found.iter().map(|finding| (finding.rule, finding.severity, finding.security)).collect();
    assert_eq!(
        told,
        [("T14", Severity::Break, false), ("C3", Severity::Ack, true), ("C3", Severity::Ack, true)]
    );
}
