//! The page of the rules, `docs/reference/drift-rules.md`: each with its name as anchor, and with what its fixture shows.

use std::path::{Path, PathBuf};
use std::process::Command;

use colibri_drift::command::rules;
use colibri_drift::config::profiles::{Profile, ROWS};
use colibri_drift::schema::Direction;
use colibri_drift::{RULES, Rule, compare, compare_schemas, judge};
use serde_json::Value;

use super::fixtures::is_of_schemas;
use super::{accepted, golden, here, names, snapshot};

/// What tells a reader of the page's source where it comes from.
const HEAD: &str = "<!-- Generated from the tables that `mcp-drift rules --format markdown` prints and the fixtures of the rules; do not edit. -->\n";

/// The most lines of a difference.
const MAX_LINES: usize = 12;

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A line of a difference, cut when it is long.
fn line(mark: char, value: &Value) -> String {
    const MOST: usize = 96;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{mark} {}…\n", &text[..end]),
        None => format!("{mark} {text}\n"),
    }
}

/// A place with its old and its new value.
fn shown(pointer: &str, old: Option<&Value>, new: Option<&Value>) -> String {
    let old = old.map(|value| line('-', value)).unwrap_or_default();
    let new = new.map(|value| line('+', value)).unwrap_or_default();
    format!("  {pointer}\n{old}{new}")
}

fn are_named(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| item["name"].is_string())
}

/// What differs between two values, each place with its old and its new value.
fn differences(old: &Value, new: &Value, pointer: &str, out: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            for name in names {
                let at = format!("{pointer}/{name}");
                match (one.get(name), other.get(name)) {
                    (Some(old), Some(new)) => differences(old, new, &at, out),
                    (old, new) => out.push(shown(&at, old, new)),
                }
            }
            if one.keys().ne(other.keys())
                && one.len() == other.len()
                && one.keys().all(|name| other.contains_key(name))
            {
                let order = |members: &serde_json::Map<String, Value>| {
                    Value::from(members.keys().cloned().collect::<Vec<_>>())
                };
                out.push(shown(pointer, Some(&order(one)), Some(&order(other))));
            }
        }
        (Value::Array(one), Value::Array(other)) if are_named(one) && are_named(other) => {
            let of =
                |list: &'_ [Value], name: &Value| list.iter().find(|item| item["name"] == *name).cloned();
            for item in one.iter().chain(other.iter().filter(|item| of(one, &item["name"]).is_none())) {
                let (name, new) = (&item["name"], of(other, &item["name"]));
                let at = format!("{pointer}/{}", name.as_str().unwrap());
                match (of(one, name), new) {
                    (Some(old), Some(new)) => differences(&old, &new, &at, out),
                    (old, new) => out.push(shown(&at, old.as_ref(), new.as_ref())),
                }
            }
            let order = |list: &[Value]| {
                Value::from(list.iter().map(|item| item["name"].clone()).collect::<Vec<_>>())
            };
            if one.len() == other.len() && out.is_empty() && order(one) != order(other) {
                out.push(shown(pointer, Some(&order(one)), Some(&order(other))));
            }
        }
        (old, new) if old != new => out.push(shown(pointer, Some(old), Some(new))),
        _ => {}
    }
}

/// The fixture of a rule: the old state, the new one, and what the gate says of the step.
fn fixture(rule: &Rule) -> (PathBuf, PathBuf, Vec<String>) {
    if is_of_schemas(rule.id) {
        let folder = here().join("schema").join(rule.id.to_lowercase());
        let (old, new) = (folder.join("old.json"), folder.join("new.json"));
        let direction = if rule.id.starts_with('I') { Direction::Input } else { Direction::Output };
        let changes = compare_schemas(&read(&old), &read(&new), direction);
        let own = changes.into_iter().filter(|change| change.rule == rule.id);
        let told = own.map(|change| format!("{} {}: {}", change.severity, change.pointer, change.message));
        return (old, new, told.collect());
    }
    let folders = names(&here().join("tool"));
    let of_rule = |name: &&String| name.split('-').next() == Some(rule.id);
    let folder = folders.iter().find(of_rule).unwrap_or_else(|| panic!("{} has no fixture", rule.id));
    let folder = here().join("tool").join(folder);
    let files = names(&folder);
    let mut states = files.iter().filter(|file| file.starts_with("new") && file.ends_with(".json"));
    let new = files.iter().find(|file| *file == "new.json").or_else(|| states.next());
    let new = new.unwrap_or_else(|| panic!("no new state in {}", folder.display()));
    let case = new.strip_suffix(".json").unwrap();
    let (old, new) = (folder.join("old.json"), folder.join(new));
    let (before, after) = (snapshot(&old), snapshot(&new));
    let failures = judge(&before, &after, &accepted(&folder, case), true).failures;
    let own = compare(&before, &after).into_iter().chain(failures).filter(|finding| finding.rule == rule.id);
    let told = own.map(|finding| {
        let place = [finding.tool.as_deref().unwrap_or_default(), &finding.pointer].join(" ");
        format!("{} {}: {}", finding.severity, place.trim(), finding.message)
    });
    (old, new, told.collect())
}

/// What the fixture of a rule shows, as Markdown.
fn example(rule: &Rule) -> String {
    let (old, new, told) = fixture(rule);
    let mut parts = Vec::new();
    differences(&read(&old), &read(&new), "", &mut parts);
    let mut block = String::new();
    for part in &parts {
        if block.lines().count() + part.lines().count() > MAX_LINES && !block.is_empty() {
            block.push_str("  …\n");
            break;
        }
        block.push_str(part);
    }
    if block.is_empty() {
        block.push_str("  (the same)\n");
    }
    let told = told.first().map_or("no finding", String::as_str);
    let told: String = told.chars().take(200).collect();
    format!("```diff\n{block}```\n\n```text\n{}\n```\n", told.replace('\n', " "))
}

fn page() -> String {
    format!("{HEAD}{}", rules::page(Some(&example)))
}

fn printed(form: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
    let output = command.args(["rules", "--format", form]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn reference_page_is_made_of_the_rules() {
    golden(&here().join("../../../../docs/reference/drift-rules.md"), &page());
}

#[test]
fn the_command_prints_the_page_without_examples_and_the_rules_in_other_forms() {
    let markdown = printed("markdown");
    let lines: Vec<&str> = markdown.lines().collect();
    // The page has all of it, in that order.
    let mut rest = lines.iter().filter(|line| !line.is_empty()).peekable();
    for line in page().lines() {
        rest.next_if(|next| **next == line);
    }
    assert_eq!(rest.next(), None);
    assert!(!markdown.contains("```"));
    let tables: Value = serde_json::from_str(&printed("json")).unwrap();
    for (rule, listed) in RULES.iter().zip(tables["rules"].as_array().unwrap()) {
        assert_eq!((&listed["id"], &listed["name"]), (&rule.id.into(), &rule.name.into()));
    }
    let text = printed("text");
    assert!(RULES.iter().all(|rule| text.contains(rule.name) && text.contains(rule.title)));
}

#[test]
fn every_rule_has_a_name_an_anchor_and_a_fixture_that_shows_it() {
    let page = page();
    for rule in RULES {
        let anchor = rule.link().split_once('#').unwrap().1.to_owned();
        assert_eq!(anchor, rule.name);
        assert_eq!(page.matches(&format!("\n### {anchor}\n")).count(), 1, "{}", rule.id);
        let (.., told) = fixture(rule);
        // What is written in another way only has no finding.
        assert_eq!(told.is_empty(), rule.id == "I14", "{}", rule.id);
    }
}

#[test]
fn profiles_differ_in_rules_that_exist_and_lenient_is_never_stricter() {
    for row in ROWS {
        assert!(row.rules.iter().all(|id| colibri_drift::rule(id).is_some()), "{:?}", row.rules);
        let [strict, default, lenient] = Profile::ALL.map(|profile| row.severity(profile));
        assert!(strict >= default && default >= lenient && strict > lenient, "{:?}", row.rules);
        assert!(!row.why.is_empty() && !row.why.ends_with('.'), "{:?}", row.rules);
    }
}
