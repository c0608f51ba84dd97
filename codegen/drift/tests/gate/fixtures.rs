//! Each folder of `tool/` is a fixture of the rule it is named after: `old.json` with one or more
//! `new*.json`, which fire it, and `near*.json`, which do not. What is found stands in `expected.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use colibri_drift::{Direction, Finding, RULES, compare, judge};

use super::{accepted, golden, here, names, snapshot};

/// What one comparison finds. Version and waivers are judged where the fixture is about them.
fn found(folder: &Path, rule: &str, case: &str) -> Vec<Finding> {
    let (old, new) = (snapshot(&folder.join("old.json")), snapshot(&folder.join(format!("{case}.json"))));
    let verdict = judge(&old, &new, &accepted(folder, case), true);
    let judged = verdict.failures.into_iter().filter(|finding| finding.rule == rule);
    let waived = verdict.waived.into_iter().map(|(finding, _)| finding);
    judged.chain(verdict.blocking).chain(waived).chain(verdict.listed).collect()
}

fn told(finding: &Finding) -> String {
    let security = if finding.security { " S" } else { "" };
    let tools: Vec<&str> = finding.tool.iter().chain(&finding.also).map(String::as_str).collect();
    let tool = if tools.is_empty() { "-".to_owned() } else { tools.join(",") };
    let mut text = format!(
        "{}{security} {} {tool} {} {}\n  {}\n",
        finding.severity,
        finding.rule,
        finding.pointer,
        finding.fingerprint(),
        finding.message
    );
    if let Some(witness) = &finding.witness {
        writeln!(text, "  witness: {witness}").unwrap();
    }
    text
}

#[test]
fn every_fixture_fires_its_rule_and_its_near_misses_do_not() {
    for name in names(&here().join("tool")) {
        let folder = here().join("tool").join(&name);
        let rule = name.split('-').next().unwrap();
        let mut text = String::new();
        for file in names(&folder) {
            let Some(case) = file.strip_suffix(".json").filter(|case| *case != "old") else { continue };
            let findings = found(&folder, rule, case);
            writeln!(text, "== {case}").unwrap();
            text.extend(findings.iter().map(told));
            let fires = findings.iter().any(|finding| finding.rule == rule);
            assert_eq!(fires, case.starts_with("new"), "{name}, {case}: {findings:#?}");
            assert!(fires || case.starts_with("near"), "{name}, {case}: neither new nor near");
        }
        golden(&folder.join("expected.txt"), &text);
    }
}

#[test]
fn every_rule_has_a_fixture_that_fires_it_and_a_near_miss() {
    let mut cases: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in names(&here().join("tool")) {
        let seen = cases.entry(name.split('-').next().unwrap().to_owned()).or_default();
        for file in names(&here().join("tool").join(&name)) {
            seen.extend(["new", "near"].into_iter().filter(|kind| file.starts_with(kind)));
        }
    }
    let lacking: Vec<&str> = RULES
        .iter()
        .filter(|rule| !is_of_schemas(rule.id))
        .filter(|rule| cases.get(rule.id).is_none_or(|seen| seen.len() < 2))
        .map(|rule| rule.id)
        .collect();
    assert_eq!(lacking, [""; 0]);
}

/// The rules that the comparison of schemas asks; `schemas.rs` has their fixtures.
pub fn is_of_schemas(id: &str) -> bool {
    id.strip_prefix('I').is_some_and(|number| number != "16")
        || id.strip_prefix('O').is_some_and(|number| number.len() == 1)
}

#[test]
fn rules_are_told_apart_and_say_why() {
    let ids: BTreeSet<&str> = RULES.iter().flat_map(|rule| [rule.id, rule.name]).collect();
    assert_eq!(ids.len(), 2 * RULES.len());
    for rule in RULES {
        let words = rule.name.split('-').collect::<Vec<_>>();
        let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!((2..=5).contains(&words.len()) && words.iter().all(is_word), "{}", rule.name);
        assert!(!rule.title.is_empty() && !rule.asks.is_empty());
        assert!(!rule.why.is_empty() && !rule.why.ends_with('.'), "{}", rule.id);
        let direction = match rule.id.as_bytes()[0] {
            b'T' | b'H' => Direction::Tool,
            b'I' => Direction::Input,
            b'O' => Direction::Output,
            b'E' => Direction::Error,
            _ => Direction::Catalogue,
        };
        assert_eq!(rule.direction, direction, "{}", rule.id);
    }
}

#[test]
fn a_state_does_not_differ_from_itself() {
    for name in names(&here().join("tool")) {
        let folder = here().join("tool").join(&name);
        for file in names(&folder).into_iter().filter(|file| file.ends_with(".json")) {
            let state = snapshot(&folder.join(file));
            assert_eq!(compare(&state, &state), [], "{name}");
        }
    }
}

#[test]
fn a_waiver_accepts_the_same_change_of_all_tools_or_of_one() {
    let folder = here().join("tool/I6-grouped");
    let state = |case: &str| snapshot(&folder.join(format!("{case}.json")));
    let judged = |case: &str| judge(&state("old"), &state(case), &accepted(&folder, case), true);
    let all = judged("new-waived");
    assert_eq!((all.blocking.len(), all.waived.len()), (0, 1));
    assert_eq!(all.waived[0].0.also, ["search_pulls", "search_code"]);
    let one = judged("new-waived-in-one");
    let left: Vec<_> = one.blocking.iter().filter_map(|finding| finding.tool.as_deref()).collect();
    assert_eq!((left, one.waived.len()), (vec!["search_issues", "search_code"], 1));
    assert!(one.blocking.iter().all(|finding| finding.also.is_empty()) && one.failures.is_empty());
}
